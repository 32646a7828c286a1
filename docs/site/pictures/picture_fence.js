// A value handed from one thread to another: all orders that fences, a flag or a barrier leave, and what the reader gets in each.
"use strict";

Pictures.start("fence", "Fence or barrier: the orders in which a hand-over may happen", (data, box) => {
    const { make, choice, fitted, question, readout, reserveWords, plural } = Pictures;
    const CODE = 92, ROW = 26, MOST = 12;
    const steps = ["value = 1", "flag = 1", "read flag", "read value"]; // The first two are the writer's.
    const state = { number: 0 };
    const drawing = make("div", { class: "drawing" }), said = readout();
    let answer = null, width = 0;

    const now = () => data.cases[state.number];

    /** Pairs of steps of which the first comes before the second. */
    function rules({ writer, reader, wait }) {
        const found = [];
        if (writer) found.push([0, 1]);
        if (reader) found.push([2, 3]);
        if (wait === "flag") found.push([1, 2]);
        if (wait === "barrier") found.push([0, 2], [0, 3], [1, 2], [1, 3]);
        return found;
    }
    const permutations = (list) => list.length < 2 ? [list] : list.flatMap((first) => permutations(list.filter((each) => each !== first)).map((rest) => [first, ...rest]));
    const orders = () => permutations([0, 1, 2, 3]).filter((order) => rules(now()).every(([one, other]) => order.indexOf(one) < order.indexOf(other)));
    const old = (order) => order.indexOf(3) < order.indexOf(0);

    /** What the two threads do, line by line. */
    function code() {
        const { writer, reader, wait } = now(), barrier = wait === "barrier" ? ["__syncthreads()"] : [];
        return [["writer:", "value = 1", ...(writer ? ["fence"] : []), "flag = 1", ...barrier],
            ["reader:", ...barrier, wait === "flag" ? "read flag until 1" : "read flag", ...(reader ? ["fence"] : []), "read value"]];
    }

    function draw() {
        const columns = width < 560 ? 1 : 2, rows = MOST / columns, column = Math.min(width / columns, 400);
        const svg = make("svg", {
            viewBox: `0 0 ${width} ${CODE + rows * ROW + 4}`, role: "img",
            "aria-label": "What the two threads do, and below it the possible orders of their four accesses; the text below says how many",
        });
        code().forEach((lines, thread) => lines.forEach((text, line) => svg.append(make("text", {
            x: 4 + thread * Math.min(width / 2, 200), y: 16 + 17 * line, class: line ? "code" : "faint", text,
        }))));
        if (answer !== null) orders().forEach((order, n) => {
            const x = Math.floor(n / rows) * column, y = CODE + n % rows * ROW, cell = (Math.min(column, 380) - 44) / 4;
            order.forEach((step, place) => {
                const reads = step > 1;
                svg.append(make("rect", { x: x + 2 + place * cell, y, width: cell - 4, height: ROW - 5, class: reads ? "" : "copy", ...(reads ? { "stroke-dasharray": "4 3" } : {}) }),
                    make("text", { x: x + place * cell + cell / 2, y: y + 15, "text-anchor": "middle", text: steps[step] }));
            });
            svg.append(make("text", { x: x + 4 * cell + 6, y: y + 15, class: `result ${old(order) ? "end" : "faint"}`, text: old(order) ? "OLD" : "new" }));
        });
        drawing.replaceChildren(svg);
    }

    function words() {
        if (answer === null) return "The value was 0 before, and the flag was 0.";
        const all = orders(), bad = all.filter(old).length, found = now().found;
        const told = answer === undefined ? "" : (answer === "yes") === (bad > 0) ? " You said so." : ` You said ${answer}.`;
        return `${plural(all.length, "order")} can happen${bad ? `, and in ${bad} of them the reader gets the old value` : ", and the reader gets the new value in each"}.${told} ` +
            `The emulator ${found.length ? `reports ${found.join(", ")}` : "has nothing to report"}.`;
    }

    const show = () => { if (width) draw(); said.textContent = words(); };
    const ask = question("Can the reader still get the old value?", ["yes", "no"], (given) => { answer = given; show(); });
    box.append(
        make("div", { class: "controls" }, choice("Hand-over", data.cases.map(({ name }, n) => [n, name]), (value) => { state.number = Number(value); ask.again(); })),
        ask.node, drawing, said,
        make("p", {
            class: "help",
            text: "Each row is an order in which the four accesses may take effect, first to last: solid the writer's, dashed the reader's. A model: a thread's accesses to different " +
                "places keep no order without a fence. What the emulator reports is what it found when it ran the hand-over.",
        }));
    ask.again();
    fitted(drawing, (room) => { width = room; draw(); });
    reserveWords(said, ["12 orders can happen, and the reader gets the new value in each. You said yes. The emulator reports race-shared, or nothing."]);
});
