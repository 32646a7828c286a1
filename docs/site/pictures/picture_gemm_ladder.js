// The ladder, rung by rung: what does the next idea gain? Shares of cuBLAS that an H200 measured.
"use strict";

Pictures.start("gemm_ladder", "The share of cuBLAS's speed that each rung reaches", (data, box) => {
    const { make, button, choice, ask, readout, reserveWords, clamp } = Pictures;
    const paces = Object.keys(data.shares), extents = Object.keys(data.shares[paces[0]]), names = data.rungs.map(({ name }) => name);
    const state = { pace: paces.includes("with pauses") ? "with pauses" : paces[0], extent: extents[1] || extents[0], rung: 4 }; // The chapter's table has the first extent.
    const asked = make("div"), list = make("ul", { class: "rows" }), said = readout();
    let answer = null;

    const share = (name, { pace, extent } = state) => data.shares[pace][extent][name];
    const percent = (value) => value === undefined ? "not measured" : `${value.toFixed(1)} %`;
    const most = Math.max(100, ...paces.flatMap((pace) => extents.flatMap((extent) => Object.values(data.shares[pace][extent]))));

    function draw() {
        list.replaceChildren(...data.rungs.map(({ name, about }, number) => {
            const known = number < state.rung || (number === state.rung && answer !== null), value = share(name), track = make("span", { class: "track" });
            if (known && value !== undefined) {
                const bar = make("span", { class: number === state.rung ? "filled now" : "filled" });
                bar.style.width = `${100 * value / most}%`;
                track.append(bar);
            }
            const mark = make("span", { class: "whole" });
            mark.style.left = `${100 * 100 / most}%`;
            track.append(mark);
            return make("li", { class: number === state.rung ? "chosen" : "" }, make("span", { class: "name" }, `${number + 1} ${name}`, make("small", { text: about })), track,
                make("span", { class: "value", text: number > state.rung ? "" : !known ? "?" : value === undefined ? "–" : percent(value) }));
        }));
    }

    function words(given, now = state) {
        const { name, about } = data.rungs[now.rung], before = names[now.rung - 1], value = share(name, now), last = share(before, now);
        if (given === null) return `Before it ${before} has ${percent(last)}. ${name}: ${about}.`;
        if (value === undefined || last === undefined) return `${name} has ${percent(value)}, ${before} has ${percent(last)}: the first two rungs take seconds, and were measured without pauses.`;
        const gain = value - last, verdict = given === undefined ? "" : ` You said ${given} %.`;
        const counted = data.busy[name] === undefined ? "" : ` At ${data.counted_at} Nsight Compute sees its tensor cores busy for ${data.busy[name]} % of the cycles` +
            `${data.dram[name] === undefined ? "." : `, and ${data.dram[name]} GB read from DRAM.`}`;
        return `${name} has ${percent(value)}, ${Math.abs(gain).toFixed(1)} points ${gain < 0 ? "less" : "more"} than ${before}.${verdict}${counted}`;
    }

    function set(changes) {
        Object.assign(state, changes);
        state.rung = clamp(state.rung, 1, names.length - 1);
        ask(asked, `How many per cent of cuBLAS's speed does rung ${state.rung + 1}, ${names[state.rung]}, have?`, null, (given) => {
            answer = given;
            draw();
            said.textContent = words(given);
        });
    }

    const pace = choice("Bursts", paces.map((each) => [each, each]), (value) => set({ pace: value }));
    const extent = choice("m x n x k", extents.map((each) => [each, each]), (value) => set({ extent: value }));
    pace.querySelector("select").value = state.pace;
    extent.querySelector("select").value = state.extent;
    box.append(
        make("div", { class: "controls" }, extent, pace,
            button("Rung below", () => set({ rung: state.rung - 1 })), button("Next rung", () => set({ rung: state.rung + 1 }))),
        asked, list, said,
        make("p", { class: "help", text: "Measured on an H200, in turns with cuBLAS; the line is cuBLAS. –: not measured; the first two rungs only without pauses. Without pauses quartiles may lie 15 % apart." }));
    set({});
    reserveWords(said, names.slice(1).map((_, rung) => words(100, { ...state, pace: paces[0], rung: rung + 1 })));
});
