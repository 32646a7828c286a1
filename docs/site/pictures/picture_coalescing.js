// One request of a warp: which sectors of memory its 32 loads touch, and how many of the bytes that move are wanted.
"use strict";

Pictures.start("coalescing", "The sectors that one request of a warp touches", (data, box) => {
    const { make, choice, button, fitted, question, readout, reserveWords, plural } = Pictures;
    const SECTOR = data.sector_bytes, LANES = data.lanes, ROW = 24, TOP = 4, RIGHT = 34;
    const sizes = Object.keys(data.sectors).map(Number), offsets = data.sectors[sizes[0]].length, strides = data.sectors[sizes[0]][0].length;
    const last = Math.max(...sizes) * (offsets - 1 + (LANES - 1) * (strides - 1) + 1);
    const examples = { loop_coalesced: [4, 1, 0], loop_strided: [4, 4, 0], vectorized: [16, 1, 0] };
    const state = { size: 4, stride: 1, offset: 1 };
    const drawing = make("div", { class: "drawing" }), said = readout();
    let answer = null, width = 0;
    let own = null; // A formula of the reader's: its elements by lane, and what the emulator counted for it in this page.

    const element = (lane) => (own ? own.elements[lane] : state.offset + lane * state.stride);
    const first = (lane) => element(lane) * state.size;
    const sectors = () => (own ? own.sectors : data.sectors[state.size][state.offset][state.stride]);
    const shown = () => answer !== null;

    function touched() {
        return new Set(Array.from({ length: LANES }, (_, lane) => Math.floor(first(lane) / SECTOR)));
    }

    function draw() {
        const columns = width < 560 ? 8 : 16, left = 50, rows = Math.ceil(last / SECTOR / columns);
        const cell = (width - left - RIGHT) / columns, moved = shown() ? touched() : new Set();
        const svg = make("svg", {
            viewBox: `0 0 ${width} ${TOP + rows * ROW + 4}`, role: "img",
            "aria-label": "Memory in sectors of 32 bytes, with the bytes that the lanes load; the text below says the same",
        });
        const place = (byte) => [left + Math.floor(byte / SECTOR) % columns * cell, TOP + Math.floor(byte / SECTOR / columns) * ROW];
        for (let row = 0; row < rows; ++row) {
            const begin = row * columns, y = TOP + row * ROW + 15;
            const here = [...moved].filter((sector) => Math.floor(sector / columns) === row).length;
            svg.append(make("text", { x: left - 6, y, "text-anchor": "end", class: "faint", text: begin * SECTOR }));
            if (here) svg.append(make("text", { x: width - RIGHT + 6, y, class: "count", text: here }));
            for (let sector = begin; sector < begin + columns; ++sector) {
                const [x, top] = place(sector * SECTOR);
                svg.append(make("rect", { x: x + 1, y: top + 1, width: cell - 2, height: ROW - 4, class: moved.has(sector) ? "wait chosen" : "" }));
            }
        }
        for (const byte of new Set(Array.from({ length: LANES }, (_, lane) => first(lane)))) {
            const [x, y] = place(byte), part = byte % SECTOR / SECTOR;
            svg.append(make("rect", { x: x + 1 + part * (cell - 2), y: y + 5, width: state.size / SECTOR * (cell - 2), height: ROW - 12, class: "wanted" }));
        }
        drawing.replaceChildren(svg);
    }

    function bytes(lane) {
        const end = first(lane) + state.size - 1;
        return state.size === 1 ? `byte ${end}` : `bytes ${first(lane)} to ${end}`;
    }

    function words() {
        const where = `Lane 0 loads ${bytes(0)}, lane 1 ${bytes(1)}, lane 31 ${bytes(31)}`;
        if (!shown()) return `${where}.`;
        const wanted = state.size * new Set(Array.from({ length: LANES }, (_, lane) => element(lane))).size, moved = sectors() * SECTOR, least = Math.ceil(wanted / SECTOR);
        const verdict = answer === undefined ? "" : answer === sectors() ? " You said so." : ` You said ${answer}.`;
        return `${where}. The emulator${own ? ", in this page," : ""} counts ${plural(sectors(), "sector")}.${verdict} ${moved} bytes move, and ${wanted} of them are wanted: ` +
            `${Math.round(100 * wanted / moved)} %. The fewest sectors for so many bytes: ${least}.`;
    }

    const show = () => { if (width) draw(); said.textContent = words(); };
    const ask = question("How many sectors of 32 bytes does this request touch?", null, (given) => { answer = given; show(); });
    const selects = {
        size: choice("Element", sizes.map((size) => [size, plural(size, "byte")]), (value) => set({ size: Number(value) })),
        stride: choice("Stride", Array.from({ length: strides }, (_, n) => [n, plural(n, "element")]), (value) => set({ stride: Number(value) })),
        offset: choice("Lane 0 begins at", Array.from({ length: offsets }, (_, n) => [n, `element ${n}`]), (value) => set({ offset: Number(value) })),
    };
    /** One request, as PTX: lane i loads the element at the byte places[i] of memory. */
    const request = (width) => `
.version 8.0
.target sm_90
.address_size 64
.visible .entry request(.param .u64 memory, .param .align 4 .b8 places[128])
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    .reg .b${width} %v<3>;
    .reg .b32 %w<5>;
    mov.u32 %r1, %tid.x;
    mov.b64 %rd1, places;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    ld.param.u32 %r2, [%rd2];
    ld.param.u64 %rd3, [memory];
    cvt.u64.u32 %rd4, %r2;
    add.u64 %rd4, %rd3, %rd4;
    ${state.size === 16 ? "ld.global.v4.u32 {%w1, %w2, %w3, %w4}" : `ld.global.u${width} %v1`}, [%rd4];
    ret;
}`;
    async function tried(text) {
        const elements = LiveInput.places(text, { name: "lane", most: last / state.size - 1 });
        const ptx = request(Math.max(16, Math.min(64, 8 * state.size))).replace("ld.global.u16", state.size === 1 ? "ld.global.u8" : "ld.global.u16");
        const total = await LiveInput.counted({ ptx, kernel: "request", memory: last, words: elements.map((each) => each * state.size) });
        own = { elements, sectors: total.global_load_sectors };
        ask.again();
    }
    function set(changes) {
        own = null;
        Object.assign(state, changes);
        for (const [name, node] of Object.entries(selects)) node.querySelector("select").value = state[name];
        ask.again();
    }

    box.append(
        make("div", { class: "controls" }, ...Object.values(selects)),
        make("div", { class: "controls" }, make("span", { text: "A load of" }), ...Object.entries(examples).map(([name, [size, stride, offset]]) =>
            button(name, () => set({ size, stride, offset })))),
        LiveInput.field("Or your own: lane loads element", "lane * 5 % 32", tried),
        ask.node, drawing, said,
        make("p", {
            class: "help",
            text: "A box is a sector; at the left of a row stands its first byte. The marks in it are the bytes that lanes load. After your answer " +
                "the sectors that move have a thick frame, and at the right stands how many they are in a row. Their sum is what the emulator counted: before, or for a formula of yours in this page.",
        }));
    set({});
    fitted(drawing, (room) => { width = room; draw(); });
    reserveWords(said, ["Lane 0 loads bytes 112 to 127, lane 1 bytes 240 to 255, lane 31 bytes 4080 to 4095. The emulator, in this page, counts 32 sectors. You said 100. 1024 bytes move, and 512 of them are wanted: 100 %. The fewest sectors for so many bytes: 16."]);
});
