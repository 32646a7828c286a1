// Which bytes of a tile is a bulk store sure to see? By who wrote them, who fenced, and whether the threads met.
"use strict";

Pictures.start("proxies", "The bytes that a bulk store is sure to see", (data, box) => {
    const { make, choice, fitted, question, readout, reserve, reserveWords } = Pictures;
    const WRITERS = ["eight threads", "a bulk load"], MEET = ["no", "yes"];
    const FENCES = ["nobody", "thread 0, before the barrier", "each thread, before the barrier", "thread 0, after the barrier"];
    const CHUNKS = data.variants[0].found.length, ANSWERS = ["none", "one", "all"], HIGH = 34;
    const state = { loaded: 0, fence: 0, meet: 1 };
    const drawing = make("div", { class: "drawing" }), code = make("pre", { class: "code" }), said = readout();
    let answer = null, width = 0;

    const shown = () => answer !== null;
    const variant = () => data.variants.find((each) => ["loaded", "fence", "meet"].every((name) => each[name] === state[name]));
    const sure = (each) => each.found.filter((name) => name === null).length;
    const many = (each) => (sure(each) === 0 ? "none" : sure(each) === CHUNKS ? "all" : sure(each) === 1 ? "one" : String(sure(each)));

    /** The kernel that the choices make, as docs/site/data/proxies.cu has it. */
    function lines({ loaded, fence, meet }) {
        const fenced = "fence_proxy_async(space_shared);";
        return [
            loaded ? "load(tile, in, &bar); // thread 0 issues a bulk load; all wait for it" : "tile[threadIdx.x] = in[threadIdx.x]; // 16 bytes each",
            fence === 1 ? `if (threadIdx.x == 0) ${fenced}` : fence === 2 ? fenced : "",
            meet ? "__syncthreads();" : "",
            "if (threadIdx.x == 0) {",
            fence === 3 ? `    ${fenced}` : "",
            "    cp_async_bulk(space_global, space_shared, out, tile, sizeof(tile));",
            "    …",
            "}",
        ].filter(Boolean);
    }

    function row(svg, y, name, kind, text) {
        const left = width < 560 ? 0 : 190, cell = (width - left) / CHUNKS, below = left ? 22 : -7;
        svg.append(make("text", { x: left ? left - 10 : 0, y: y + below, "text-anchor": left ? "end" : "start", class: "faint", text: name }));
        for (let chunk = 0; chunk < CHUNKS; ++chunk) {
            svg.append(make("rect", { x: left + chunk * cell + 2, y, width: cell - 4, height: HIGH, class: kind(chunk) }));
            svg.append(make("text", { x: left + (chunk + 0.5) * cell, y: y + 22, "text-anchor": "middle", text: text(chunk) }));
        }
        return (chunk) => left + (chunk + 0.5) * cell;
    }

    function draw() {
        const here = variant(), second = 20 + HIGH + 56, ok = (chunk) => here.found[chunk] === null;
        const svg = make("svg", { viewBox: `0 0 ${width} ${second + HIGH + 6}`, role: "img", "aria-label": "The eight chunks of the tile, as written and as the store sees them; the text below says the same" });
        row(svg, 20, state.loaded ? "written by a bulk load" : "written by threads 0 to 7", () => (state.loaded ? "copy" : "wait"), (chunk) => chunk);
        const middle = row(svg, second, "what the store sees", (chunk) => (!shown() ? "empty" : ok(chunk) ? "compute" : "wrong"), (chunk) => (!shown() ? "?" : ok(chunk) ? "new" : "old?"));
        if (shown())
            for (let chunk = 0; chunk < CHUNKS; ++chunk)
                if (ok(chunk)) svg.append(make("line", { x1: middle(chunk), x2: middle(chunk), y1: 22 + HIGH, y2: second - (width < 560 ? 20 : 3), stroke: "currentColor", "stroke-width": 2 }));
        drawing.replaceChildren(svg);
    }

    function words(here, given) {
        if (given === null) return "The copy of thread 0 reads the whole tile, through the async proxy.";
        const verdict = given === undefined ? "" : given === many(here) ? " You said so." : ` You said ${given}.`, all = sure(here) === CHUNKS;
        const start = `By the emulator's rule the store is sure to see the new bytes of ${all ? `all ${CHUNKS}` : `${sure(here) || "none"} of the ${CHUNKS}`} chunks.${verdict}`;
        const alone = here.fence === 3 && !here.loaded ? " The PTX ISA does not spell out whether the fence of the thread that issues is enough for the others' writes." : "";
        if (all) return `${start} The emulator finds nothing wrong.${alone}`;
        return `${start} The emulator says ${[...new Set(here.found.filter(Boolean))].join(" and ")}: ${here.message}`;
    }

    const show = () => { if (width) draw(); said.textContent = words(variant(), answer); };
    const ask = question("Of how many of the eight chunks is the store sure to see the new bytes?", ANSWERS, (given) => { answer = given; show(); });
    function set(changes) {
        Object.assign(state, changes);
        code.textContent = lines(state).join("\n");
        ask.again();
    }
    const pick = (label, name, texts) => {
        const node = choice(label, texts.map((text, n) => [n, text]), (value) => set({ [name]: Number(value) }));
        node.querySelector("select").value = state[name];
        return node;
    };
    box.append(
        make("div", { class: "controls" }, pick("Written by", "loaded", WRITERS), pick("Proxy fence of", "fence", FENCES), pick("__syncthreads()", "meet", MEET)),
        code, ask.node, drawing, said,
        make("p", {
            class: "help",
            text: "Each variant ran on the emulator once for each chunk, with a store of that chunk alone. A line: by the emulator's rule, something orders the write before the store's read, in both proxies. " +
                "'old?': nothing does, and the store may see the bytes from before; on a GPU it may as well see the new ones, today.",
        }));
    set({});
    fitted(drawing, (room) => { width = room; draw(); });
    reserve(code, data.variants, (each) => { code.textContent = lines(each || state).join("\n"); });
    reserveWords(said, data.variants.map((each) => words(each, "none")));
});
