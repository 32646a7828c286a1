// The worker's functions in Node.js: the same text that a page makes its worker of, with a scope of our own.

import { readFileSync } from 'node:fs';
import vm from 'node:vm';

const script = new URL('../../docs/site/live/emulator_worker.js', import.meta.url);

/** What answers each message to the worker, in its order; throws what it answers with an error. */
export async function startWorker(wasmFile, memory = 512 * 2 ** 20) {
    vm.runInThisContext(readFileSync(script, 'utf8'), { filename: script.pathname });
    const module = await WebAssembly.compile(readFileSync(wasmFile));
    let answer = null;
    const scope = { postMessage: message => { answer = message; } };
    globalThis.hopperEmulatorWorker(scope);
    const ask = message => {
        scope.onmessage({ data: { id: 1, ...message } });
        if (answer.error !== undefined) throw Object.assign(new Error(answer.error), { fatal: answer.fatal });
        return answer.result;
    };
    ask({ module, memory });
    return ask;
}
