// The swizzle modes: the bank of each element of a tile, and how many passes a warp needs for a column.
"use strict";

Pictures.start("swizzle", "The banks of a tile under each swizzle mode", (data, box) => {
    const { make, choice, arrows, reveal, readout, clamp, plural } = Pictures;
    const state = { mode: 3, offset: 0, size: 4, row: 0, column: 0 };
    const CHUNK = 16, BANKS = 32, WIDTH = 832, LEFT = 40, TOP = 22, HEIGHT = 15;
    const names = ["none", "32 bytes", "64 bytes", "128 bytes"];
    const drawing = make("div", { class: "drawing" }), said = readout();
    let svg, cells, frame;

    const mode = () => data.modes[state.mode];
    const layout = () => mode().layouts.find((each) => each.offset === state.offset);
    const columns = () => mode().row_bytes / state.size;
    const passes = (column) => layout().passes[data.element_sizes.indexOf(state.size)][column];

    function address(row, column) {
        const byte = column * state.size;
        return layout().chunks[row][Math.floor(byte / CHUNK)] + byte % CHUNK;
    }
    const bank = (row, column) => Math.floor(address(row, column) / 4) % BANKS;
    /** The banks of an element: one, or the first and the last of those that a wide one lies in. */
    const banks = (row, column, between) => {
        const first = bank(row, column), last = first + Math.max(1, state.size / 4) - 1;
        return first === last ? String(first) : `${first}${between}${last}`;
    };

    /** Rows whose element of the column needs the same bank, in another word, as an element served with it. */
    function clashes(column) {
        const together = Math.min(data.rows, 128 / state.size), found = new Set();
        for (let row = 0; row < data.rows; ++row)
            for (let other = row - row % together; other < row - row % together + together; ++other)
                if (other !== row && bank(row, column) === bank(other, column) &&
                    address(row, column) >> 2 !== address(other, column) >> 2) found.add(row);
        return found;
    }

    function tell() {
        const { row, column } = state, at = address(row, column), clash = clashes(column), byte = column * state.size;
        const plain = state.offset + row * mode().row_bytes + byte;
        const least = Math.max(1, state.size * data.rows / 128);
        said.textContent = `Row ${row}, column ${column}: without swizzle at byte ${plain}, here at byte ${at} ` +
            `(chunk ${Math.floor(plain / CHUNK) % 8} of its 128-byte line becomes ${Math.floor(at / CHUNK) % 8}), ${state.size > 4 ? "banks" : "bank"} ${banks(row, column, " to ")}. ` +
            `A warp that reads column ${column} needs ${passes(column)} ${passes(column) === 1 ? "pass" : "passes"}; ` +
            `the fewest possible is ${least}.`;
        cells.forEach((line, r) => line.forEach((cell, c) => {
            cell.classList.toggle("clash", c === column && clash.has(r));
        }));
        for (const name of ["x", "y", "width", "height"]) frame.setAttribute(name, cells[row][column].getAttribute(name));
    }

    function choose(row, column) {
        state.row = clamp(row, 0, data.rows - 1);
        state.column = clamp(column, 0, columns() - 1);
        tell();
    }

    function draw() {
        state.column = Math.min(state.column, columns() - 1);
        const width = Math.min(48, (WIDTH - LEFT) / columns()), labelled = width >= 20;
        svg = make("svg", {
            viewBox: `0 0 ${WIDTH} ${TOP + data.rows * HEIGHT + 4}`, tabindex: 0, role: "img",
            "aria-label": "Banks of the tile's elements; the arrow keys choose an element",
        });
        svg.style.minWidth = `${0.92 * WIDTH}px`; // So that its words can be read on a phone.
        svg.append(make("text", { x: LEFT, y: 14, class: "faint", text: `bank of each element, ${columns()} columns of ${state.size} bytes` }));
        cells = [];
        for (let row = 0; row < data.rows; ++row) {
            const y = TOP + row * HEIGHT;
            svg.append(make("text", { x: LEFT - 8, y: y + 12, "text-anchor": "end", class: "faint", text: row }));
            cells.push(Array.from({ length: columns() }, (_, column) => {
                const cell = make("rect", {
                    x: LEFT + column * width, y, width, height: HEIGHT, class: "bank", style: `--bank:${bank(row, column)}`,
                    onmouseenter: () => choose(row, column), onclick: () => choose(row, column),
                });
                svg.append(cell);
                if (labelled)
                    svg.append(make("text", {
                        x: LEFT + (column + 0.5) * width, y: y + 12, "text-anchor": "middle", "pointer-events": "none", text: banks(row, column, "–"),
                    }));
                return cell;
            }));
        }
        frame = make("rect", { class: "empty chosen", "pointer-events": "none" });
        svg.append(frame);
        arrows(svg, (dx, dy) => {
            choose(state.row + dy, state.column + dx);
            reveal(drawing, LEFT + state.column * width, width);
        });
        drawing.replaceChildren(svg);
        tell();
    }

    const set = (name) => (value) => { state[name] = Number(value); draw(); };
    const modes = choice("Mode", names.map((name, number) => [number, name]), set("mode"));
    modes.querySelector("select").value = state.mode;
    const sizes = choice("Element", data.element_sizes.map((size) => [size, plural(size, "byte")]), set("size"));
    sizes.querySelector("select").value = state.size;
    const offsets = choice("Tile begins at", mode().layouts.map((each) => [each.offset, `byte ${each.offset}`]), set("offset"));
    box.append(
        make("div", { class: "controls" }, modes, sizes, offsets), drawing, said,
        make("p", {
            class: "help",
            text: "Point at an element, or move with the arrow keys. Red frames: elements of the column that share a bank with another one of it.",
        }));
    draw();
});
