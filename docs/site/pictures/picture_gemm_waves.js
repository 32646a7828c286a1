// Wave quantisation: tiles over the SMs, what the last wave leaves idle, and whether that explains what was measured.
"use strict";

Pictures.start("gemm_waves", "Tiles, waves, and what the last wave leaves idle", (data, box) => {
    const { make, choice, ask, readout, reserveWords } = Pictures;
    const TILES = { "128 x 256": [128, 256], "256 x 256": [256, 256] };
    const others = ["4352 x 4352 x 4096", "2304 x 2304 x 4096", "1024 x 1024 x 4096"]; // Not measured: they fill their last wave badly.
    const extents = [...data.sizes.map(({ extent }) => extent), ...others];
    const state = { extent: data.sizes[1].extent, tile: "128 x 256" };
    const asked = make("div"), drawing = make("div", { class: "waves" }), said = readout();
    let answer = null;

    function count({ extent, tile } = state) {
        const [m, n] = extent.split(" x ").map(Number), [rows, columns] = TILES[tile], tiles = Math.ceil(m / rows) * Math.ceil(n / columns);
        const waves = Math.ceil(tiles / data.sms);
        return { tiles, waves, last: tiles - (waves - 1) * data.sms, busy: 100 * tiles / (waves * data.sms) };
    }

    function draw() {
        const { waves, last } = count(), shown = waves === 1 ? [] : [[waves === 2 ? "wave 1" : `waves 1 to ${waves - 1}`, data.sms]];
        drawing.replaceChildren(...[...shown, [`wave ${waves}`, last]].map(([name, used]) => {
            const fill = make("span", { class: "filled" });
            fill.style.width = answer === null ? "0" : `${100 * used / data.sms}%`;
            return make("div", { class: "wave" }, make("span", { text: answer === null ? "?" : name }), make("span", { class: "track" }, fill),
                make("span", { class: "value", text: answer === null ? "?" : `${used} of ${data.sms} SMs` }));
        }));
    }

    function words(given, now = state) {
        const { tiles, waves, last, busy } = count(now), start = `${now.extent} in tiles of ${now.tile}: ${tiles} tiles of the result, for ${data.sms} SMs.`;
        if (given === null) return start;
        const right = Math.round(busy), verdict = given === undefined ? "" : Math.round(given) === right ? " That is what you said." : ` You said ${given} %.`;
        const measured = data.sizes.find(({ extent }) => extent === now.extent);
        const told = measured ? ` Measured, with pauses: rung 12 ${measured.overlapped} TFLOP/s, cuBLAS ${measured.cuBLAS}.` : " This size has not been measured.";
        return `${start} ${waves === 1 ? "One wave" : `${waves} waves`}, the last with ${last}: at most ${busy.toFixed(1)} % of the SMs' time can be used.${verdict}${told}`;
    }

    function set(changes) {
        Object.assign(state, changes);
        ask(asked, "What share of the SMs' time can be used at most, in per cent?", null, (given) => {
            answer = given;
            draw();
            said.textContent = words(given);
        });
    }

    const sizes = choice("m x n x k", extents.map((each) => [each, each]), (value) => set({ extent: value }));
    sizes.querySelector("select").value = state.extent;
    box.append(
        make("div", { class: "controls" }, sizes, choice("Tile", Object.keys(TILES).map((each) => [each, each]), (value) => set({ tile: value }))), asked, said, drawing,
        make("p", { class: "help", text: "A model: all tiles take equally long, and one runs on each SM. Rung 12 has tiles of 128 x 256. Figures in TFLOP/s are an H200's." }));
    set({});
    reserveWords(said, extents.flatMap((extent) => Object.keys(TILES).map((tile) => words(100, { extent, tile }))));
});
