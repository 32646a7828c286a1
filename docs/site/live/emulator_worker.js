// The emulator in a worker. The page makes the worker of the source text of this function (emulator.js), because a page from
// file:// may not start one from a file; so nothing in it may refer to anything outside of it.
'use strict';

/**
 * A launch that is described rather than recorded.
 * @typedef {object} Launch
 * @property {string} ptx The text of the module.
 * @property {string} kernel The mangled name of the kernel.
 * @property {number[]} grid Blocks, up to three numbers.
 * @property {number[]} block Threads, up to three numbers.
 * @property {number[]} [cluster] Blocks, up to three numbers.
 * @property {number} [dynamicShared] Bytes of each block.
 * @property {({array: ArrayBufferView} | {value: ArrayBufferView})[]} parameters In the order of the declaration: an array whose
 *     address the kernel gets, or the bytes of a value.
 */

/**
 * A recording of launches, as `./workbook run --record` writes it. load() answers with a list of RecordedLaunch.
 * @typedef {object} Capsule
 * @property {ArrayBufferView} capsule Its bytes.
 *
 * @typedef {object} RecordedLaunch
 * @property {number} launch Its number in its program.
 * @property {string} kernel Mangled.
 * @property {string} name Demangled.
 * @property {number[]} grid
 * @property {number[]} block
 * @property {number[]} cluster
 * @property {boolean} clocks Its kernel reads a clock, and may store what it read.
 */

/**
 * A kernel in the place of the recorded one.
 * @typedef {object} Replacement
 * @property {string} ptx The text of its module.
 * @property {string} kernel Its mangled name.
 * @property {string} file The source file that it comes from, as findings name it.
 * @property {string} source That file's text.
 */

/**
 * @typedef {object} RunSettings
 * @property {number} [launch] Of a capsule: which, from 0.
 * @property {Replacement} [replacement] Of a capsule: what runs in its place.
 * @property {'late' | 'early' | 'random'} [order] When asynchronous copies land: 'late' if it is not given.
 * @property {number} [seed] Of the random order.
 * @property {boolean} [checks] False: look for no races.
 * @property {number} [record] Record the launch moment by moment, so many events at most.
 * @property {number} [steps] Thread instructions after which the launch is stopped; 0: any number.
 */

/**
 * What came of a launch. The texts are those that the command line writes for the same launch, byte for byte.
 * @typedef {object} Outcome
 * @property {object[]} findings As `EMULATOR_REPORT` has them.
 * @property {string} findingsText Their text: a list of JSON.
 * @property {string} countersText A line of JSON, as `EMULATOR_COUNTERS` has it.
 * @property {string} traceText A time line for Perfetto, as `EMULATOR_TRACE` has it.
 * @property {number} instructions Thread instructions that were executed.
 * @property {boolean} stopped The launch was stopped before its end: by an error, or by `steps`.
 * @property {string} momentsText If it was asked to record: what docs/site/viewer shows, of JSON; else "".
 * @property {string} told The findings as the command line prints them.
 * @property {ArrayBuffer[]} arrays What each array held at the end; of a capsule, all allocations of the program.
 * @property {number} milliseconds That the run took.
 */

/**
 * Messages to the worker: {module, memory} once, then {id, load: Launch | Capsule} and {id, run: RunSettings}.
 * From it: {id, result}, {id, error: one line, fatal: whether the worker is of no more use}.
 * @param {{onmessage: Function, postMessage: Function}} scope
 */
function hopperEmulatorWorker(scope) {
    const orders = { late: 0, early: 1, random: 2 };
    const noSuchCall = 52; // WASI: ENOSYS.
    let exports = null;
    let recorded = false; // What is loaded is a capsule.
    let broken = null; // Why the module left in the middle of something; C++ may have caught it.

    function leave(why) {
        broken = new Error(why);
        throw broken;
    }
    const bytes = () => new Uint8Array(exports.memory.buffer);

    /** What libc asks of its surroundings: a clock, an empty environment, and files that it does not get. */
    function imports(module, mostMemory) {
        const word = (address, value) => new DataView(exports.memory.buffer).setUint32(address, value, true);
        const known = {
            clock_time_get(_clock, _precision, at) {
                const nanoseconds = BigInt(Math.round(performance.now() * 1e6));
                new DataView(exports.memory.buffer).setBigUint64(at, nanoseconds, true);
                return 0;
            },
            environ_sizes_get(count, size) {
                word(count, 0);
                word(size, 0);
                return 0;
            },
            environ_get: () => 0,
            // What a kernel prints, and what abort() says, goes to the console.
            fd_write(_file, parts, count, written) {
                const view = new DataView(exports.memory.buffer);
                let text = '', all = 0;
                for (let i = 0; i < count; ++i) {
                    const begin = view.getUint32(parts + 8 * i, true), size = view.getUint32(parts + 8 * i + 4, true);
                    text += new TextDecoder().decode(bytes().slice(begin, begin + size));
                    all += size;
                }
                if (text) console.log(text);
                word(written, all);
                return 0;
            },
            proc_exit(status) {
                leave(`the emulator ended with status ${status}`);
            },
            emscripten_notify_memory_growth() {
                if (exports.memory.buffer.byteLength > mostMemory)
                    leave(`the launch needs more memory than the ${mostMemory / 2 ** 20} MiB that it may use`);
            },
        };
        const all = {};
        for (const { module: from, name, kind } of WebAssembly.Module.imports(module))
            if (kind === 'function') (all[from] ??= {})[name] = known[name] ?? (() => noSuchCall);
        return all;
    }

    /** Calls `use(address, size)` with a copy of the bytes in the module's memory. */
    function withCopy(view, use) {
        const source = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
        const address = exports.emulator_allocate(Math.max(source.length, 1));
        if (!address) throw new Error(`no memory for ${source.length} bytes`);
        bytes().set(source, address);
        const result = use(address, source.length);
        exports.emulator_free(address);
        return result;
    }
    const withText = (text, use) => withCopy(new TextEncoder().encode(text), use);

    function load(launch) {
        recorded = 'capsule' in launch;
        if (recorded) {
            if (!withCopy(launch.capsule, exports.emulator_open)) throw new Error(text(0));
            return JSON.parse(text(1));
        }
        const three = list => [0, 1, 2].map(i => list?.[i] ?? 1);
        const shape = Uint32Array.from([...three(launch.grid), ...three(launch.block), ...three(launch.cluster),
            launch.dynamicShared ?? 0]);
        withText(launch.ptx, (ptx, ptxSize) => withText(launch.kernel, (kernel, kernelSize) =>
            withCopy(shape, at => exports.emulator_describe(ptx, ptxSize, kernel, kernelSize, at))));
        for (const parameter of launch.parameters)
            if (parameter.array) withCopy(parameter.array, exports.emulator_add_array);
            else withCopy(parameter.value, exports.emulator_add_value);
        return null;
    }

    function replace({ ptx = '', kernel = '', file = '', source = '' } = {}) {
        withText(ptx, (...a) => withText(kernel, (...b) => withText(file, (...c) => withText(source, (...d) =>
            exports.emulator_replace(...a, ...b, ...c, ...d)))));
    }

    const text = which => {
        const begin = exports.emulator_text(which);
        return new TextDecoder().decode(bytes().slice(begin, begin + exports.emulator_text_size(which)));
    };

    function run({ launch = 0, replacement, order = 'late', seed = 1, checks = true, steps = 0, record = 0 }) {
        if (!(order in orders)) throw new Error(`the order of completion is late, early or random, not ${order}`);
        const begin = performance.now();
        exports.emulator_record?.(record);
        if (recorded) replace(replacement ?? {});
        const ran = recorded ? exports.emulator_replay(launch, orders[order], seed, checks, steps)
            : exports.emulator_run(orders[order], seed, checks, steps);
        if (broken) throw broken;
        if (!ran) throw new Error(text(0));
        const arrays = [];
        for (let i = 0, at; (at = exports.emulator_array(i)); ++i)
            arrays.push(bytes().slice(at, at + exports.emulator_array_size(i)).buffer);
        const findingsText = text(1);
        return {
            findings: JSON.parse(findingsText), findingsText, countersText: text(2), traceText: text(3), told: text(4),
            momentsText: record && exports.emulator_record ? text(5) : '',
            instructions: exports.emulator_instructions(), stopped: !!exports.emulator_stopped(), arrays,
            milliseconds: performance.now() - begin,
        };
    }

    scope.onmessage = ({ data }) => {
        const { id } = data;
        try {
            if (data.module) {
                exports = new WebAssembly.Instance(data.module, imports(data.module, data.memory)).exports;
                exports._initialize?.();
                scope.postMessage({ id, result: null });
            } else if (data.load) {
                scope.postMessage({ id, result: load(data.load) });
            } else {
                const result = run(data.run);
                scope.postMessage({ id, result }, result.arrays);
            }
        } catch (error) {
            const fatal = broken !== null || error instanceof WebAssembly.RuntimeError;
            scope.postMessage({ id, error: (broken ?? error).message, fatal });
        }
    };
}

globalThis.hopperEmulatorWorker = hopperEmulatorWorker;
