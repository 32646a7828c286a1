// An address in the shared memory of another block of the cluster: what mapa makes of a variable and a rank.
"use strict";

Pictures.start("cluster_window", "Addresses in the shared memory of a cluster's blocks", (data, box) => {
    const { make, choice, ask, readout, reserveWords } = Pictures;
    const PART = 2 ** 24; // Bytes that a block's part of the window has; a test compares it with what mapa gave.
    const places = [["tile[0]", 0, 0], ["tile[5]", 0, 5], [`tile[${data.tile_size - 1}]`, 0, data.tile_size - 1], ["sum", 1, 0]];
    const state = { by: 1, rank: 3, place: 1 };
    const asked = make("div"), cards = make("div", { class: "cards" }), said = readout();
    let answer = null;

    const hex = (address) => `0x${address.toString(16).padStart(7, "0")}`;
    /** The address that block `by` gets for the chosen variable in block `rank`. */
    function mapped(rank, { by, place } = state) {
        const [, variable, element] = places[place];
        return data.blocks[by].mapped[rank][variable] + 4 * element;
    }

    function draw() {
        cards.replaceChildren(...data.blocks.map((_, rank) => make("div", { class: answer !== null && rank === state.rank ? "card chosen" : "card" },
            make("strong", { text: `rank ${rank}${rank === state.by ? ", asks" : ""}` }),
            make("span", { text: "its part begins at" }), make("span", { class: "mono", text: answer === null ? "?" : hex(rank * PART) }),
            make("span", { text: `${places[state.place][0]} is at` }),
            make("span", { class: "mono", text: answer === null ? "?" : hex(mapped(rank)) }))));
    }

    function words(given, now = state) {
        const name = places[now.place][0];
        if (given === null) return `All blocks run the same kernel, so ${name} has the same offset in each block's part of the window.`;
        const address = mapped(now.rank, now), right = hex(address);
        const verdict = given === undefined ? "" : given === right ? " That is what you said." : ` You said ${given}.`;
        return `mapa gives ${right}: ${now.rank} times 2²⁴, and the offset 0x${(address % PART).toString(16)}.${verdict} ` +
            `Asked whose address that is, query_shared_rank says ${data.blocks[now.by].rank[now.rank]}. Whichever block asks, the address is the same.`;
    }

    function set(name, value) {
        state[name] = Number(value);
        ask(asked, `Block ${state.by} calls map_shared_rank(&${places[state.place][0]}, ${state.rank}). What does it get?`,
            data.blocks.map((_, rank) => hex(mapped(rank))), (given) => {
                answer = given;
                draw();
                said.textContent = words(given);
            });
    }

    const ranks = data.blocks.map((_, rank) => [rank, `rank ${rank}`]);
    const selects = [choice("Asked by", ranks, (value) => set("by", value)), choice("of the block with", ranks, (value) => set("rank", value)),
        choice("for", places.map(([name], number) => [number, name]), (value) => set("place", value))];
    ["by", "rank", "place"].forEach((name, number) => { selects[number].querySelector("select").value = state[name]; });
    box.append(make("div", { class: "controls" }, ...selects), asked, cards, said, make("p", {
        class: "help", text: "Addresses are those that a kernel printed on the emulator; an H200 makes them the same way. Not drawn to scale: " +
            "of the 16 MiB of its part a block can fill at most 227 KiB.",
    }));
    set("by", state.by);
    reserveWords(said, places.flatMap((_, place) => ranks.map(([rank]) => words(hex(0), { by: 0, rank, place }))));
});
