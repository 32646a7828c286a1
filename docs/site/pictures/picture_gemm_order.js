// The order of tiles: which tiles of a and b the blocks need that run at the same time.
"use strict";

Pictures.start("gemm_order", "Which tiles run at the same time, and what they share", (data, box) => {
    const { make, choice, ask, fitted, readout, reserveWords } = Pictures;
    const [rows, columns] = data.tile, down = data.extent / rows, across = data.extent / columns, LEFT = 16, TOP = 20, HEIGHT = 8;
    const state = { band: 4, from: 0 }; // An order that the chapter's figure does not show.
    const asked = make("div"), drawing = make("div", { class: "drawing" }), said = readout();
    const bands = Object.keys(data.bands).map(Number);
    let answer = null, width = 0;

    /** Row and column of the i-th tile: TileOrder::at() of chapters/12_gemm/tiles.cuh. */
    function at(i, band) {
        const first = Math.floor(i / (band * across)) * band, high = Math.min(band, down - first), inside = i - first * across;
        return [first + inside % high, Math.floor(inside / high)];
    }
    function needed({ band, from }) {
        const tiles = Array.from({ length: Math.min(data.sms, down * across - from * data.sms) }, (_, n) => at(from * data.sms + n, band));
        return { tiles, a: new Set(tiles.map(([row]) => row)), b: new Set(tiles.map(([, column]) => column)) };
    }

    function draw() {
        if (!width) return;
        const cell = (width - LEFT - 2) / across, { tiles, a, b } = needed(state);
        const svg = make("svg", { viewBox: `0 0 ${width} ${TOP + down * HEIGHT + 2}`, role: "img", "aria-label": "Tiles of the result, with those that run together; the text below says the same" });
        const rect = (x, y, across, high, kind) => make("rect", { x, y, width: across, height: high, class: kind });
        svg.append(rect(LEFT, TOP, across * cell, down * HEIGHT, ""));
        for (const [row, column] of tiles) svg.append(rect(LEFT + column * cell, TOP + row * HEIGHT, cell, HEIGHT, "copy"));
        if (answer !== null) {
            for (const row of a) svg.append(rect(0, TOP + row * HEIGHT, 12, HEIGHT, "wait"));
            for (const column of b) svg.append(rect(LEFT + column * cell, 4, cell, 12, "wait"));
        }
        svg.style.maxWidth = `${width}px`; // So that its words keep their size.
        drawing.replaceChildren(svg);
    }

    function words(given, now = state) {
        const { tiles, a, b } = needed(now), start = `${tiles.length} tiles of ${rows} x ${columns} run together, one for each SM.`;
        if (given === null) return `${start} Each needs a strip of a, as high as its row, and a strip of b, as wide as its column.`;
        const count = a.size + b.size, verdict = given === undefined ? "" : given === count ? " That is what you said." : ` You said ${given}.`;
        const weight = a.size * rows + b.size * columns;
        return `${start} They need ${a.size} strips of a and ${b.size} of b, ${count} in all.${verdict} A strip of b is ${columns / rows} times as large: together ${weight} rows of ${data.extent}. ` +
            `What the order is worth an H200 says: bands of ${now.band}, without pauses, ${data.bands[now.band]} % of cuBLAS.`;
    }

    function set(changes) {
        Object.assign(state, changes);
        ask(asked, "How many strips of a and b, taken together, do these tiles need?", null, (given) => {
            answer = given;
            draw();
            said.textContent = words(given);
        });
    }

    const waves = Math.ceil(down * across / data.sms);
    const rowsOfABand = choice("Rows of a band", bands.map((band) => [band, band === 1 ? "1: row after row" : String(band)]), (value) => set({ band: Number(value) }));
    rowsOfABand.querySelector("select").value = state.band;
    box.append(
        make("div", { class: "controls" }, rowsOfABand,
            choice("Running", Array.from({ length: waves }, (_, n) => [n, `tiles ${n * data.sms} to ${Math.min((n + 1) * data.sms, down * across) - 1}`]), (value) => set({ from: Number(value) }))),
        asked, drawing, said,
        make("p", {
            class: "help", text: `A model: the tiles of an ${data.extent} x ${data.extent} result in the order of TileOrder, as if ${data.sms} of them always ran together. ` +
                `Shares are measured (rung 12's kernel without a cluster); so is DRAM: wide_tile reads ${data.dram.wide_tile} GB, ordered, in bands of 8, ${data.dram.ordered} GB.`,
        }));
    set({});
    fitted(drawing, (room) => {
        width = Math.min(room, 560);
        draw();
    });
    reserveWords(said, bands.map((band) => words(100, { band, from: 0 })));
});
