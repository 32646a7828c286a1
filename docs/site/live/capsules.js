// What the page's runs share: recorded launches, loaded when they are first needed, and one emulator, which has one recording
// at a time. Needs emulator.js before it.
'use strict';

(() => {
    const here = new URL('.', document.currentScript?.src ?? document.baseURI).href;

    /** An element with properties and children. */
    function make(tag, properties = {}, ...children) {
        const element = Object.assign(document.createElement(tag), properties);
        element.append(...children);
        return element;
    }

    const loaded = new Map();

    /** 'launches', 'mutants' or 'mistakes' of a chapter, or 'catalogue' of the errors, as live_launches.py wrote them. */
    function data(what, of) {
        const file = what === 'launches' ? `${of}.js` : `${of}_${what}.js`;
        if (!loaded.has(file)) {
            const ready = addScript(`${here}${file}`).then(() => unpacked(globalThis.hopperLive[of][what]));
            loaded.set(file, ready);
            ready.catch(() => loaded.delete(file)); // It may be there the next time.
        }
        return loaded.get(file);
    }

    function addScript(url) {
        return new Promise((resolve, reject) => document.head.append(make('script', {
            src: url, onload: resolve,
            onerror: () => reject(new EmulatorError(`${url} could not be loaded`, 'missing')),
        })));
    }

    const bytesOf = base64 => Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));

    async function unpacked(base64) {
        const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream('gzip'));
        return JSON.parse(await new Response(stream).text());
    }

    const emulator = new HopperEmulator({ milliseconds: 5000 });
    let open = null; // The name of the recording that the emulator has.
    let last = Promise.resolve();
    const lists = new Map();

    /**
     * The emulator with a recording, for one user after another: calls `use(emulator, launches)`, launches being what the recording
     * has. `capsule()` gives its bytes, and is called where it is not loaded.
     */
    function withCapsule(name, capsule, use) {
        const mine = last.then(async () => {
            if (open !== name) {
                open = null;
                lists.set(name, await emulator.load({ capsule: await capsule() }));
                open = name;
            }
            return use(emulator, lists.get(name));
        });
        last = mine.catch(() => {});
        return mine;
    }

    /** A mistake as live_mistakes.py recorded it: `findings`, and `launch`, or `why` there is none. */
    async function mistake(set, name) {
        const { mistakes, files, common } = await data('mistakes', set);
        const found = mistakes[name];
        if (!found) throw new EmulatorError(`there is no mistake ${name}`, 'missing');
        const capsule = () => {
            const head = bytesOf(common), rest = bytesOf(found.rest), all = new Uint8Array(head.length + rest.length);
            all.set(head);
            all.set(rest, head.length);
            return all;
        };
        return { ...found, files, run: settings => withCapsule(`${set}/${name}`, capsule, (one, launches) =>
            one.run({ ...settings, launch: found.launch }).then(outcome => ({ ...outcome, name: launches[found.launch].name }))) };
    }

    globalThis.hopperCapsules = { make, data, bytesOf, withCapsule, mistake };
})();
