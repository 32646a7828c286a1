// Little's law and what an H200 reached: the rate of a kernel that only reads, against the bytes that it has in flight.
"use strict";

Pictures.start("little", "Rates of reading: Little's law, your expectation and an H200's measurement", (data, box) => {
    const { make, choice, fitted, question, readout, reserveWords, plural } = Pictures;
    const HEIGHT = 300, LEFT = 52, RIGHT = 12, TOP = 12, BOTTOM = 40, X = [100, 200000], Y = [30, 8000];
    const state = { threads_per_sm: 1024, load_bytes: 16, loads: 1 };
    const drawing = make("div", { class: "drawing" }), said = readout(), seen = new Set();
    let answer = null, width = 0;

    const number = (value) => Math.round(value).toLocaleString("en-GB");
    const values = (name, fits = () => true) => [...new Set(data.points.filter(fits).map((point) => point[name]))].sort((a, b) => a - b);
    const chosen = () => data.points.find((point) => Object.keys(state).every((name) => point[name] === state[name]));
    /** Bytes per nanosecond are GB/s. */
    const law = (bytes) => bytes * data.sms / data.latency_ns;
    const size = (bytes) => bytes < 1024 ? `${bytes} B` : `${bytes / 1024} KiB`;
    const on = (value, [low, high], from, to) => from + Math.log(value / low) / Math.log(high / low) * (to - from);
    const x = (bytes) => on(bytes, X, LEFT, width - RIGHT);
    const y = (rate) => on(Math.min(Math.max(rate, Y[0]), Y[1]), Y, HEIGHT - BOTTOM, TOP);

    function dot(point, kind) {
        const half = kind === "now" ? 7 : 4;
        return make("rect", {
            x: x(point.in_flight) - half, y: y(point.gb_per_s) - half, width: 2 * half, height: 2 * half,
            rx: point.load_bytes === 4 ? 0 : half, class: kind === "now" ? "compute chosen point" : "copy point",
        });
    }

    function draw() {
        const svg = make("svg", {
            viewBox: `0 0 ${width} ${HEIGHT}`, role: "img",
            "aria-label": "Rate against bytes in flight on each SM, both on logarithmic scales; the text below says the same",
        });
        for (const rate of [50, 100, 200, 500, 1000, 2000, 5000])
            svg.append(make("line", { x1: LEFT, x2: width - RIGHT, y1: y(rate), y2: y(rate), class: "grid" }),
                make("text", { x: LEFT - 6, y: y(rate) + 4, "text-anchor": "end", class: "faint", text: number(rate) }));
        for (const bytes of width < 560 ? [128, 1024, 8192, 65536] : [128, 1024, 8192, 32768, 131072])
            svg.append(make("line", { x1: x(bytes), x2: x(bytes), y1: TOP, y2: HEIGHT - BOTTOM, class: "grid" }),
                make("text", { x: x(bytes), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle", class: "faint", text: size(bytes) }));
        svg.append(make("text", { x: LEFT, y: HEIGHT - 6, class: "faint", text: "in flight on each SM →" }),
            make("text", { x: LEFT + 6, y: TOP + 12, class: "faint", text: "GB/s read" }));
        const meets = data.peak * data.latency_ns / data.sms;
        svg.append(make("path", { class: "law", d: `M${x(X[0])} ${y(law(X[0]))} L${x(meets)} ${y(data.peak)} L${width - RIGHT} ${y(data.peak)}` }),
            make("text", { x: x(700) - 8, y: y(law(700)) - 8, "text-anchor": "end", text: "law" }),
            make("text", { x: width - RIGHT, y: y(data.peak) - 6, "text-anchor": "end", text: `data sheet: ${number(data.peak)}` }));
        const all = answer === undefined ? data.points : data.points.filter((point) => seen.has(point));
        svg.append(...all.map((point) => dot(point, "before")));
        const point = chosen(), at = x(point.in_flight);
        if (answer === null) svg.append(make("line", { x1: at, x2: at, y1: TOP, y2: HEIGHT - BOTTOM, class: "law" }));
        else svg.append(dot(point, "now"));
        if (answer > 0) svg.append(make("path", { class: "guess", d: `M${at - 7} ${y(answer) - 7} l14 14 m0 -14 l-14 14` }));
        drawing.replaceChildren(svg);
    }

    function words() {
        const { threads_per_sm, loads, load_bytes, in_flight, gb_per_s } = chosen();
        const flight = `${number(threads_per_sm)} threads with ${plural(loads, "load")} of ${load_bytes} bytes: ${number(in_flight)} bytes in flight on each SM, at most.`;
        if (answer === null) return flight;
        const told = answer === undefined ? "" : ` You said ${number(answer)}.`;
        const bound = law(in_flight) > data.peak ? `, more than the ${number(data.peak)} of the data sheet` : "";
        return `${flight} The law, with ${number(data.latency_ns)} ns for a load from an idle memory: ${number(law(in_flight))} GB/s${bound}. ` +
            `Measured: ${number(gb_per_s)} GB/s, ${Math.round(100 * gb_per_s / Math.min(law(in_flight), data.peak))} % of what both allow.${told}`;
    }

    function show() {
        if (answer !== null) seen.add(chosen());
        if (width) draw();
        said.textContent = words();
    }

    const ask = question("At what rate does this kernel read on an H200, in GB/s?", null, (given) => { answer = given; show(); });
    const selects = {
        threads_per_sm: choice("Threads on an SM", values("threads_per_sm").map((n) => [n, number(n)]), (value) => set({ threads_per_sm: Number(value) })),
        load_bytes: choice("A load", values("load_bytes").map((n) => [n, `${n} bytes`]), (value) => set({ load_bytes: Number(value) })),
        loads: choice("Loads of a thread", values("loads").map((n) => [n, n]), (value) => set({ loads: Number(value) })),
    };
    /** What was not measured cannot be chosen. */
    function set(changes) {
        Object.assign(state, changes);
        const measured = values("loads", (point) => point.load_bytes === state.load_bytes);
        if (!measured.includes(state.loads)) state.loads = measured[0];
        for (const option of selects.loads.querySelectorAll("option")) option.disabled = !measured.includes(Number(option.value));
        for (const [name, node] of Object.entries(selects)) node.querySelector("select").value = state[name];
        ask.again();
    }

    box.append(
        make("div", { class: "controls" }, ...Object.values(selects)), ask.node, drawing, said,
        make("p", {
            class: "help",
            text: "Points: measured on an H200, square where a load has 4 bytes, round where it has 16. Cross: your answer. Dashed: Little's law, a model, " +
                "up to the rate of the data sheet. Points that you have seen stay.",
        }));
    set({});
    fitted(drawing, (room) => { width = room; draw(); });
    reserveWords(said, ["2,048 threads with 4 loads of 16 bytes: 131,072 bytes in flight on each SM, at most. The law, with 338 ns for a load from an idle memory: 51,121 GB/s, more than the 4,800 of the data sheet. Measured: 4,261 GB/s, 89 % of what both allow. You said 10,000."]);
});
