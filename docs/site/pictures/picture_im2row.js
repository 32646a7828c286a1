// A copy in im2col mode, pixel by pixel: for one tap of a filter, the pixels of an image become rows in shared memory.
"use strict";

Pictures.start("im2row", "One tap of a filter: the pixels of an image, one below the other in shared memory", (data, box) => {
    const { make, button, choice, question, fitted, readout, reserveWords, clamp, plural } = Pictures;
    const { width: WIDE, height: HIGH, taps: TAPS, pixels: PIXELS } = data, PAD = (TAPS - 1) / 2, MOST = 34, LABEL = 18, GAP = 20;
    const RUNS = WIDE * HIGH / PIXELS, across = WIDE + 2 * PAD, down = HIGH + 2 * PAD, ROWS = PIXELS / 2;
    const names = ["above left", "above", "above right", "left", "the middle", "right", "below left", "below", "below right"];
    const state = { tap: 0, run: 0, step: 1 };
    const drawing = make("div", { class: "drawing" }), said = readout(), count = make("span", { class: "count" });
    let answer = null, width = 0;

    const column = ({ tap, run }) => data.columns[tap * RUNS + run];
    const shown = () => answer !== null;
    /** Where the k-th pixel of the copy lies in the image, by the output pixel that it is for and the tap. */
    const from = (now, k) => {
        const output = now.run * PIXELS + k;
        return [output % WIDE + now.tap % TAPS - PAD, Math.floor(output / WIDE) + Math.floor(now.tap / TAPS) - PAD];
    };

    function cell(svg, x, y, room, kind, text) {
        svg.append(make("rect", { x, y, width: room, height: room, class: kind }));
        if (text !== "") svg.append(make("text", { x: x + room / 2, y: y + room / 2 + 4, "text-anchor": "middle", text }));
    }

    function draw() {
        if (!width) return;
        const beside = width >= 560, room = Math.min(MOST, (beside ? width - GAP - 140 : width) / across), values = column(state), top = beside ? 0 : LABEL + down * room + 14;
        const high = Math.max(22, Math.min(room, 30)), svg = make("svg", {
            viewBox: `0 0 ${width} ${Math.max(LABEL + down * room, top + LABEL + ROWS * high) + 4}`, role: "img",
            "aria-label": "An image with the pixels that a copy visits, and the rows in shared memory; the text below says the same",
        });
        svg.append(make("text", { x: 0, y: 12, class: "faint", text: `image, ${WIDE} × ${HIGH} pixels, and what lies around it` }));
        const visited = shown() ? Array.from({ length: state.step }, (_, k) => from(state, k).join()) : [], now = visited[visited.length - 1];
        for (let y = -PAD; y < HIGH + PAD; ++y)
            for (let x = -PAD; x < WIDE + PAD; ++x) {
                const inside = x >= 0 && y >= 0 && x < WIDE && y < HIGH, place = `${x},${y}`, seen = visited.includes(place);
                const kind = `${seen ? (inside ? "copy" : "wait") : inside ? "" : "empty"}${place === now ? " chosen" : ""}`;
                cell(svg, (x + PAD) * room, LABEL + (y + PAD) * room, room, kind, inside ? y * WIDE + x + 1 : seen ? "0" : "");
            }
        const left = beside ? across * room + GAP : 0;
        svg.append(make("text", { x: left, y: top + 12, class: "faint", text: `shared memory, ${PIXELS} rows` }));
        values.forEach((value, k) => {
            const x = left + Math.floor(k / ROWS) * 70, y = top + LABEL + k % ROWS * high, there = shown() && k < state.step;
            svg.append(make("text", { x: x + 20, y: y + high / 2 + 4, "text-anchor": "end", class: "faint", text: k }));
            svg.append(make("rect", { x: x + 26, y, width: 38, height: high, "data-row": k, class: `${there ? (value ? "copy" : "wait") : "empty"}${there && k === state.step - 1 ? " chosen" : ""}` }));
            if (there) svg.append(make("text", { x: x + 45, y: y + high / 2 + 4, "text-anchor": "middle", text: value }));
        });
        svg.style.maxWidth = `${width}px`; // So that its words keep their size.
        drawing.replaceChildren(svg);
    }

    function words(given, now = state) {
        const first = now.run * PIXELS, begin = `Tap ${names[now.tap]}, for output pixels ${first + 1} to ${first + PIXELS}: one copy of ${PIXELS} pixels.`;
        if (given === null) return begin;
        const values = column(now), zeros = values.filter((value) => value === 0).length, [x, y] = from(now, now.step - 1), value = values[now.step - 1];
        const verdict = given === undefined ? "" : given === zeros ? " You said so." : ` You said ${given}.`;
        const where = value ? `pixel ${value}` : `(${x}, ${y}), outside of the image: 0`;
        return `${begin} ${zeros} of its rows are zeros.${verdict} Row ${now.step - 1}: ${where}.`;
    }

    function show() {
        draw();
        said.textContent = words(answer);
        count.textContent = `${plural(shown() ? state.step : 0, "pixel")} of ${PIXELS}`;
        for (const each of steps) each.disabled = !shown();
    }
    const go = (step) => { state.step = clamp(step, 1, PIXELS); show(); };
    const steps = [button("Back", () => go(state.step - 1)), button("Next pixel", () => go(state.step + 1)), button("To the end", () => go(PIXELS))];
    const ask = question(`How many of the ${PIXELS} rows will be zeros, for pixels that lie outside of the image?`, null, (given) => {
        answer = given;
        state.step = given === undefined ? PIXELS : 1;
        show();
    });
    const set = (field) => (value) => { state[field] = Number(value); ask.again(); };
    box.append(
        make("div", { class: "controls" }, choice("Tap of the filter", names.map((name, n) => [n, name]), set("tap")),
            choice("Output pixels", Array.from({ length: RUNS }, (_, n) => [n, `${n * PIXELS + 1} to ${(n + 1) * PIXELS}`]), set("run"))),
        ask.node, make("div", { class: "controls" }, ...steps, count), drawing, said,
        make("p", {
            class: "help", text: `A filter of ${TAPS} × ${TAPS} weighs each pixel and its neighbours. A copy in im2col mode brings, for one weight (tap), the neighbour of each output pixel: ` +
                "it goes along the row of the image, begins the next row by itself, and fills with zeros what lies outside. Nine copies make the matrix that a matrix product takes. " +
                "Blue: copied. Orange, 0: filled. What landed was read back after copies on the emulator.",
        }));
    ask.again();
    fitted(drawing, (room) => { width = room; draw(); });
    reserveWords(said, names.flatMap((_, tap) => [0, RUNS - 1].flatMap((run) => [1, PIXELS].map((step) => words(100, { tap, run, step })))));
});
