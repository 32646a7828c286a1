// A descriptor of A: which chunks of shared memory the tensor core reads, by major, swizzle, leading and stride offset and start.
"use strict";

Pictures.start("wgmma_descriptor", "Which bytes of shared memory a matrix descriptor names", (data, box) => {
    const { make, choice, ask, fitted, readout, reserveWords, clamp } = Pictures;
    const CHUNK = 16, LINE = 8, LEFT = 48, TOP = 20, HEIGHT = 9;
    const state = { major: "K", swizzle: 128, leading: 128, stride: 1024, start: 0, piece: 42 };
    const asked = make("div"), drawing = make("div", { class: "drawing" }), said = readout();
    const selects = {};
    let answer = null, width = 0;

    const values = (name) => [...new Set(data.cases.filter((each) => name === "major" || each.major === state.major).map((each) => each[name]))];
    const found = () => data.cases.find((each) => ["major", "swizzle", "leading", "stride", "start"].every((name) => each[name] === state[name]));
    const chunks = () => data.lists[found().chunks];
    /** Pieces of 8 elements that lie together in memory: for K-major of a row, else of one k. */
    const groups = () => state.major === "K" ? 2 : 8;
    function name(piece) {
        const outer = Math.floor(piece / groups()), first = piece % groups() * 8;
        return state.major === "K" ? `row ${outer}, k = ${first} to ${first + 7}` : `k = ${outer}, rows ${first} to ${first + 7}`;
    }
    /** The pieces of the core matrix, 8 rows of 16 bytes, that `piece` is in. */
    function core(piece) {
        const outer = Math.floor(piece / groups() / 8) * 8;
        return new Set(Array.from({ length: 8 }, (_, n) => (outer + n) * groups() + piece % groups()));
    }

    function draw() {
        if (!width) return;
        const list = chunks(), lines = Math.floor(Math.max(...data.lists.flat()) / LINE) + 1, cell = (width - LEFT - 2) / LINE, same = core(state.piece);
        const svg = make("svg", { viewBox: `0 0 ${width} ${TOP + lines * HEIGHT + 4}`, role: "img", "aria-label": "Shared memory in lines of 128 bytes; the text below says which chunk was asked for" });
        for (let chunk = 0; chunk < LINE; ++chunk) svg.append(make("text", { x: LEFT + chunk * cell + 2, y: TOP - 6, class: "faint", text: `+${chunk * CHUNK}` }));
        for (let line = 0; line < lines; ++line) {
            if (line % 8 === 0) svg.append(make("text", { x: LEFT - 6, y: TOP + line * HEIGHT + 9, "text-anchor": "end", class: "faint", text: line * 128 }));
            svg.append(make("rect", { x: LEFT, y: TOP + line * HEIGHT, width: LINE * cell, height: HEIGHT }));
        }
        const place = (chunk, kind) => make("rect", { x: LEFT + chunk % LINE * cell, y: TOP + Math.floor(chunk / LINE) * HEIGHT, width: cell, height: HEIGHT, class: kind });
        if (answer !== null) {
            list.forEach((chunk) => svg.append(place(chunk, "copy")));
            for (const piece of same) svg.append(place(list[piece], "wait chosen"));
            svg.append(place(list[state.piece], "wanted"));
        }
        svg.style.maxWidth = `${width}px`; // So that its words keep their size.
        drawing.replaceChildren(svg);
    }

    function words(given) {
        if (given === null) return `A has 64 rows of 16 elements of 2 bytes: 128 pieces of 16 bytes. The tile begins at a multiple of 1024.`;
        const list = chunks(), byte = list[state.piece] * CHUNK, said = given === undefined ? "" : given === byte ? " That is what you said." : ` You said ${given}.`;
        const count = new Set(list).size, twice = count < list.length ? ` Only ${count} different pieces are read: these offsets let some overlap.` : "";
        return `${name(state.piece)[0].toUpperCase()}${name(state.piece).slice(1)}: byte ${byte}, in chunk ${list[state.piece] % LINE} of its line of 128 bytes.${said} Its core matrix, 8 such pieces, is framed; ` +
            `all pieces lie between byte ${Math.min(...list) * CHUNK} and byte ${Math.max(...list) * CHUNK + CHUNK - 1}.${twice}`;
    }

    function set(changes) {
        Object.assign(state, changes);
        for (const key of ["swizzle", "leading", "stride", "start"]) if (!values(key).includes(state[key])) state[key] = values(key)[0];
        for (const [key, node] of Object.entries(selects)) node.querySelector("select").value = state[key];
        for (const option of selects.piece.querySelectorAll("option")) option.textContent = name(Number(option.value));
        selects.start.querySelector("select").disabled = values("start").length === 1;
        state.piece = clamp(state.piece, 0, 127);
        ask(asked, `At which byte behind the tile's begin does ${name(state.piece)} lie?`, null, (given) => {
            answer = given;
            draw();
            said.textContent = words(given);
        });
    }

    const list = (label, key, texts) => { selects[key] = choice(label, texts, (value) => set({ [key]: key === "major" ? value : Number(value) })); return selects[key]; };
    const bytes = (key) => values(key).map((value) => [value, `${value} bytes`]);
    const pieces = [0, 1, 5, 19, 42, 127].map((piece) => [piece, name(piece)]);
    box.append(make("div", { class: "controls" },
        list("Elements lie along", "major", [["K", "k (K-major)"], ["M", "rows (M-major)"]]),
        list("Swizzle", "swizzle", values("swizzle").map((value) => [value, value ? `${value} bytes` : "none"])),
        list("Leading offset", "leading", bytes("leading")), list("Stride offset", "stride", bytes("stride")),
        list("Start", "start", values("start").map((value) => [value, `+${value} bytes`])), list("Ask about", "piece", pieces)),
    asked, drawing, said, make("p", {
        class: "help", text: "Read by the emulator: B was the unit matrix, and each element of shared memory its own number. Blue: a piece that is read; framed: the core matrix of the one in question, which is solid.",
    }));
    set({});
    fitted(drawing, (room) => {
        width = Math.min(room, 560);
        draw();
    });
    reserveWords(said, [`row 63, k = 8 to 15: byte 9344, in chunk 7 of its line of 128 bytes. You said 10000. Its core matrix, 8 such pieces, is framed; all pieces lie between byte 32 and ` +
        `byte 9360. Only 128 different pieces are read: these offsets let some overlap.`]);
});
