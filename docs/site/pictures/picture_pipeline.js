// A pipeline of stages: copies and computations of one block in time, as a simple model has them, and how much of the time the
// threads compute for every number of stages, with an H200's points over it.
"use strict";

Pictures.start("pipeline", "Stages of a pipeline: when threads wait, and how many stages are enough", (data, box) => {
    const { make, choice, fitted, question, readout, reserveWords, plural } = Pictures;
    const MOST = 8, UNITS = 32, LANE = 20, LEFT = 58, TOP = 8, CHART = 150;
    const state = { copy: 3, compute: 1, stages: 2, measured: -1 };
    const drawing = make("div", { class: "drawing" }), said = readout();
    let answer = null, width = 0;

    const numbers = (from, to) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
    const enough = () => Math.ceil(1 + state.copy / state.compute);

    /** The tiles that begin within UNITS: a copy begins when its stage was computed the last time, a computation when its tile is there. */
    function schedule(stages) {
        const tiles = [];
        for (let k = 0; ; ++k) {
            const issued = k < stages ? 0 : tiles[k - stages].computed, landed = issued + state.copy;
            const begun = Math.max(landed, k ? tiles[k - 1].computed : 0);
            if (issued >= UNITS) return tiles;
            tiles.push({ tile: k, stage: k % stages, issued, landed, begun, computed: begun + state.compute });
        }
    }
    /** The part of the time, in the long run, in which the threads compute. */
    const share = (stages) => Math.min(1, stages * state.compute / (state.copy + state.compute));
    const done = (stages) => schedule(stages).filter(({ computed }) => computed <= UNITS).length;

    function timeLine(svg) {
        const unit = (width - LEFT - 4) / UNITS, x = (time) => LEFT + Math.min(time, UNITS) * unit;
        const stages = answer === null ? 1 : state.stages;
        const bar = (from, to, y, kind, text) => {
            if (from >= UNITS) return;
            svg.append(make("rect", { x: x(from), y, width: x(to) - x(from), height: LANE - 4, class: kind }));
            if (x(to) - x(from) > 8 * String(text).length + 2)
                svg.append(make("text", { x: (x(from) + x(to)) / 2, y: y + 12, "text-anchor": "middle", text }));
        };
        const threads = TOP, line = (stage) => TOP + (stage + 1) * LANE + 6;
        for (let stage = 0; stage < stages; ++stage)
            svg.append(make("text", { x: LEFT - 6, y: line(stage) + 12, "text-anchor": "end", class: "faint", text: `stage ${stage}` }));
        svg.append(make("text", { x: LEFT - 6, y: threads + 12, "text-anchor": "end", class: "faint", text: "threads" }));
        let before = 0;
        for (const { tile, stage, issued, landed, begun, computed } of schedule(stages)) {
            bar(issued, landed, line(stage), "copy", `copy ${tile}`);
            bar(begun, computed, line(stage), "compute", tile);
            if (begun > before) bar(before, begun, threads, "wait thread", "wait");
            bar(begun, computed, threads, "compute thread", tile);
            before = computed;
        }
        for (const time of width < 560 ? [0, 8, 16, 32] : [0, 8, 16, 24, 32])
            svg.append(make("text", { x: x(time), y: line(MOST) + 10, "text-anchor": time === UNITS ? "end" : "middle", class: "faint", text: time === UNITS ? `${time} units of time` : time }));
    }

    function chart(svg) {
        const top = TOP + (MOST + 2) * LANE + 36, bottom = top + CHART - 40, cell = (width - LEFT - 4) / MOST;
        const x = (stages) => LEFT + (stages - 0.5) * cell, y = (part) => bottom - part * (bottom - top);
        svg.append(make("text", { x: 0, y: top - 10, class: "faint", text: "share of the time in which the threads compute" }));
        for (const part of [0, 0.5, 1])
            svg.append(make("line", { x1: LEFT, x2: width - 4, y1: y(part), y2: y(part), class: "grid" }),
                make("text", { x: LEFT - 6, y: y(part) + 4, "text-anchor": "end", class: "faint", text: `${100 * part} %` }));
        for (const stages of numbers(1, MOST)) {
            svg.append(make("text", { x: x(stages), y: bottom + 16, "text-anchor": "middle", class: "faint", text: stages }));
            if (answer === null) continue;
            svg.append(make("rect", {
                x: x(stages) - 0.3 * cell, y: y(share(stages)), width: 0.6 * cell, height: bottom - y(share(stages)), "data-share": share(stages),
                class: `model ${stages === state.stages ? "compute chosen" : "compute"}`,
            }));
        }
        svg.append(make("text", { x: width - 4, y: bottom + 32, "text-anchor": "end", class: "faint", text: "stages" }));
        if (answer === null) return;
        const knee = LEFT + (0.5 + state.copy / state.compute) * cell; // Where 1 + L/C is on the axis.
        svg.append(make("line", { x1: knee, x2: knee, y1: top - 4, y2: bottom, class: "law" }));
        svg.append(make("text", { x: Math.min(knee + 4, width - 70), y: bottom + 32, "text-anchor": "middle", class: "knee", text: "1 + L/C" }));
        if (state.measured < 0) return;
        const { points } = data.measured[state.measured], best = Math.max(...points.map(([, rate]) => rate));
        for (const [stages, rate] of points)
            svg.append(make("rect", { x: x(stages) - 6, y: y(rate / best) - 6, width: 12, height: 12, rx: 6, class: "wait chosen point", "data-share": rate / best }));
    }

    function draw() {
        const svg = make("svg", {
            viewBox: `0 0 ${width} ${TOP + (MOST + 2) * LANE + 36 + CHART}`, role: "img",
            "aria-label": "Above a time line of copies and computations, below the share of computing for 1 to 8 stages; the text below says the same",
        });
        timeLine(svg);
        chart(svg);
        drawing.replaceChildren(svg);
    }

    function words() {
        const given = `Model: a copy takes ${state.copy}, a computation ${state.compute}.`;
        if (answer === null) return `${given} With one stage ${plural(done(1), "tile")} are done after ${UNITS} units.`;
        const told = answer === undefined ? "" : Number(answer) === enough() ? " You said so." : ` You said ${answer}.`;
        const count = plural(state.stages, "stage");
        return `${given} 1 + L/C is ${Number((1 + state.copy / state.compute).toFixed(2))}: ${plural(enough(), "stage")} are enough.${told} With ${count} ${done(state.stages)} tiles are done after ${UNITS} units, ` +
            `and in the long run the threads compute ${Math.round(100 * share(state.stages))} % of the time.${overlay()}`;
    }

    function overlay() {
        if (state.measured < 0) return "";
        const { points } = data.measured[state.measured], best = Math.max(...points.map(([, rate]) => rate));
        return ` An H200 with one block on each SM, of its best rate: ${points.map(([stages, rate]) => `${Math.round(100 * rate / best)} % with ${stages}`).join(", ")}.`;
    }

    const show = () => { if (width) draw(); said.textContent = words(); };
    const ask = question("From how many stages on do the threads no longer wait, once the first copy has landed?", numbers(1, MOST).map(String), (given) => { answer = given; show(); });
    const pick = (name) => (value) => {
        state[name] = Number(value);
        if (name === "copy" || name === "compute") ask.again();
        else show();
    };
    const selects = {
        copy: choice("Copy L", numbers(1, 7).map((n) => [n, n]), pick("copy")),
        compute: choice("Computation C", numbers(1, 4).map((n) => [n, n]), pick("compute")),
        stages: choice("Stages", numbers(1, MOST).map((n) => [n, n]), pick("stages")),
        measured: choice("H200", [[-1, "not shown"], ...data.measured.map(({ work }, n) => [n, plural(work, "multiply-add")])], pick("measured")),
    };
    for (const [name, node] of Object.entries(selects)) node.querySelector("select").value = state[name];

    box.append(
        make("div", { class: "controls" }, ...Object.values(selects)), ask.node, drawing, said,
        make("p", {
            class: "help",
            text: "Bars: a model in which any number of copies may be under way; every setting is drawn to the same scale. Dots: an H200 with n_stages, " +
                "a kernel that the chapter comes to later, against the best of its own rates. Choose L and C so that the bars meet the dots.",
        }));
    ask.again();
    fitted(drawing, (room) => { width = room; draw(); });
    state.measured = 0;
    const longest = overlay();
    state.measured = -1;
    reserveWords(said, [`Model: a copy takes 3, a computation 1. 1 + L/C is 2.33: 4 stages are enough. You said 2. With 2 stages 15 tiles are done after 32 units, and in the long run the threads compute 50 % of the time.${longest}`]);
});
