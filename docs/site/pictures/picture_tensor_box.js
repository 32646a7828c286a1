// A box over the edge of a matrix: what a load brings, what the barrier counts, what a store changes.
"use strict";

Pictures.start("tensor_box", "A box over the edge of a matrix, loaded and stored", (data, box) => {
    const { make, button, arrows, fitted, question, reserveWords, readout, clamp, plural } = Pictures;
    const MOST = 34, TALL = 28, LABEL = 20, READABLE = 24;
    const xs = [...new Set(data.corners.map((corner) => corner.x))], ys = [...new Set(data.corners.map((corner) => corner.y))];
    const state = { x: xs.indexOf(12), y: ys.indexOf(4), stored: false };
    const left = -xs[0], top = -ys[0], wide = left + xs[xs.length - 1] + data.box_width, high = top + ys[ys.length - 1] + data.box_height;
    const drawing = make("div", { class: "drawing" }), said = readout();
    let answer = null, width = 0, cell = MOST, held = null;

    const shown = () => answer !== null;
    const corner = () => data.corners.find((each) => each.x === xs[state.x] && each.y === ys[state.y]);
    const inside = (x, y) => x >= 0 && y >= 0 && x < data.width && y < data.height;
    const exists = (here, number) => inside(here.x + number % data.box_width, here.y + Math.floor(number / data.box_width));
    const zeros = (here) => here.tile.filter((value) => value === 0).length;
    const at = (x, y) => [(left + x) * cell, LABEL + (top + y) * cell];

    function put(svg, x, y, room, tall, kind, text) {
        svg.append(make("rect", { x, y, width: room, height: tall, class: kind }));
        if (text !== "") svg.append(make("text", { x: x + room / 2, y: y + tall / 2 + 4, "text-anchor": "middle", "pointer-events": "none", text }));
    }

    /** What stands in an element's place: its value where there is room, else a mark if it was changed. */
    function content(before, after, element) {
        if (cell >= READABLE) return element || after !== before ? after : "";
        return after === before ? "" : element ? "•" : "×";
    }

    function matrix(svg, here) {
        for (let y = 0; y < data.height; ++y)
            for (let x = 0; x < data.pitch; ++x) {
                const index = y * data.pitch + x, before = data.memory[index], after = state.stored ? here.memory[index] : before;
                const element = x < data.width, kind = after !== before ? (element ? "compute" : "wrong") : element ? "" : "empty";
                put(svg, ...at(x, y), cell, cell, kind, content(before, after, element));
            }
        const [x, y] = at(0, 0), [boxX, boxY] = at(here.x, here.y);
        svg.append(make("text", { x, y: y - 7, class: "faint", text: `matrix, ${data.width} × ${data.height}, rows padded to ${data.pitch}` }));
        svg.append(make("rect", { x: boxX, y: boxY, width: data.box_width * cell, height: data.box_height * cell, class: "box held" }));
    }

    function tile(svg, here) {
        const room = Math.min(width / data.box_width, 44), y0 = LABEL + high * cell + 26;
        svg.append(make("text", { x: 0, y: y0 - 8, class: "faint", text: "the tile in shared memory after the load" }));
        here.tile.forEach((value, number) => {
            const x = number % data.box_width * room, y = y0 + Math.floor(number / data.box_width) * TALL;
            put(svg, x, y, room, TALL, shown() ? (exists(here, number) ? "copy" : "wait") : "empty", shown() ? value : "?");
        });
    }

    function draw() {
        const here = corner(), focused = drawing.contains(document.activeElement);
        cell = Math.min(MOST, width / (wide + 0.2)); // A little more, for the frame of the box.
        const svg = make("svg", {
            viewBox: `0 0 ${width} ${LABEL + high * cell + 30 + data.box_height * TALL}`, tabindex: 0, role: "img",
            "aria-label": "A matrix and a box; the arrow keys move the box; the text below says the same",
        });
        matrix(svg, here);
        tile(svg, here);
        arrows(svg, move);
        drawing.replaceChildren(svg);
        if (focused) svg.focus();
    }

    function words(here, given) {
        const where = `Box at (${here.x}, ${here.y})`;
        if (given === null) return `${where}, ${data.box_width} × ${data.box_height} elements of 4 bytes.`;
        const filled = zeros(here), verdict = given === undefined ? "" : given === filled ? " You said so." : ` You said ${given}.`;
        let text = `${where}: ${here.tile.length - filled} of ${here.tile.length} elements lie in the matrix, ${filled} are filled with zeros.${verdict} ` +
            `The barrier counts ${data.counted_bytes} bytes, the whole box.`;
        if (here.memory) {
            const changed = here.memory.map((value, index) => (value !== data.memory[index] ? index : -1)).filter((index) => index >= 0);
            const padding = changed.filter((index) => index % data.pitch >= data.width).length;
            text += ` A store of the box changes ${plural(changed.length - padding, "element")} and ${plural(padding, "word")} of padding.`;
        } else text += " A store must not begin before the matrix.";
        return text;
    }

    function show() {
        const here = corner();
        if (!here.memory || !shown()) state.stored = false; // Nothing can be stored here, so nothing was.
        if (width) draw();
        said.textContent = words(here, answer);
        store.disabled = !here.memory || !shown();
        store.textContent = state.stored ? "Before the store" : "Store the box";
    }

    const ask = question("The load brings all 32 elements of the box. How many of them will be filled with zeros?", null, (given) => { answer = given; show(); });

    function place(x, y) {
        const next = [clamp(x, 0, xs.length - 1), clamp(y, 0, ys.length - 1)];
        if (next[0] === state.x && next[1] === state.y) return;
        [state.x, state.y] = next;
        state.stored = false;
        ask.again();
    }
    const move = (dx, dy) => place(state.x + dx, state.y + dy);

    /** The box follows the pointer by its steps; the drawing has the pointer, for the box is drawn anew on the way. */
    function drag(event) {
        const { left: x, top: y } = drawing.querySelector("svg").getBoundingClientRect();
        const here = [(event.clientX - x) / cell - left, (event.clientY - y - LABEL) / cell - top];
        if (event.type === "pointerdown") {
            if (!event.target.classList.contains("held")) return;
            held = [here[0] - xs[state.x], here[1] - ys[state.y]];
            drawing.setPointerCapture(event.pointerId);
            event.preventDefault();
        } else if (held) place(Math.round((here[0] - held[0] - xs[0]) / (xs[1] - xs[0])), Math.round(here[1] - held[1] - ys[0]));
    }
    for (const name of ["pointerdown", "pointermove"]) drawing.addEventListener(name, drag);
    for (const name of ["pointerup", "pointercancel"]) drawing.addEventListener(name, () => { held = null; });

    const store = button("Store the box", () => { state.stored = !state.stored; show(); });
    box.append(
        make("div", { class: "controls" },
            button("←", () => move(-1, 0), "box to the left"), button("→", () => move(1, 0), "box to the right"),
            button("↑", () => move(0, -1), "box up"), button("↓", () => move(0, 1), "box down"), store),
        ask.node, drawing, said,
        make("p", {
            class: "help",
            text: "Drag the box, or move it with the arrow keys: by 16 bytes along x, by one row along y. Elements are numbered from 1. Blue: loaded. Orange, 0: filled. " +
                `Each element is then made ${data.added} more. ` + "Green, •: stored. Red, ×: padding that a store overwrites. All of it was copied by the emulator.",
        }));
    ask.again();
    fitted(drawing, (room) => { width = room; draw(); });
    reserveWords(said, data.corners.map((here) => words(here, 100)));
});
