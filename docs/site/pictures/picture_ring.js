// The ring of stages with its head and its tail, in the order in which the emulator saw a block fill and empty it.
"use strict";

Pictures.start("ring", "A ring of stages with its head and its tail", (data, box) => {
    const { make, choice, button, arrows, fitted, question, readout, reserveWords, clamp } = Pictures;
    const HEIGHT = 270, CARD = [112, 76];
    const kinds = ["issued", "landed", "computed"], calls = ["producer_acquire", "consumer_wait"];
    const state = { stages: 4, at: 5, call: 0 };
    const drawing = make("div", { class: "drawing" }), said = readout(), count = make("span", { class: "count" });
    let answer = null, width = 0;

    const tiles = () => data.stages[state.stages];
    /** What happened, in the emulator's order. */
    const events = () => tiles().flatMap((each) => kinds.map((kind) => ({ kind, tile: each.tile, at: each[kind] }))).sort((a, b) => a.at - b.at);

    /** How many copies were issued, how many tiles landed and how many were computed, after the chosen event. */
    function counts() {
        const past = events().slice(0, state.at);
        return kinds.map((kind) => past.filter((each) => each.kind === kind).length);
    }
    const status = ([issued, landed, computed], tile) => tile >= issued || tile < computed ? "free" : tile < landed ? "landed" : "copy under way";

    /** Whether the call would go on at once: the stage at the head is free, or the tile at the tail has landed. */
    function returns() {
        const [issued, landed, computed] = counts();
        return state.call === 0 ? issued - computed < state.stages : landed > computed;
    }

    function draw() {
        const [issued, , computed] = counts(), focused = drawing.contains(document.activeElement);
        const svg = make("svg", {
            viewBox: `0 0 ${width} ${HEIGHT}`, tabindex: 0, role: "img",
            "aria-label": "The stages in a ring, what each holds, and where head and tail are; the arrow keys step",
        });
        const middle = Math.min(width / 2, 260), radius = Math.min(middle - CARD[0] / 2 - 2, 150), high = (HEIGHT - CARD[1]) / 2 - 2;
        svg.append(make("rect", { x: middle - radius, y: HEIGHT / 2 - high, width: 2 * radius, height: 2 * high, rx: Math.min(radius, high), class: "empty ringline" }));
        for (let stage = 0; stage < state.stages; ++stage) {
            const turn = 2 * Math.PI * stage / state.stages - Math.PI / 2;
            const x = middle + radius * Math.cos(turn) - CARD[0] / 2, y = HEIGHT / 2 + high * Math.sin(turn) - CARD[1] / 2;
            const tile = stage + state.stages * Math.max(0, Math.floor((issued - 1 - stage) / state.stages)); // The last one that was copied here.
            const now = status(counts(), tile), ends = [[issued, "head"], [computed, "tail"]].filter(([at]) => at % state.stages === stage).map(([, name]) => name);
            const line = (n, text, kind) => make("text", { x: x + CARD[0] / 2, y: y + 16 + 18 * n, "text-anchor": "middle", class: kind, text });
            svg.append(make("rect", { x, y, width: CARD[0], height: CARD[1], rx: 6, class: `${{ free: "", landed: "compute", "copy under way": "copy" }[now]} ${ends.length ? "chosen" : ""}` }),
                line(0, `stage ${stage}`, "faint"), line(1, now === "free" ? "free" : `tile ${tile}`, "tile"), line(2, now === "free" ? "" : now, "status"), line(3, ends.join(" and "), "end"));
        }
        svg.append(make("text", { x: middle, y: HEIGHT / 2 - 4, "text-anchor": "middle", text: `head: tile ${issued}` }),
            make("text", { x: middle, y: HEIGHT / 2 + 14, "text-anchor": "middle", text: `tail: tile ${computed}` }));
        arrows(svg, (dx, dy) => set({ at: state.at + dx + dy }));
        drawing.replaceChildren(svg);
        if (focused) svg.focus();
    }

    function happened() {
        if (!state.at) return "Nothing has happened yet.";
        const { kind, tile } = events()[state.at - 1];
        return { issued: `The copy of tile ${tile} was issued`, landed: `Tile ${tile} has landed`, computed: `Tile ${tile} was computed and its stage released` }[kind] + ".";
    }

    function why() {
        const [issued, , computed] = counts(), held = issued - computed;
        if (state.call === 1) return returns() ? `It returns: tile ${computed}, at the tail, has landed.` : held ? `It waits: tile ${computed}, at the tail, has not landed.` : "It waits: the ring is empty, nothing has been committed.";
        return returns() ? `It returns: stage ${issued % state.stages}, at the head, is free.` : `It waits: head and tail are ${held} apart, all stages are taken, and tile ${computed} has to be released first.`;
    }

    function words() {
        const here = happened();
        if (answer === null) return here;
        const told = answer === undefined ? "" : (answer === "returns") === returns() ? " You said so." : ` You said: it ${answer}.`;
        return `${here} ${why()}${told}`;
    }

    function show() {
        if (width) draw();
        count.textContent = `event ${state.at} of ${events().length}`;
        said.textContent = words();
    }

    const ask = question("", ["returns", "waits"], (given) => { answer = given; show(); });
    function set(changes) {
        Object.assign(state, changes);
        state.at = clamp(state.at, 0, events().length);
        for (const [name, node] of Object.entries(selects)) node.querySelector("select").value = state[name];
        ask.again(`A thread calls ${calls[state.call]}() now. Does it return at once?`);
    }
    const selects = {
        stages: choice("Stages", Object.keys(data.stages).map((n) => [n, n]), (value) => set({ stages: Number(value) })),
        call: choice("Call", calls.map((name, n) => [n, name]), (value) => set({ call: Number(value) })),
    };
    box.append(
        make("div", { class: "controls" }, ...Object.values(selects), button("Back", () => set({ at: state.at - 1 })), button("Next", () => set({ at: state.at + 1 })), count),
        ask.node, drawing, said,
        make("p", {
            class: "help",
            text: "The order is that of the kernels timeline_1, timeline_2 and timeline_4 on the emulator, where a copy lands as late as it may: when somebody waits for it. " +
                "It is an order, not time. head: the next stage to fill; tail: the oldest one not yet released.",
        }));
    set({});
    fitted(drawing, (room) => { width = room; draw(); });
    reserveWords(said, ["Tile 3 was computed and its stage released. It waits: head and tail are 4 apart, all stages are taken, and tile 4 has to be released first. You said: it returns."]);
});
