// For pictures whose reader types an input that nobody has tried before: a formula for each lane's place. The emulator runs the
// warp's one request in the page and counts; it is loaded when it is first needed.
"use strict";

const LiveInput = (function () {
    const { make } = Pictures;
    const LANES = 32;
    const live = new URL("live/", document.currentScript?.src ?? document.baseURI).href;

    // ---- The formula: integers, the lane, and C's operators in C's order.

    const LEVELS = [["|"], ["^"], ["&"], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]];
    const OPERATORS = {
        "|": (a, b) => a | b, "^": (a, b) => a ^ b, "&": (a, b) => a & b, "<<": (a, b) => a << b, ">>": (a, b) => a >> b,
        "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => Math.trunc(a / b), "%": (a, b) => a % b,
    };

    /** A function of the variable `name` (or i). Throws an Error that says in one line what is wrong. */
    function parsed(text, name) {
        const pieces = text.match(/0x[0-9a-f]+|\d+|[a-z_]\w*|<<|>>|\S/gi) ?? [];
        let at = 0;

        function operand() {
            const piece = pieces[at++];
            if (piece === undefined) throw new Error("The formula ends too soon.");
            if (/^\d/.test(piece)) return () => Number(piece);
            if (piece === name || piece === "i") return (value) => value;
            if (piece === "-" || piece === "~") {
                const inner = operand();
                return piece === "-" ? (value) => -inner(value) : (value) => ~inner(value);
            }
            if (piece !== "(") throw new Error(`‘${piece}’ cannot stand there: numbers, ${name}, + - * / % << >> & ^ | and brackets can.`);
            const inner = level(0);
            if (pieces[at++] !== ")") throw new Error("A bracket is not closed.");
            return inner;
        }
        function level(number) {
            if (number === LEVELS.length) return operand();
            let left = level(number + 1);
            while (LEVELS[number].includes(pieces[at])) {
                const apply = OPERATORS[pieces[at++]], first = left, second = level(number + 1);
                left = (value) => apply(first(value), second(value));
            }
            return left;
        }
        const found = level(0);
        if (at < pieces.length) throw new Error(`‘${pieces[at]}’ cannot stand there: an operator is missing, or a bracket.`);
        return found;
    }

    /** The formula's value for each lane; each must be an integer from 0 to `most` and a multiple of `step`. */
    function places(text, { name, most, step = 1 }) {
        const value = parsed(text, name);
        return Array.from({ length: LANES }, (_, lane) => {
            const found = value(lane);
            if (!Number.isInteger(found)) throw new Error(`For ${name} ${lane} the formula has no value: a division by 0.`);
            if (found < 0 || found > most) throw new Error(`For ${name} ${lane} the formula gives ${found}: 0 to ${most} can be shown.`);
            if (found % step) throw new Error(`For ${name} ${lane} the formula gives ${found}: an element of ${step} bytes must lie at a multiple of ${step}.`);
            return found;
        });
    }

    // ---- The run.

    const scripts = new Map();
    function script(name) {
        if (!scripts.has(name)) {
            const ready = new Promise((resolve, reject) => document.head.append(Object.assign(document.createElement("script"), {
                src: `${live}${name}`, onload: resolve,
                onerror: () => reject(new Error("This site was built without the emulator, so nothing new can be counted here: ./workbook site says what it needs.")),
            })));
            scripts.set(name, ready);
            ready.catch(() => scripts.delete(name)); // It may be there the next time.
        }
        return scripts.get(name);
    }

    let emulator = null, last = Promise.resolve();

    async function run(ptx, kernel, parameters) {
        if (!globalThis.HopperEmulator) {
            await script("emulator_worker.js");
            await script("emulator.js");
        }
        if (!HopperEmulator.isPossible) throw new Error("This browser cannot run the emulator.");
        emulator ??= new HopperEmulator({ directory: live });
        await emulator.load({ ptx, kernel, grid: [1], block: [LANES], parameters });
        const { countersText, findings } = await emulator.run({ checks: false });
        if (findings.length) throw new Error(findings[0].message);
        return JSON.parse(countersText).total;
    }

    /** What the emulator counts for one warp of a kernel, whose last parameter is 32 words: one user after another. */
    function counted({ ptx, kernel, memory, words }) {
        const parameters = [...(memory ? [{ array: new Uint8Array(memory) }] : []), { value: Uint32Array.from(words) }];
        const mine = last.then(() => run(ptx, kernel, parameters));
        last = mine.catch(() => {});
        return mine;
    }

    /** A field for a formula: `tried(text)` is called when the reader sends it, and says in a promise's Error what is wrong with it. */
    function field(label, example, tried) {
        const input = make("input", { type: "text", value: example, spellcheck: "false", autocapitalize: "off", autocomplete: "off" });
        const send = make("button", { type: "submit", text: "Run it" }), reply = make("span", { class: "reply", role: "status" });
        return make("form", {
            class: "controls own", onsubmit: async (event) => {
                event.preventDefault();
                if (send.getAttribute("aria-disabled") === "true") return;
                send.setAttribute("aria-disabled", "true"); // Disabled, it would lose the focus.
                reply.textContent = "Running on the emulator, in this page…";
                try {
                    await tried(input.value);
                    reply.textContent = "It ran. Answer the question to see what it counted.";
                } catch (error) {
                    reply.textContent = error.message;
                } finally {
                    send.removeAttribute("aria-disabled");
                }
            },
        }, make("label", {}, label, input), send, reply);
    }

    return { counted, field, parsed, places };
})();
