// A bulk store, a wait, and what comes after it: which wait is enough?
"use strict";

Pictures.start("store_waits", "What a wait for a bulk store allows", (data, box) => {
    const { make, choice, question, readout, reserve, reserveWords } = Pictures;
    const WAITS = ["no wait", "cp_async_bulk_wait_group_read(n32_t<0>())", "cp_async_bulk_wait_group(n32_t<0>())"];
    const SHORT = ["no wait is needed", "wait_group.read", "wait_group"];
    const USES = ["thread 0 overwrites the tile", "the threads meet and overwrite the tile", "thread 0 reads the result in global memory", "the block ends"];
    const said = readout(), body = make("tbody");
    let answer = null, use = 0;

    const of = (which) => data.variants.filter((each) => each.use === which);
    /** The weakest wait with which the emulator finds nothing. */
    const least = (which) => Math.min(...of(which).filter((each) => each.found === null).map((each) => each.wait));

    function words(which, given) {
        if (given === null) return "Thread 0 stores the tile, commits the group, and goes on.";
        const verdict = given === undefined ? "" : given === SHORT[least(which)] ? " You said so." : ` You said: ${given}.`;
        const last = of(which).filter((each) => each.found).at(-1);
        return `Before ${USES[which]}, the weakest wait that the emulator accepts is ${SHORT[least(which)]}.${verdict} With ${last.wait ? SHORT[last.wait] : "none"} it says ${last.found.name}: ${last.found.message}`;
    }

    function fill(which, given) {
        body.replaceChildren(...of(which).map(({ wait, found }) => {
            const reply = given === null ? "?" : found ? `✗ ${found.name}` : "✓ nothing found";
            return make("tr", { class: given !== null && wait === least(which) ? "done" : "" }, make("td", {}, make("code", { text: WAITS[wait] })), make("td", { class: "reply", text: reply }));
        }));
    }

    function show() {
        fill(use, answer);
        said.textContent = words(use, answer);
    }

    const ask = question(`Which is the weakest wait that is enough?`, SHORT, (given) => { answer = given; show(); });
    const table = make("table", {}, make("thead", {}, make("tr", {}, ...["between the store and that", "the emulator"].map((text) => make("th", { scope: "col", text })))), body);
    const drawing = make("div", { class: "drawing" }, table);
    box.append(
        make("div", { class: "controls" }, choice("After the store", USES.map((text, n) => [n, text]), (value) => { use = Number(value); ask.again(); })),
        ask.node, drawing, said,
        make("p", { class: "help", text: "Each line is a kernel that ran on the emulator. The tile was written by threads, with a proxy fence and a barrier before the store." }));
    ask.again();
    reserve(drawing, USES, (name) => (name === null ? show() : fill(USES.indexOf(name), undefined)));
    reserveWords(said, USES.flatMap((_, which) => SHORT.map((given) => words(which, given))));
});
