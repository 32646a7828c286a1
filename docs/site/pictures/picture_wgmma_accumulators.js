// D of a wgmma, 64 rows of 64: which thread holds an element, and what else it holds.
"use strict";

Pictures.start("wgmma_accumulators", "Which thread holds which element of the result", (data, box) => {
    const { make, button, ask, arrows, fitted, readout, reserveWords, clamp } = Pictures;
    const N = data.columns, LEFT = 52, TOP = 20, SUMS = N / 2; // Sums of each thread: 64 N elements for 128 threads.
    const state = { row: 25, column: 13 };
    const holder = []; // By element: [thread, accumulator].
    data.element.forEach((element, at) => { holder[element] = [Math.floor(at / SUMS), at % SUMS]; });
    const asked = make("div"), drawing = make("div", { class: "drawing" }), said = readout();
    let answer = null, width = 0;

    const at = (row, column) => holder[row * N + column];

    function draw() {
        if (!width) return;
        const cell = (width - LEFT - 2) / N, focused = drawing.contains(document.activeElement), [thread] = at(state.row, state.column);
        const svg = make("svg", {
            viewBox: `0 0 ${width} ${TOP + N * cell + 2}`, tabindex: 0, role: "img", "aria-label": "The result; the arrow keys choose an element",
            onclick: (event) => {
                const { left, top } = svg.getBoundingClientRect(), scale = svg.clientWidth / width;
                choose(Math.floor(((event.clientY - top) / scale - TOP) / cell), Math.floor(((event.clientX - left) / scale - LEFT) / cell));
            },
        });
        const part = (row, column, across, down, kind) => make("rect", { x: LEFT + column * cell, y: TOP + row * cell, width: across * cell, height: down * cell, class: kind });
        for (let row = 0; row < 64; row += 8)
            for (let column = 0; column < N; column += 8) svg.append(part(row, column, 8, 8, ""));
        for (let column = 0; column < N; column += 16) svg.append(make("text", { x: LEFT + column * cell, y: TOP - 6, class: "faint", text: column }));
        for (let row = 0; row < 64; row += 16) svg.append(make("text", { x: LEFT - 6, y: TOP + row * cell + 12, "text-anchor": "end", class: "faint", text: `row ${row}` }));
        if (answer !== null)
            for (let i = 0; i < SUMS; ++i) {
                const element = data.element[thread * SUMS + i];
                svg.append(part(Math.floor(element / N), element % N, 1, 1, "wanted"));
            }
        svg.append(part(state.row, state.column, 1, 1, "wait chosen"));
        arrows(svg, (dx, dy) => choose(state.row + dy, state.column + dx));
        svg.style.maxWidth = `${width}px`; // So that its words keep their size.
        drawing.replaceChildren(svg);
        if (focused) svg.focus();
    }

    function words(given, { row, column } = state) {
        if (given === null) return `Row ${row}, column ${column} of D. The group has 4 warps, 128 threads, and each holds ${SUMS} sums.`;
        const [thread, sum] = at(row, column), said = given === undefined ? "" : given === thread ? " That is what you said." : ` You said ${given}.`;
        return `Row ${row}, column ${column}: thread ${thread}, accumulator ${sum}.${said} That is warp ${Math.floor(thread / 32)}, which has rows ${Math.floor(row / 16) * 16} to ${Math.floor(row / 16) * 16 + 15}, ` +
            `and lane ${thread % 32}. The filled cells are all ${SUMS} that it holds: two beside each other, two more 8 rows further, and so on every 8 columns.`;
    }

    function choose(row, column) {
        Object.assign(state, { row: clamp(row, 0, 63), column: clamp(column, 0, N - 1) });
        ask(asked, `Which thread, 0 to 127, holds row ${state.row}, column ${state.column}?`, null, (given) => {
            answer = given;
            draw();
            said.textContent = words(given);
        });
    }

    box.append(asked, make("div", { class: "controls" }, button("Another element", () => choose((state.row * 5 + 19) % 64, (state.column * 3 + 10) % N))), drawing, said,
        make("p", { class: "help", text: "Click an element, or move with the arrow keys. Who holds what a kernel printed on the emulator: each of its sums is the number of its element." }));
    choose(state.row, state.column);
    fitted(drawing, (room) => {
        width = Math.min(room, 560);
        draw();
    });
    reserveWords(said, [words(128, { row: 63, column: N - 1 })]);
});
