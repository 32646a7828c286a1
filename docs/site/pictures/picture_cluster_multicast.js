// A multicast: which blocks the mask names, which of them announce the bytes and wait, and what the emulator then sees.
"use strict";

Pictures.start("cluster_multicast", "A multicast to the blocks of a cluster", (data, box) => {
    const { make, button, ask, readout, reserveWords, plural } = Pictures;
    const ENDS = { none: "every block gets what it waits for", deadlock: "a block waits for ever", "tx-count-mismatch": "bytes come that nobody announced" };
    const state = { mask: 0b0111, armed: 0b0011 };
    const asked = make("div"), cards = make("div", { class: "cards" }), said = readout();
    let answer = null;

    const found = ({ mask, armed }) => data.cases[mask << data.blocks | armed];
    const ending = (now) => ENDS[found(now).found[0] ?? "none"];
    const both = ({ mask, armed }) => (armed & ~mask) !== 0 && (mask & ~armed) !== 0; // Then two mistakes are true, and one is found first.
    const bits = (mask) => `0b${mask.toString(2).padStart(data.blocks, "0")}`;
    const ranks = Array.from({ length: data.blocks }, (_, rank) => rank);

    function facts(rank) {
        const [announced, arrived, complete, observed] = found(state).blocks[rank];
        return [`announced: ${announced} B`, `arrived: ${arrived} B`,
            complete ? "✓ phase complete" : announced ? "✗ not complete" : "– no phase begun", observed ? "✓ went on" : announced ? "✗ still waits" : "– does not wait"];
    }

    function draw() {
        const shown = answer !== null, focused = cards.contains(document.activeElement) && document.activeElement.getAttribute("aria-label");
        cards.replaceChildren(...ranks.map((rank) => {
            const toggle = (name, text) => {
                const on = (state[name] >> rank & 1) === 1;
                const node = button(`${on ? "☑" : "☐"} ${text}`, () => set(name, rank), `block ${rank}: ${text}`);
                node.setAttribute("aria-pressed", String(on));
                return node;
            };
            return make("div", { class: "card" }, make("strong", { text: `rank ${rank}${rank === 0 ? ", issues the copy" : ""}` }),
                toggle("mask", "in the mask"), toggle("armed", "announces, waits"),
                ...(shown ? facts(rank) : ["announced: ?", "arrived: ?", "?", "?"]).map((text) => make("span", { text })));
        }));
        if (focused) cards.querySelector(`[aria-label="${focused}"]`)?.focus();
    }

    function words(given, now = state) {
        const { mask, armed } = now, copies = ranks.filter((rank) => mask >> rank & 1).length;
        const start = `The mask is ${bits(mask)}: bit i stands for the block with rank i. `;
        if (given === null) return `${start}One thread of rank 0 issues one copy of ${data.bytes} bytes.`;
        const verdict = given === undefined ? "" : given === ending(now) ? " That is what you said."
            : ` You said: ${given}.${both(now) && given !== ENDS.none ? " That is true too; the emulator stops at the first mistake it finds." : ""}`;
        const names = (wanted) => ranks.filter((rank) => wanted >> rank & 1).join(" and ");
        const why = found(now).found.length
            ? `${armed & ~mask ? ` Announced, but not in the mask: rank ${names(armed & ~mask)}.` : ""}${mask & ~armed ? ` In the mask, but not announced: rank ${names(mask & ~armed)}.` : ""}`
            : copies ? ` L2 was asked for ${found(now).read} bytes, and ${plural(copies, "block")} got ${data.bytes} each.` : " Nothing was copied.";
        const name = found(now).found[0] ? ` (the emulator: ${found(now).found[0]})` : "";
        return `${start}The end: ${ending(now)}${name}.${verdict}${why}`;
    }

    function set(name, rank) {
        if (name) state[name] ^= 1 << rank;
        ask(asked, "How does it end?", Object.values(ENDS), (given) => {
            answer = given;
            draw();
            said.textContent = words(given);
        });
    }

    box.append(asked, cards, said, make("p", {
        class: "help", text: "Recorded by the emulator, one launch for each choice of the eight boxes. It stops at the first mistake, so bytes that were still under way are not counted.",
    }));
    set();
    reserveWords(said, data.cases.map((_, number) => words(ENDS["tx-count-mismatch"], { mask: number >> data.blocks, armed: number & (1 << data.blocks) - 1 })));
});
