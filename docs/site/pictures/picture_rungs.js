// Two rungs of the ladder: the way of the data and what the emulator counted, beside what an H200 measured.
"use strict";

Pictures.start("rungs", "Two rungs of the ladder: their ways, their counters and their rates", (data, box) => {
    const { make, choice, fitted, question, readout, reserve, reserveWords } = Pictures;
    const PLACES = ["global", "shared", "registers"], SIDES = ["the first", "the second"], STEP = 34, TOP = 48, BAR = 26;
    const TMA = ["tensor_load", "shared_to_registers", "registers_to_shared", "tensor_store"];
    const THREADS = ["global_to_registers", "registers_to_shared", "shared_to_registers", "registers_to_global"];
    const LEGS = {
        global_to_registers: [0, 2, "threads load"], tensor_load: [0, 1, "TMA loads"], registers_to_shared: [2, 1, "threads write"],
        shared_to_registers: [1, 2, "threads read"], registers_to_global: [2, 0, "threads store"], tensor_store: [1, 0, "TMA stores"],
    };
    const ROWS = { store_sectors: "32-byte sectors stored", wavefronts: "wavefronts of threads in shared memory", instructions: "warp instructions" };
    /** Its PTX writes one of four stores of 16 bytes as four of 4 bytes; in its machine code all four are whole, and its wavefronts as many as those of LIKE. */
    const SPLIT = "tma_persistent", LIKE = data.rungs.find((each) => each.kernel === "tma_micro_tiles").wavefronts;
    const state = [data.rungs.findIndex((each) => each.kernel === "padded_tile"), data.rungs.findIndex((each) => each.kernel === "tma_plain")];
    const drawing = make("div", { class: "drawing" }), body = make("tbody"), heads = [make("th", { scope: "col" }), make("th", { scope: "col" })], said = readout();
    let answer = null, width = 0;

    const shown = () => answer !== null;
    const rung = (side) => data.rungs[state[side]];
    const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
    const rate = (each) => `${grouped(Math.round(each.gb_per_s))} GB/s`;
    /** The legs of the way in their order: a rung takes its tile by threads or by TMA. */
    const way = (each) => (each.bytes.tensor_load ? TMA : THREADS).filter((leg) => each.bytes[leg]);

    function column(svg, each, left, top, room) {
        const at = (place) => left + 34 + place * (room - 68) / 2, text = (words, x, y, anchor, kind) => svg.append(make("text", { x, y: top + y, "text-anchor": anchor, class: kind, text: words }));
        text(each.kernel, left, 14, "start", "mode");
        PLACES.forEach((name, place) => {
            text(name, at(place), 36, "middle", "faint");
            svg.append(make("line", { x1: at(place), x2: at(place), y1: top + 42, y2: top + TOP + 4 * STEP, stroke: "currentColor", "stroke-opacity": 0.3 }));
        });
        way(each).forEach((leg, number) => {
            const [from, to, who] = LEGS[leg], y = TOP + number * STEP + 22, x1 = at(from), x2 = at(to), tip = x2 > x1 ? -8 : 8;
            svg.append(make("path", { d: `M${x1} ${top + y}H${x2}m${tip} -5l${-tip} 5l${tip} 5`, fill: "none", stroke: "currentColor", "stroke-width": leg.startsWith("tensor") ? 3 : 1.5, "data-leg": leg }));
            text(`${number + 1}. ${who}`, (x1 + x2) / 2, y - 6, "middle", "");
        });
        const y = TOP + 4 * STEP + 10;
        svg.append(make("rect", { x: left, y: top + y, width: room, height: BAR, class: "empty" }));
        if (shown()) svg.append(make("rect", { x: left, y: top + y, width: room * each.share / 100, height: BAR, class: "compute", "data-share": each.share }));
        text(shown() ? `H200: ${rate(each)}, ${Math.round(each.share)} % of the copy` : "H200: ?", left + 6, y + 18, "start", "rate");
    }

    function draw() {
        const beside = width >= 600, room = beside ? (width - 40) / 2 : width, high = TOP + 4 * STEP + BAR + 26;
        const svg = make("svg", { viewBox: `0 0 ${width} ${beside ? high : 2 * high}`, role: "img", "aria-label": "The ways of the data in two rungs; the table and the text below say the same" });
        for (const side of [0, 1]) column(svg, rung(side), beside ? side * (room + 40) : 0, beside ? 0 : side * high, room);
        drawing.replaceChildren(svg);
    }

    function words(first, second, given) {
        const through = (each) => way(each).map((leg) => LEGS[leg][2]).join(", ");
        if (given === null) return `${first.kernel}: ${through(first)}. ${second.kernel}: ${through(second)}.`;
        if (first === second) return `That is one rung: ${rate(first)}.`;
        const fast = first.gb_per_s >= second.gb_per_s ? 0 : 1, [better, worse] = fast ? [second, first] : [first, second];
        const verdict = given === undefined ? "" : given === SIDES[fast] ? " You said so." : " You said the other one.";
        const count = (each, name) => (each.kernel === SPLIT && name === "wavefronts" ? LIKE : each[name]), names = Object.keys(ROWS);
        const less = names.filter((name) => count(better, name) < count(worse, name)).map((name) => ROWS[name]), more = names.filter((name) => count(better, name) > count(worse, name)).map((name) => ROWS[name]);
        const counts = `It has ${less.length ? `fewer ${less.join(", ")}` : "fewer of nothing that is counted"}${more.length ? `, and more ${more.join(", ")}` : ""}.`;
        return `On an H200 ${better.kernel} is faster: ${rate(better)} against ${rate(worse)}, ${(better.gb_per_s / worse.gb_per_s).toFixed(2)} times.${verdict} ${counts}`;
    }

    function fill(pair) {
        heads.forEach((head, side) => { // A narrow column breaks a name behind a "_".
            head.replaceChildren(...pair[side].kernel.split(/(?<=_)/).flatMap((part, i) => i ? [make("wbr"), part] : [part]));
        });
        body.replaceChildren(...Object.entries(ROWS).map(([name, text]) =>
            make("tr", {}, make("th", { scope: "row", text }), ...pair.map((each) => make("td", { class: "number", text: grouped(each[name]) })))));
    }

    function show() {
        if (width) draw();
        fill([rung(0), rung(1)]);
        said.textContent = words(rung(0), rung(1), answer);
    }

    const ask = question("Which of the two is faster on an H200?", SIDES, (given) => { answer = given; show(); });
    const pick = (side, label) => {
        const node = choice(label, data.rungs.map((each, n) => [n, each.kernel]), (value) => { state[side] = Number(value); ask.again(); });
        node.querySelector("select").value = state[side];
        return node;
    };
    const table = make("div", { class: "names" }, make("table", {}, make("thead", {}, make("tr", {}, make("td"), ...heads)), body));
    box.append(
        make("div", { class: "controls" }, pick(0, "First"), pick(1, "Second")), ask.node, drawing,
        table, said,
        make("p", {
            class: "help",
            text: "Arrows: the way of each byte of a tile, in order, by the emulator's counters of bytes; thick: by TMA. The table: its counters for a matrix of 128 × 128 floats. " +
                "The bars: rates that an H200 measured at 32768 × 32768, the whole frame is the copy of the same bytes. What TMA does in shared memory no counter here sees. " +
                `In ${SPLIT} it counts one store in four as four, as the PTX has it; in machine code it is one, and the wavefronts are ${grouped(LIKE)}.`,
        }));
    ask.again();
    fitted(drawing, (room) => { width = room; draw(); });
    reserve(table, data.rungs, (each) => (each === null ? show() : fill([each, each])));
    reserveWords(said, data.rungs.flatMap((first) => data.rungs.map((second) => words(first, second, SIDES[0]))));
});
