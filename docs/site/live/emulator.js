// The emulator for a page: loads it on first use, runs launches in a worker, ends those that take too long. Plain scripts
// rather than modules, because a page from file:// may load no module. Needs emulator_worker.js before it.
'use strict';

/** Why a launch could not be run, in one line; `reason`: 'missing', 'refused', 'time', 'cancelled' or 'crashed'. */
class EmulatorError extends Error {
    constructor(message, reason) {
        super(message);
        this.name = 'EmulatorError';
        this.reason = reason;
    }
}

/**
 * One launch at a time, as often as is wished:
 *
 *     const emulator = new HopperEmulator();
 *     await emulator.load(launch);
 *     const outcome = await emulator.run({order: 'late', checks: true});
 *
 * Launch, RunSettings and Outcome: emulator_worker.js.
 */
class HopperEmulator {
    /** @type {Promise<WebAssembly.Module> | null} Compiled once for the page. */
    static #module = null;

    #directory;
    #limits;
    /** @type {Worker | null} */
    #worker = null;
    #ready = null;
    #launch = null;
    #waiting = new Map(); // By the id of a message: who waits for its answer.
    #nextId = 1;

    /**
     * @param {object} [options]
     * @param {string} [options.directory] Where emulator.wasm and emulator_wasm.js are, with a slash at the end: beside this
     *     script if it is not given.
     * @param {number} [options.milliseconds] That a run may take: 2000.
     * @param {number} [options.memory] Bytes that the emulator may use: 512 MiB.
     */
    constructor({ directory = HopperEmulator.#here, milliseconds = 2000, memory = 512 * 2 ** 20 } = {}) {
        this.#directory = directory;
        this.#limits = { milliseconds, memory };
    }

    static #here = new URL('.', document.currentScript?.src ?? document.baseURI).href;

    /** Whether this browser can run it at all. */
    static get isPossible() {
        return typeof WebAssembly === 'object' && typeof Worker === 'function' && typeof WebAssembly.Tag === 'function';
    }

    /**
     * Takes a launch, which every later run() runs, or a capsule, of which run() chooses one. Loads the emulator the first time.
     * @param {Launch | Capsule} launch
     * @returns {Promise<RecordedLaunch[] | null>} What the capsule has.
     */
    async load(launch) {
        this.#launch = launch;
        await this.#start();
        return this.#ask({ load: launch });
    }

    /** Runs the launch once. Rejects with an EmulatorError. One at a time. */
    async run(settings = {}) {
        if (!this.#launch) throw new EmulatorError('there is no launch to run', 'refused');
        if (!this.#worker) await this.load(this.#launch);
        const { milliseconds } = this.#limits;
        const late = new EmulatorError(`the launch took longer than ${milliseconds / 1000} s`, 'time');
        const timer = setTimeout(() => this.#end(late), milliseconds);
        try {
            return await this.#ask({ run: settings });
        } finally {
            clearTimeout(timer);
        }
    }

    /** Ends a run; it rejects. The next one starts a new worker. */
    cancel() {
        this.#end(new EmulatorError('the launch was cancelled', 'cancelled'));
    }

    async #start() {
        if (this.#worker) return this.#ready;
        const module = await (HopperEmulator.#module ??= HopperEmulator.#fetchModule(this.#directory));
        if (this.#worker) return this.#ready; // Another call was faster.
        const source = new Blob([`(${hopperEmulatorWorker})(self);`], { type: 'text/javascript' });
        const url = URL.createObjectURL(source);
        this.#worker = new Worker(url);
        this.#worker.onmessage = ({ data }) => this.#answer(data);
        this.#worker.onerror = event => this.#end(new EmulatorError(event.message ?? 'the worker ended', 'crashed'));
        this.#ready = this.#ask({ module, memory: this.#limits.memory }).finally(() => URL.revokeObjectURL(url));
        return this.#ready;
    }

    #ask(message) {
        const id = this.#nextId++;
        return new Promise((resolve, reject) => {
            this.#waiting.set(id, { resolve, reject });
            this.#worker.postMessage({ ...message, id });
        });
    }

    #answer({ id, result, error, fatal }) {
        if (fatal) return this.#end(new EmulatorError(error, 'crashed'));
        const asked = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (error === undefined) asked?.resolve(result);
        else asked?.reject(new EmulatorError(error, 'refused'));
    }

    #end(why) {
        this.#worker?.terminate();
        this.#worker = null;
        for (const { reject } of this.#waiting.values()) reject(why);
        this.#waiting.clear();
    }

    /** Over HTTP the module itself; from file://, where nothing may be fetched, a script that has it as text. */
    static async #fetchModule(directory) {
        try {
            if (!directory.startsWith('file:')) {
                const response = await fetch(`${directory}emulator.wasm`);
                if (!response.ok) throw new Error(response.statusText);
                return await WebAssembly.compile(await response.arrayBuffer());
            }
            await new Promise((resolve, reject) => {
                const script = document.createElement('script');
                script.src = `${directory}emulator_wasm.js`;
                script.onload = resolve;
                script.onerror = () => reject(new Error('there is no such file'));
                document.head.append(script);
            });
            const text = atob(globalThis.hopperEmulatorWasm);
            return await WebAssembly.compile(Uint8Array.from(text, letter => letter.charCodeAt(0)));
        } catch (error) {
            HopperEmulator.#module = null; // It may be there the next time.
            throw new EmulatorError(`the emulator could not be loaded: ${error.message}`, 'missing');
        }
    }
}

globalThis.HopperEmulator = HopperEmulator;
globalThis.EmulatorError = EmulatorError;
