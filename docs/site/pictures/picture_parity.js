// The life of an mbarrier step by step, and the question at each of them: does a wait for this parity return?
"use strict";

Pictures.start("parity", "The phases of an mbarrier, and whether a wait returns", (data, box) => {
    const { make, choice, button, arrows, fitted, question, readout, reserveWords, clamp, plural } = Pictures;
    const LEFT = 72, TOP = 40, COLUMN = 62;
    const rows = [["phase", "phase"], ["its parity", "parity"], ["arrivals missing", "arrivals"], ["bytes missing", "bytes"]];
    const state = { life: 0, at: 1, parity: 0 };
    const score = { right: 0, all: 0 };
    const drawing = make("div", { class: "drawing" }), said = readout(), count = make("span", { class: "count" });
    let answer = null, width = 0;

    const steps = () => data.lives[state.life].steps;
    const returns = () => Boolean(steps()[state.at].returns[state.parity]);

    /** The barrier after each step, by the rules: a phase is complete when neither an arrival nor a byte is missing. */
    function machine() {
        let now = null;
        return steps().map(({ kind, number }) => {
            if (kind === "init") return now = { phase: 0, parity: 0, expected: number, arrivals: number, bytes: 0 };
            const next = { ...now };
            if (kind === "expect" || kind === "arrive expect") next.bytes += number;
            if (kind === "land") next.bytes -= number;
            if (kind === "drop") next.expected -= 1;
            if (["arrive", "arrive expect", "drop"].includes(kind)) next.arrivals -= 1;
            if (next.arrivals === 0 && next.bytes === 0)
                Object.assign(next, { phase: now.phase + 1, parity: (now.phase + 1) % 2, arrivals: next.expected });
            return now = next;
        });
    }

    function draw() {
        const ROW = width < 560 ? 32 : 26, states = machine(), focused = drawing.contains(document.activeElement);
        const fit = Math.min(states.length, Math.floor((width - LEFT) / COLUMN)), first = clamp(state.at - fit + 1, 0, states.length - fit);
        const column = Math.min(96, (width - LEFT) / fit);
        const svg = make("svg", {
            viewBox: `0 0 ${width} ${TOP + rows.length * ROW + 4}`, tabindex: 0, role: "img",
            "aria-label": "The steps of the barrier's life and its state after each; the arrow keys choose a step",
        });
        rows.forEach(([text], row) => text.split(" ").length > 1 && width < 560
            ? svg.append(make("text", { x: 0, y: TOP + row * ROW + 12, class: "faint", text: text.split(" ")[0] }), make("text", { x: 0, y: TOP + row * ROW + 26, class: "faint", text: text.split(" ")[1] }))
            : svg.append(make("text", { x: 0, y: TOP + row * ROW + 17, class: "faint", text })));
        const left = width < 560 ? LEFT : 120, cell = Math.min(column, (width - left) / fit);
        for (let n = first; n < first + fit; ++n) {
            const x = left + (n - first) * cell, middle = x + cell / 2 - 2, { kind, number } = steps()[n], past = n <= state.at;
            const [one, two] = kind === "arrive expect" ? ["arrive +", `${number} B`] : [kind, { init: number, expect: `${number} B`, land: `${number} B` }[kind] ?? ""];
            svg.append(make("text", { x: middle, y: 14, "text-anchor": "middle", class: past ? "" : "faint", text: one }),
                make("text", { x: middle, y: 30, "text-anchor": "middle", class: past ? "" : "faint", text: two }));
            rows.forEach(([, name], row) => {
                const y = TOP + row * ROW, flips = past && n > 0 && states[n].phase !== states[n - 1].phase;
                svg.append(make("rect", { x, y, width: cell - 4, height: ROW - 4, class: !past ? "empty" : flips && row < 2 ? "compute" : "", onclick: () => go(n) }));
                if (past) svg.append(make("text", { x: middle, y: y + ROW / 2 + 2, "text-anchor": "middle", "pointer-events": "none", class: `value ${name}`, text: states[n][name] }));
            });
            if (n === state.at) svg.append(make("rect", { x: x - 2, y: TOP - 3, width: cell, height: rows.length * ROW + 2, class: "empty chosen", "pointer-events": "none" }));
        }
        arrows(svg, (dx) => go(state.at + dx));
        drawing.replaceChildren(svg);
        if (focused) svg.focus();
    }

    function why() {
        const { phase, parity } = machine()[state.at], asked = state.parity;
        if (!returns()) return `It waits: the current phase, ${phase}, has parity ${parity}, and something is missing in it.`;
        return phase === 0 ? `It returns: there was no phase before phase 0, and a wait for parity ${asked} takes it as complete.`
            : `It returns: phase ${phase - 1}, the last one with parity ${asked}, is complete.`;
    }

    function words() {
        const { phase, arrivals, bytes } = machine()[state.at];
        const missing = bytes < 0 ? `${plural(arrivals, "arrival")} missing, and ${-bytes} bytes have landed that nobody has announced`
            : `${plural(arrivals, "arrival")} and ${plural(bytes, "byte")} missing`;
        const here = `Phase ${phase} is current: ${missing}.`;
        if (answer === null) return here;
        const told = answer === undefined ? "" : (answer === "returns") === returns() ? " You said so." : ` You said: it ${answer}.`;
        const sum = score.all ? ` Right so far: ${score.right} of ${score.all}.` : "";
        return `${here} ${why()} test_wait on the emulator: ${returns()}.${told}${sum}`;
    }

    function show() {
        if (width) draw();
        count.textContent = `step ${state.at + 1} of ${steps().length}`;
        said.textContent = words();
    }

    const ask = question("", ["returns", "waits"], (given) => {
        if (given && answer === null) {
            ++score.all;
            score.right += (given === "returns") === returns();
        }
        answer = given;
        show();
    });
    function set(changes) {
        Object.assign(state, changes);
        state.at = clamp(state.at, 0, steps().length - 1);
        for (const [name, node] of Object.entries(selects)) node.querySelector("select").value = state[name];
        ask.again(`A thread waits for parity ${state.parity} now. What does its wait do?`);
    }
    const go = (at) => set({ at });
    const any = (number) => Math.floor(Math.random() * number);
    function another() {
        const life = any(data.lives.length);
        set({ life, at: any(data.lives[life].steps.length), parity: any(2) });
    }
    const selects = {
        life: choice("Barrier", data.lives.map((each, n) => [n, each.name]), (value) => set({ life: Number(value), at: 1 })),
        parity: choice("Wait for parity", [[0, 0], [1, 1]], (value) => set({ parity: Number(value) })),
    };
    box.append(
        make("div", { class: "controls" }, ...Object.values(selects), button("Back", () => go(state.at - 1)), button("Next", () => go(state.at + 1)), count,
            button("Ask another", another)),
        ask.node, drawing, said,
        make("p", {
            class: "help",
            text: "A column is a step and the barrier after it. init: the arrivals that a phase expects. arrive + and expect announce bytes, land takes them away, " +
                "drop arrives and lowers the count of the phases to come. Coloured: a new phase has begun. Whether the wait returns, the emulator says; the columns are its rules.",
        }));
    set({});
    fitted(drawing, (room) => { width = room; draw(); });
    reserveWords(said, ["Phase 0 is current: 1 arrival missing, and 1024 bytes have landed that nobody has announced. It returns: there was no phase before phase 0, and a wait for parity 1 takes it as complete. test_wait on the emulator: false. You said: it returns. Right so far: 10 of 10."]);
});
