// The order in which blocks take the tiles of a transposition: what the blocks that run together read and write.
"use strict";

Pictures.start("walk_order", "Which tiles run at the same time, where they read, and where they write", (data, box) => {
    const { make, ask, choice, button, fitted, readout, reserveWords, clamp } = Pictures;
    const { tile: TILE, tiles: TILES, together: TOGETHER } = data, LABEL = 18, GAP = 24, ANSWERS = ["of the input", "of the output", "of neither: alike"];
    const waves = Math.ceil(TILES * TILES / TOGETHER);
    const state = { order: 0, wave: 0 };
    const asked = make("div"), drawing = make("div", { class: "drawing" }), said = readout(), count = make("span", { class: "count" });
    let answer = null, width = 0;

    /** Row and column of the tile that the i-th block takes: groups of high x wide tiles, one below the other; within them down or along. */
    function at(i, { high, wide, down }) {
        const rows = Math.min(high || TILES, TILES), columns = Math.min(wide || TILES, TILES), group = Math.floor(i / (rows * columns)), inside = i % (rows * columns);
        const groups = TILES / rows, row = group % groups * rows, column = Math.floor(group / groups) * columns;
        return down ? [row + inside % rows, column + Math.floor(inside / rows)] : [row + Math.floor(inside / columns), column + inside % columns];
    }

    const running = ({ order, wave }) => Array.from({ length: Math.min(TOGETHER, TILES * TILES - wave * TOGETHER) }, (_, n) => at(wave * TOGETHER + n, data.orders[order]));
    const turned = (tiles) => tiles.map(([row, column]) => [column, row]);

    /** In how many stretches of neighbouring memory these tiles lie: each row of a tile is a piece, and pieces that touch are one. */
    function stretches(tiles) {
        const pitch = TILES * TILE;
        const pieces = tiles.flatMap(([row, column]) => Array.from({ length: TILE }, (_, y) => (row * TILE + y) * pitch + column * TILE)).sort((a, b) => a - b);
        return pieces.filter((begin, n) => n === 0 || pieces[n - 1] + TILE !== begin).length;
    }

    function panel(svg, name, tiles, x, y, room) {
        const cell = room / TILES;
        svg.append(make("text", { x, y: y + 12, text: name }), make("rect", { x, y: y + LABEL, width: room, height: room, class: "" }));
        for (const [row, column] of tiles)
            svg.append(make("rect", { x: x + column * cell, y: y + LABEL + row * cell, width: cell, height: cell, class: "wanted", "data-tile": `${row},${column}` }));
    }

    function draw() {
        if (!width) return;
        const beside = width >= 520, room = Math.min(beside ? (width - GAP) / 2 : width, 360), tall = LABEL + room + 6, tiles = running(state);
        const svg = make("svg", {
            viewBox: `0 0 ${width} ${beside ? tall : 2 * tall}`, role: "img",
            "aria-label": "The input and the output, with the tiles whose blocks run together; the text below says the same",
        });
        panel(svg, "input: read", tiles, 0, 0, room);
        if (answer !== null) panel(svg, "output: written", turned(tiles), beside ? room + GAP : 0, beside ? 0 : tall, room);
        svg.style.maxWidth = `${width}px`; // So that its words keep their size.
        drawing.replaceChildren(svg);
    }

    const right = (read, written) => ANSWERS[read < written ? 0 : written < read ? 1 : 2];
    const rate = (gigabytes) => `${Math.round(gigabytes).toLocaleString("en")} GB/s`;

    function words(given, now = state) {
        const first = now.wave * TOGETHER, tiles = running(now), begin = `Blocks ${first} to ${first + tiles.length - 1} run together, ${data.orders[now.order].name}.`;
        if (given === null) return `${begin} Each reads a tile of ${TILE} x ${TILE} floats and writes it turned, to where row and column are exchanged.`;
        const read = stretches(tiles), written = stretches(turned(tiles)), { whole, reads, writes } = data.orders[now.order];
        const verdict = given === undefined ? "" : given === right(read, written) ? " That is what you said." : ` You said: ${given}.`;
        return `${begin} They read ${read.toLocaleString("en")} stretches of memory and write ${written.toLocaleString("en")}.${verdict} ` +
            `An H200 measured for this order: ${rate(whole)} for the transposition; ${rate(reads)} for its reads alone, ${rate(writes)} for its writes alone.`;
    }

    function set(changes) {
        Object.assign(state, changes);
        count.textContent = `wave ${state.wave + 1} of ${waves}`;
        ask(asked, "Of which do these blocks touch fewer, longer stretches of memory?", ANSWERS, (given) => {
            answer = given;
            draw();
            said.textContent = words(given);
        });
    }

    const move = (by) => set({ wave: clamp(state.wave + by, 0, waves - 1) });
    box.append(
        make("div", { class: "controls" }, choice("Order", data.orders.map(({ name }, n) => [n, name]), (value) => set({ order: Number(value), wave: 0 })),
            button("←", () => move(-1), "the blocks before"), button("→", () => move(1), "the next blocks"), count),
        asked, drawing, said,
        make("p", {
            class: "help", text: `A model: a matrix of ${TILES} x ${TILES} tiles, as if ${TOGETHER} blocks, one on each SM, always ran together. Filled: their tiles. ` +
                `Rates are measured, with ${data.extent} x ${data.extent} floats and the kernel '${data.kernel}', in which only the order differs.`,
        }));
    set({});
    fitted(drawing, (room) => { width = room; draw(); });
    reserveWords(said, data.orders.map((_, order) => words(ANSWERS[2], { order, wave: 30 })));
});
