// Groups of cp.async as a queue: which tiles a thread may read after wait_group N, and what it finds in them if copies are late.
"use strict";

Pictures.start("groups", "Groups of copies as a queue, and what a wait leaves in it", (data, box) => {
    const { make, choice, fitted, question, readout, reserveWords, plural } = Pictures;
    const HEIGHT = 128, most = Math.max(...data.cases.map((each) => each.groups));
    const state = { groups: 4, empty: -1, pending: 2 };
    const drawing = make("div", { class: "drawing" }), said = readout();
    let answer = null, width = 0;

    const numbers = (from, to) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
    const now = () => data.cases.find((each) => Object.keys(state).every((name) => each[name] === state[name]));
    /** Tiles with a copy that had landed after the wait; an empty group brings none. */
    const landed = (order) => numbers(0, state.groups - 1).filter((g) => now()[order][g]);
    /** The first group that may still be under way. */
    const cut = () => Math.max(0, state.groups - state.pending);

    function draw() {
        const svg = make("svg", {
            viewBox: `0 0 ${width} ${HEIGHT}`, role: "img",
            "aria-label": "The groups in the order of their commits, oldest first; the text below says the same",
        });
        const cell = Math.min(110, width / most), gap = 6;
        svg.append(make("text", { x: 2, y: 14, class: "faint", text: "oldest" }),
            make("text", { x: state.groups * cell - gap, y: 14, "text-anchor": "end", class: "faint", text: state.groups > 1 ? "newest" : "" }));
        for (let g = 0; g < state.groups; ++g) {
            const x = g * cell + 2, middle = x + (cell - gap) / 2, sure = answer !== null && now().late[g];
            const kind = g === state.empty ? "empty" : answer === null ? "copy" : sure ? "compute chosen" : "wait";
            svg.append(make("rect", { x, y: 22, width: cell - gap, height: 64, class: kind, "stroke-dasharray": answer !== null && !sure ? "5 3" : "none" }),
                make("text", { x: middle, y: 42, "text-anchor": "middle", text: `group ${g}` }),
                make("text", { x: middle, y: 60, "text-anchor": "middle", text: g === state.empty ? "empty" : `tile ${g}` }));
            if (answer !== null && g !== state.empty)
                svg.append(make("text", { x: middle, y: 78, "text-anchor": "middle", class: "result", text: sure ? "✓ there" : "not sure" }));
        }
        if (answer !== null) {
            const x = cut() * cell - 1, end = state.groups * cell - gap + 2;
            if (cut() < state.groups) {
                svg.append(make("path", { class: "guess", d: `M${x + 3} 94 v8 H${end} v-8` }));
                svg.append(make("text", {
                    x: end > 200 ? end : 2, y: 120, "text-anchor": end > 200 ? "end" : "start", text: `may be pending: the newest ${state.groups - cut()}`,
                }));
            } else svg.append(make("text", { x: 2, y: 120, text: "none may be pending" }));
        }
        drawing.replaceChildren(svg);
    }

    const list = (tiles) => tiles.length ? `${tiles.length === 1 ? "tile" : "tiles"} ${tiles.join(", ")}` : "no tile";

    function words() {
        const done = `The thread has committed ${plural(state.groups, "group")}${state.empty < 0 ? "" : `, group ${state.empty} without a copy`}, and has passed wait_group ${state.pending}.`;
        if (answer === null) return done;
        const late = landed("late"), right = late.length;
        const told = answer === undefined ? "" : Number(answer) === right ? " You said so." : ` You said ${answer}.`;
        return `${done} ${right} ${right === 1 ? "tile is" : "tiles are"} sure.${told} On the emulator, where copies land as late as they may, it finds ${list(late)}; ` +
            `where they land as early as they may, ${list(landed("early"))}.`;
    }

    const show = () => { if (width) draw(); said.textContent = words(); };
    const ask = question("How many tiles are sure to be there?", numbers(0, most).map(String), (given) => { answer = given; show(); });
    const selects = {
        groups: choice("Committed groups", numbers(1, most).map((n) => [n, n]), (value) => set({ groups: Number(value) })),
        empty: choice("Empty", numbers(-1, most - 1).map((n) => [n, n < 0 ? "none" : `group ${n}`]), (value) => set({ empty: Number(value) })),
        pending: choice("wait_group", numbers(0, most - 1).map((n) => [n, n]), (value) => set({ pending: Number(value) })),
    };
    function set(changes) {
        Object.assign(state, changes);
        if (state.empty >= state.groups) state.empty = -1;
        for (const option of selects.empty.querySelectorAll("option")) option.disabled = Number(option.value) >= state.groups;
        for (const [name, node] of Object.entries(selects)) node.querySelector("select").value = state[name];
        ask.again();
    }

    box.append(
        make("div", { class: "controls" }, ...Object.values(selects)), ask.node, drawing, said,
        make("p", {
            class: "help",
            text: "Each group but an empty one copies one tile. After your answer a solid thick frame means that the tile had landed when the emulator " +
                "landed every copy as late as the rules allow, a dashed one that it had not.",
        }));
    set({});
    fitted(drawing, (room) => { width = room; draw(); });
    reserveWords(said, ["The thread has committed 5 groups, group 3 without a copy, and has passed wait_group 2. 5 tiles are sure. You said 0. On the emulator, where copies land as late as they may, it finds tiles 0, 1, 2, 3, 4; where they land as early as they may, tiles 0, 1, 2, 3, 4."]);
});
