// A box over the edge of a matrix: what a load brings, what the barrier counts, what a store changes.
"use strict";

Pictures.start("tensor_box", "A box over the edge of a matrix, loaded and stored", (data, box) => {
    const { make, button, arrows, reveal, reserveWords, readout, clamp } = Pictures;
    const CELL = 28, xs = [...new Set(data.corners.map((corner) => corner.x))], ys = [...new Set(data.corners.map((corner) => corner.y))];
    const state = { x: xs.indexOf(12), y: ys.indexOf(4), stored: false };
    const left = -xs[0], top = -ys[0], wide = left + xs[xs.length - 1] + data.box_width, high = top + ys[ys.length - 1] + data.box_height;
    const drawing = make("div", { class: "drawing" }), said = readout();
    const corner = () => data.corners.find((each) => each.x === xs[state.x] && each.y === ys[state.y]);
    const inside = (x, y) => x >= 0 && y >= 0 && x < data.width && y < data.height;

    function cell(svg, x, y, kind, text, title) {
        svg.append(make("rect", { x, y, width: CELL, height: CELL, class: kind }, make("title", { text: title })));
        if (text !== "")
            svg.append(make("text", { x: x + CELL / 2, y: y + CELL / 2 + 4, "text-anchor": "middle", style: `font-size:${String(text).length > 3 ? 10.5 : 12}px`, text }));
    }

    function matrix(svg, here) {
        for (let y = 0; y < data.height; ++y)
            for (let x = 0; x < data.pitch; ++x) {
                const at = y * data.pitch + x, before = data.memory[at], after = state.stored && here.memory ? here.memory[at] : before;
                const element = x < data.width;
                const kind = after !== before ? (element ? "compute" : "wrong") : element ? "" : "empty";
                cell(svg, (left + x) * CELL, 18 + (top + y) * CELL, kind, element || after !== before ? after : "",
                    element ? `element (${x}, ${y})` : "padding");
            }
        svg.append(make("rect", {
            x: (left + here.x) * CELL, y: 18 + (top + here.y) * CELL, width: data.box_width * CELL, height: data.box_height * CELL, class: "box",
        }));
        svg.append(make("text", { x: left * CELL, y: 13 + top * CELL, class: "faint", text: `matrix, ${data.width} × ${data.height}, rows padded to ${data.pitch}` }));
    }

    function tile(svg, here) {
        const y0 = 18 + high * CELL + 30;
        svg.append(make("text", { x: left * CELL, y: y0 - 8, class: "faint", text: "the tile in shared memory after the load" }));
        here.tile.forEach((value, number) => {
            const i = number % data.box_width, j = Math.floor(number / data.box_width);
            cell(svg, (left + i) * CELL, y0 + j * CELL, inside(here.x + i, here.y + j) ? "copy" : "wait", value, `tile[${number}]`);
        });
    }

    function words(here) {
        const brought = here.tile.filter((_, number) => inside(here.x + number % data.box_width, here.y + Math.floor(number / data.box_width))).length;
        const zeros = here.tile.filter((value) => value === 0).length;
        let text = `Box at (${here.x}, ${here.y}): ${brought} of ${here.tile.length} elements lie in the matrix, ${zeros} are filled with zeros. ` +
            `The barrier counts ${data.counted_bytes} bytes, the whole box.`;
        if (here.memory) {
            const changed = here.memory.map((value, at) => (value !== data.memory[at] ? at : -1)).filter((at) => at >= 0);
            const padding = changed.filter((at) => at % data.pitch >= data.width).length;
            text += ` A store of the box changes ${changed.length - padding} elements and ${padding} words of padding.`;
        } else text += " A store must not begin before the matrix.";
        return text;
    }

    function draw() {
        const here = corner();
        if (!here.memory) state.stored = false; // Nothing can be stored here, so nothing was.
        const svg = make("svg", {
            viewBox: `0 0 ${wide * CELL} ${18 + (high + data.box_height) * CELL + 40}`, tabindex: 0, role: "img",
            "aria-label": "A matrix and a box; the arrow keys move the box",
        });
        svg.style.minWidth = `${1.05 * wide * CELL}px`; // So that its words can be read on a phone.
        matrix(svg, here);
        tile(svg, here);
        arrows(svg, move);
        const focused = drawing.contains(document.activeElement);
        drawing.replaceChildren(svg);
        if (focused) svg.focus();
        reveal(drawing, (left + here.x) * CELL, data.box_width * CELL);
        said.textContent = words(here);
        store.disabled = !here.memory;
        store.textContent = state.stored ? "Before the store" : "Store the box";
    }

    function move(dx, dy) {
        state.x = clamp(state.x + dx, 0, xs.length - 1);
        state.y = clamp(state.y + dy, 0, ys.length - 1);
        draw();
    }

    const store = button("Store the box", () => {
        state.stored = !state.stored;
        draw();
    });
    box.append(
        make("div", { class: "controls" },
            button("←", () => move(-1, 0), "box to the left"), button("→", () => move(1, 0), "box to the right"),
            button("↑", () => move(0, -1), "box up"), button("↓", () => move(0, 1), "box down"), store),
        drawing, said,
        make("p", {
            class: "help",
            text: "The box moves by 16 bytes along x and by one row along y; the arrow keys do the same. Blue: loaded. Orange: filled. Green: stored. Red: padding that a store overwrites.",
        }));
    // On a phone the drawing is wider than the screen: there the box begins at its left, over the lower edge.
    if (drawing.clientWidth < wide * CELL) state.x = xs.indexOf(0);
    draw();
    reserveWords(said, data.corners.map(words));
});
