// The swizzle of one 16-byte chunk: which bits of its address change which, and where in its line a tensor copy puts it.
"use strict";

Pictures.start("xor_bits", "Where a tensor copy puts a chunk of 16 bytes", (data, box) => {
    const { make, choice, arrows, fitted, question, readout, reserveWords, clamp } = Pictures;
    const CHUNK = 16, LINE = 128, PLACES = 8, BITS = 11, PERIOD = 1024, STEP = 128;
    const last = STEP * (data.modes[0].offsets.length - 1), lines = (last + PERIOD) / LINE;
    const state = { mode: 2, base: 0, row: 5, chunk: 3 };
    const drawing = make("div", { class: "drawing" }), said = readout();
    let answer = null, width = 0;

    const mode = () => data.modes[state.mode];
    const rows = () => PERIOD / mode().width;
    const chunks = () => mode().width / CHUNK;
    const plain = (row, chunk) => state.base + row * mode().width + chunk * CHUNK;
    const landed = (row, chunk) => mode().offsets[state.base / STEP][row][chunk];
    const place = (address) => Math.floor(address / CHUNK) % PLACES;
    const line = (address) => Math.floor(address / LINE);
    /** How many bits the mode takes, and what it takes them for: the number that all chunks of this line get by XOR. */
    const taken = () => Math.log2(chunks());
    const mask = (address) => line(address) % chunks();
    const binary = (value, digits) => value.toString(2).padStart(digits, "0");
    const shown = () => answer !== null;

    /** One row of bits, the highest at the left; `kind(bit)` is the class of a box, `value(bit)` what stands in it. */
    function bits(svg, left, cell, y, name, kind, value) {
        svg.append(make("text", { x: left - 6, y: y + 17, "text-anchor": "end", class: "faint", text: name }));
        for (let bit = BITS - 1; bit >= 0; --bit) {
            const x = left + (BITS - 1 - bit) * cell, text = value(bit);
            if (text === null) continue;
            svg.append(make("rect", { x, y, width: cell, height: 24, class: kind(bit) }));
            svg.append(make("text", { x: x + cell / 2, y: y + 17, "text-anchor": "middle", text }));
        }
    }

    function address(svg, room) {
        const left = 46, cell = (room - left) / BITS, many = taken(), from = plain(state.row, state.chunk), to = landed(state.row, state.chunk);
        const middle = (bit) => left + (BITS - 0.5 - bit) * cell, changes = (bit) => bit >= 4 && bit < 4 + many, decides = (bit) => bit >= 7 && bit < 7 + many;
        for (let bit = BITS - 1; bit >= 0; --bit)
            svg.append(make("text", { x: middle(bit), y: 30, "text-anchor": "middle", class: "faint", text: bit }));
        for (const [first, end, name] of [[7, BITS, "which line"], [4, 7, "place"], [0, 4, "in the chunk"]]) {
            svg.append(make("text", { x: (middle(first) + middle(end - 1)) / 2, y: 12, "text-anchor": "middle", class: "faint", text: name }));
            svg.append(make("line", { x1: middle(end - 1) - cell / 2 + 2, x2: middle(first) + cell / 2 - 2, y1: 17, y2: 17, stroke: "currentColor" }));
        }
        const bit = (value, which) => (value >> which) & 1;
        bits(svg, left, cell, 36, "plain", (n) => (decides(n) ? "wait chosen" : changes(n) ? "copy" : ""), (n) => bit(from, n));
        for (let n = 7; n < 7 + many; ++n)
            svg.append(make("line", { x1: middle(n), y1: 60, x2: middle(n - 3), y2: 84, stroke: "currentColor", "stroke-width": 1.5 }));
        bits(svg, left, cell, 84, "XOR", () => "wait", (n) => (!changes(n) ? null : shown() ? bit(from, n + 3) : "?"));
        bits(svg, left, cell, 120, "lands", (n) => (changes(n) ? "compute chosen" : ""), (n) => (changes(n) && !shown() ? "?" : bit(to, n)));
    }

    function memory(svg, x0, y0, room) {
        const left = x0 + 38, right = 40, high = 19, cell = (room - 38 - right) / PLACES, where = shown() ? landed : plain;
        const at = (address) => [left + place(address) * cell, y0 + 20 + line(address) * high];
        svg.append(make("text", { x: left - 6, y: y0 + 13, "text-anchor": "end", class: "faint", text: "byte" }));
        for (let number = 0; number < PLACES; ++number)
            svg.append(make("text", { x: left + (number + 0.5) * cell, y: y0 + 13, "text-anchor": "middle", class: "faint", text: number }));
        for (let number = 0; number < lines; ++number) {
            const [, y] = at(number * LINE);
            svg.append(make("text", { x: left - 6, y: y + 14, "text-anchor": "end", class: "faint", text: number * LINE }));
            svg.append(make("rect", { x: left, y, width: PLACES * cell, height: high, class: "empty" }));
            if (shown()) svg.append(make("text", { x: left + PLACES * cell + 6, y: y + 14, class: "faint", text: `⊕ ${mask(number * LINE)}` }));
        }
        for (let row = 0; row < rows(); ++row)
            for (let chunk = 0; chunk < chunks(); ++chunk) {
                const [x, y] = at(where(row, chunk)), mine = row === state.row && chunk === state.chunk;
                const pick = () => set({ row, chunk });
                svg.append(make("rect", { x, y, width: cell, height: high, class: mine ? "compute chosen" : row === state.row ? "copy" : "", "data-chunk": `${row}.${chunk}`, onclick: pick }));
                svg.append(make("text", { x: x + cell / 2, y: y + 14, "text-anchor": "middle", "pointer-events": "none", text: `${row}.${chunk}` }));
            }
        const [x, y] = at(plain(state.row, state.chunk)), [toX, toY] = at(where(state.row, state.chunk));
        svg.append(make("rect", { x, y, width: cell, height: high, class: "box", "pointer-events": "none" }));
        svg.append(make("rect", { x: toX, y: toY, width: cell, height: high, class: "empty chosen", "pointer-events": "none" }));
    }

    function draw() {
        const beside = width >= 720, room = beside ? width / 2 - 16 : width, height = 20 + lines * 19 + 4;
        const svg = make("svg", {
            viewBox: `0 0 ${width} ${beside ? height : 160 + height}`, tabindex: 0, role: "img",
            "aria-label": "The bits of an address, and shared memory in lines of 128 bytes; the arrow keys choose a chunk; the text below says the same",
        });
        address(svg, room);
        memory(svg, beside ? width / 2 + 16 : 0, beside ? 0 : 160, room);
        arrows(svg, (dx, dy) => set({ row: clamp(state.row + dy, 0, rows() - 1), chunk: clamp(state.chunk + dx, 0, chunks() - 1) }));
        const focused = drawing.contains(document.activeElement);
        drawing.replaceChildren(svg);
        if (focused) svg.focus();
    }

    function words() {
        const from = plain(state.row, state.chunk), to = landed(state.row, state.chunk), many = taken();
        const start = `Chunk ${state.chunk} of row ${state.row}: without swizzle it would lie at byte ${from}, at place ${place(from)} of line ${line(from)}.`;
        if (!shown()) return start;
        const range = (first) => (many === 1 ? `bit ${first}` : `bits ${first + many - 1} to ${first}`), part = place(from) % chunks();
        const verdict = answer === undefined ? "" : Number(answer) === place(to) ? " You said so." : ` You said place ${answer}.`;
        return `${start} Its ${range(7)}, ${binary(mask(from), many)}, ${many === 1 ? "is" : "are"} XORed into ${range(4)}, ${binary(part, many)}: ${binary(part ^ mask(from), many)}. ` +
            `The copy put it at byte ${to}, at place ${place(to)} of the same line.${verdict}`;
    }

    const show = () => { if (width) draw(); said.textContent = words(); };
    const ask = question("To which place of its line does the copy bring the chunk with the thick frame?", Array.from({ length: PLACES }, (_, n) => String(n)),
        (given) => { answer = given; show(); });
    const modes = choice("Mode", data.modes.map((each, n) => [n, `${each.width} bytes`]), (value) => set({ mode: Number(value) }));
    modes.querySelector("select").value = state.mode;
    const count = make("span", { class: "count" });
    const slider = make("input", { type: "range", min: 0, max: last, step: STEP, value: 0, "aria-label": "the byte at which the tile begins", oninput: () => set({ base: Number(slider.value) }) });

    function set(changes) {
        Object.assign(state, changes);
        state.row = Math.min(state.row, rows() - 1);
        state.chunk = Math.min(state.chunk, chunks() - 1);
        count.textContent = `byte ${state.base}`;
        slider.setAttribute("aria-valuetext", count.textContent);
        ask.again();
    }

    box.append(
        make("div", { class: "controls" }, modes, make("label", {}, "Tile begins at", slider), count),
        ask.node, drawing, said,
        make("p", {
            class: "help",
            text: "Each row of boxes is a line of 128 bytes with its eight places; 5.2 is chunk 2 of row 5. Dashed frame: where the chunk would lie without swizzle. " +
                "⊕: the number that the line's chunks get by XOR; it belongs to the line of memory and stays when the tile moves. " +
                "Where chunks lie was read back from shared memory after tensor copies on the emulator.",
        }));
    set({});
    fitted(drawing, (room) => { width = room; draw(); });
    reserveWords(said, ["Chunk 7 of row 31: without swizzle it would lie at byte 1888, at place 6 of line 14. Its bits 9 to 7, 110, are XORed into bits 6 to 4, 110: 000. The copy put it at byte 1888, at place 6 of the same line. You said place 6."]);
});
