// describe.cpp in WebAssembly: node describe.mjs emulator.wasm FILE late|early|random SEED

import { readFileSync } from 'node:fs';
import { startWorker } from './worker.mjs';

const [wasm, file, order, seed] = process.argv.slice(2);

function described(text) {
    const at = text.indexOf('ptx\n');
    const launch = { ptx: text.slice(at + 4), parameters: [] };
    for (const line of text.slice(0, at).trim().split('\n')) {
        const [word, ...rest] = line.split(' ');
        if (word === 'kernel') launch.kernel = rest[0];
        else if (word === 'shape') {
            const shape = rest.map(Number);
            Object.assign(launch, { grid: shape.slice(0, 3), block: shape.slice(3, 6), cluster: shape.slice(6, 9),
                dynamicShared: shape[9] });
        } else if (word === 'array') launch.parameters.push({ array: Uint8Array.from({ length: Number(rest[0]) }, (_, i) => i) });
        else launch.parameters.push({ value: BigUint64Array.of(BigInt(rest[0])) });
    }
    return launch;
}

const ask = await startWorker(wasm);
ask({ load: described(readFileSync(file, 'utf8')) });
try {
    const outcome = ask({ run: { order, seed: Number(seed), record: 100_000 } });
    console.log(outcome.findingsText);
    console.log(outcome.countersText);
    console.log(outcome.traceText);
    console.log(outcome.momentsText);
    console.log(`${outcome.instructions} instructions`);
    for (const array of outcome.arrays) console.log(new Uint8Array(array).join(' ') + ' ');
    if (process.env.TIMES) console.error(`${outcome.milliseconds.toFixed(1)} ms`);
} catch (error) {
    console.log(`refused: ${error.message}`);
    for (const line of ['[]', '', '', '', '0 instructions']) console.log(line);
}
