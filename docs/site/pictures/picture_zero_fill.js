// The tail of an array with cp.async: how many bytes of its 16 each thread asks for, and what the rest of the tile becomes.
"use strict";

Pictures.start("zero_fill", "The tail of an array: source sizes and zeros", (data, box) => {
    const { make, choice, fitted, question, readout, reserveWords } = Pictures;
    const HEIGHT = 96, count = data.threads * data.chunk, bytes = 16;
    const state = { left: 9, thread: 2 };
    const drawing = make("div", { class: "drawing" }), said = readout();
    let answer = null, width = 0;

    const tile = () => data.tiles[state.left];
    const zeros = (thread) => tile().slice(thread * data.chunk, (thread + 1) * data.chunk).filter((value) => value === 0).length;
    const size = (thread) => bytes - 4 * zeros(thread);

    function draw() {
        const svg = make("svg", {
            viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": "The array's floats above, the tile below; the text below says the same",
        });
        const left = 44, cell = Math.min(40, (width - left - 2) / count);
        svg.append(make("text", { x: left - 6, y: 40, "text-anchor": "end", class: "faint", text: "array" }),
            make("text", { x: left - 6, y: 70, "text-anchor": "end", class: "faint", text: "tile" }));
        for (let thread = 0; thread < data.threads; ++thread) {
            const x = left + thread * data.chunk * cell;
            svg.append(make("text", { x: x + 2 * cell, y: 14, "text-anchor": "middle", class: "faint", text: width < 560 ? thread : `thread ${thread}` }));
            if (answer !== null) svg.append(make("text", { x: x + 2 * cell, y: 92, "text-anchor": "middle", class: "result", text: width < 560 ? size(thread) : `${size(thread)} bytes` }));
        }
        for (let at = 0; at < count; ++at) {
            const x = left + at * cell, gap = at % data.chunk === 0 ? 3 : 1, value = answer === null ? "?" : tile()[at];
            const cellOf = (y, kind, text) => [
                make("rect", { x: x + gap, y, width: cell - 1 - gap, height: 22, class: kind, ...(kind === "empty" ? { "stroke-dasharray": "4 3" } : {}) }),
                make("text", { x: x + cell / 2 + 1, y: y + 16, "text-anchor": "middle", text })];
            svg.append(...cellOf(24, at < state.left ? "copy" : "empty", at < state.left ? at + 1 : ""));
            svg.append(...cellOf(54, answer === null ? "" : value === 0 ? "wait" : "copy", value));
        }
        svg.append(make("rect", { x: left + state.thread * data.chunk * cell + 1, y: 20, width: data.chunk * cell, height: 60, class: "empty chosen" }));
        drawing.replaceChildren(svg);
    }

    function words() {
        const where = `The array has ${state.left} ${state.left === 1 ? "float" : "floats"} left. Thread ${state.thread} copies to the floats ${data.chunk * state.thread} to ${data.chunk * state.thread + data.chunk - 1} of the tile.`;
        if (answer === null) return where;
        const right = size(state.thread), told = answer === undefined ? "" : answer === `${right} bytes` ? " You said so." : ` You said ${answer}.`;
        return `${where} Its src-size is ${right}.${told} On the emulator ${zeros(state.thread)} of its ${data.chunk} floats became zero, and the tile reads ${tile().join(" ")}.`;
    }

    const show = () => { if (width) draw(); said.textContent = words(); };
    const ask = question("Which src-size does the framed thread pass?", [0, 4, 8, 12, 16].map((n) => `${n} bytes`), (given) => { answer = given; show(); });
    const selects = {
        left: choice("Floats left in the array", data.tiles.map((_, n) => [n, n]), (value) => set({ left: Number(value) })),
        thread: choice("Thread", Array.from({ length: data.threads }, (_, n) => [n, n]), (value) => set({ thread: Number(value) })),
    };
    function set(changes) {
        Object.assign(state, changes);
        for (const [name, node] of Object.entries(selects)) node.querySelector("select").value = state[name];
        ask.again();
    }

    box.append(
        make("div", { class: "controls" }, ...Object.values(selects)), ask.node, drawing, said,
        make("p", {
            class: "help",
            text: `Each of ${data.threads} threads copies ${bytes} bytes. Dashed boxes lie past the end of the array. Before the copies every float of the tile was ${data.before}; ` +
                "what it holds afterwards is the emulator's result. Below each thread stands its src-size.",
        }));
    set({});
    fitted(drawing, (room) => { width = room; draw(); });
    reserveWords(said, ["The array has 16 floats left. Thread 2 copies to the floats 12 to 15 of the tile. Its src-size is 16. You said 12 bytes. On the emulator 4 of its 4 floats became zero, and the tile reads 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16."]);
});
