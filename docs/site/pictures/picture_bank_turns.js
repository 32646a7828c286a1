// A warp reads a column of a tile: in which wavefront each bank delivers, without swizzle and in each mode, played side by side.
"use strict";

Pictures.start("bank_turns", "A column of a tile, read under each swizzle mode, wavefront by wavefront", (data, box) => {
    const { make, choice, button, fitted, readout, reserveWords, clamp, plural } = Pictures;
    const BANKS = 32, MODES = [0, 32, 64, 128], FIRST = 64, OWN = 4, BYTES = 16384, SERVED = 128, HIGH = 8, TOP = 54, PAUSE = 140;
    const most = Math.max(...data.boxes.flatMap((each) => each.wavefronts));
    const widths = [...new Set(data.boxes.map((each) => each.row_bytes))];
    const state = { rows: FIRST, size: 0, turn: 0 }; // The chapter has just asked for rows of 128 bytes.
    const drawing = make("div", { class: "drawing" }), said = readout(), count = make("span", { class: "count" });
    let answer = null, width = 0, timer = null;
    let own = null; // A layout of the reader's, in the place of the one without swizzle: as an entry of data.boxes.

    const shown = () => answer !== null;
    const size = () => data.reads[state.size];
    const tile = (mode) => (mode === OWN ? own : data.boxes.find((each) => each.mode === mode && each.row_bytes === state.rows));
    const turns = (mode) => tile(mode).wavefronts[state.size];
    const modes = () => [own ? OWN : 0, 1, 2, 3], asked = () => (own ? OWN : MODES.indexOf(state.rows)); // The mode of the rows' own width.
    const here = () => modes().filter(tile);
    const longest = () => Math.max(...here().map(turns));
    const name = (mode) => (mode === OWN ? "your layout" : mode ? `${MODES[mode]}-byte mode` : "no swizzle");

    /**
     * For each lane its first bank and its wavefront. Memory serves 128 bytes at a time, so lanes of 16 bytes go in four groups. How many
     * wavefronts it takes is what the emulator counted; that lanes of one bank go in the order of their numbers is this picture's choice.
     */
    function schedule(mode) {
        const together = SERVED / size(), found = [];
        for (let first = 0, begin = 0; first < BANKS; first += together) {
            const waiting = new Map();
            for (let lane = first; lane < first + together; ++lane) {
                const word = Math.floor(tile(mode).column[lane] / 4), bank = word % BANKS;
                if (!waiting.has(bank)) waiting.set(bank, []);
                const before = waiting.get(bank); // Lanes that want the same word get it in the same turn.
                if (!before.includes(word)) before.push(word);
                found.push({ lane, bank, turn: begin + before.indexOf(word) });
            }
            begin += Math.max(...[...waiting.values()].map((each) => each.length));
        }
        return found;
    }

    function panel(svg, mode, x, y, room) {
        const cell = room / BANKS, wide = size() / 4 * cell, text = (words, dx, dy, anchor) =>
            svg.append(make("text", { x: x + dx, y: y + dy, "text-anchor": anchor, class: "faint", text: words }));
        svg.append(make("text", { x, y: y + 12, class: "mode", text: name(mode) }));
        svg.append(make("rect", { x, y: y + TOP, width: room, height: most * HIGH, class: "empty" }));
        if (!tile(mode)) {
            text("the mode takes no", room / 2, TOP + 60, "middle");
            text(`rows of ${state.rows} bytes`, room / 2, TOP + 76, "middle");
            return;
        }
        text("bank 0", 0, TOP - 6, "start");
        text(BANKS - 1, room, TOP - 6, "end");
        for (let bank = 8; bank < BANKS; bank += 8)
            svg.append(make("line", { x1: x + bank * cell, x2: x + bank * cell, y1: y + TOP, y2: y + TOP + most * HIGH, stroke: "currentColor", "stroke-opacity": 0.2 }));
        if (!shown()) return;
        for (const { lane, bank, turn } of schedule(mode))
            if (turn < state.turn)
                svg.append(make("rect", {
                    x: x + bank * cell, y: y + TOP + turn * HIGH, width: wide, height: HIGH, "data-lane": lane,
                    class: turn === state.turn - 1 ? "compute chosen" : "wanted",
                }));
        if (state.turn >= turns(mode)) text(plural(turns(mode), "wavefront"), 0, 30, "start");
    }

    function draw() {
        const across = width >= 600 ? 4 : 2, gap = 18, room = (width - (across - 1) * gap) / across, high = TOP + most * HIGH + 12;
        const svg = make("svg", {
            viewBox: `0 0 ${width} ${high * MODES.length / across}`, role: "img",
            "aria-label": "Four tiles: which bank delivers in which wavefront; the text below says the same",
        });
        modes().forEach((mode, place) => panel(svg, mode, place % across * (room + gap), Math.floor(place / across) * high, room));
        drawing.replaceChildren(svg);
    }

    function words() {
        const what = `A warp reads one element of ${size()} bytes from each of 32 rows of ${state.rows} bytes`;
        if (!shown()) return `${what}: a column.`;
        if (state.turn < longest()) {
            const busy = here().map((mode) => `${name(mode)}: ${plural(schedule(mode).filter((each) => each.turn < state.turn).length, "lane")}`);
            return `${what}. Served after ${plural(state.turn, "wavefront")}, ${busy.join(", ")}.`;
        }
        const counted = here().map((mode) => `${name(mode)}: ${turns(mode)}`).join(", "), least = BANKS * size() / SERVED;
        const verdict = answer === undefined ? "" : Number(answer) === turns(asked()) ? " You said so." : ` You said ${answer} for ${own ? "" : "the "}${name(asked())}.`;
        return `${what}. Wavefronts that the emulator counted: ${counted}.${verdict} The fewest for so many bytes: ${least}.`;
    }

    function show() {
        if (width) draw();
        if (timer === null) said.textContent = words(); // Not each turn while it plays: a reader's voice would never end.
        count.textContent = shown() ? `wavefront ${state.turn} of ${longest()}` : "";
        for (const each of steps) each.disabled = !shown();
    }

    function stop() {
        clearInterval(timer);
        timer = null;
    }

    function step(by) {
        stop();
        state.turn = clamp(state.turn + by, 0, longest());
        show();
    }

    function play() {
        stop();
        state.turn = 0;
        if (matchMedia("(prefers-reduced-motion: reduce)").matches) return step(longest());
        timer = setInterval(() => {
            state.turn += 1;
            if (state.turn >= longest()) stop();
            show();
        }, PAUSE);
        show();
    }

    const steps = [button("Play", play), button("Back", () => step(-1)), button("Next wavefront", () => step(1)), button("To the end", () => step(longest()))];
    function answered(given) {
        answer = given;
        if (given === null) {
            stop();
            state.turn = 0;
            show();
        } else if (given === undefined) step(longest());
        else play();
    }
    const place = make("div");
    function askAgain() {
        state.turn = 0;
        if (own) Pictures.ask(place, "How many wavefronts does it take to read the column with your layout?", null, answered);
        else Pictures.ask(place, `How many wavefronts does it take to read the column under the ${name(asked())}?`, ["1", "2", "4", "8", "16", "32"], answered);
    }

    /** One request, as PTX: lane i loads the element at the byte places[i] of shared memory. */
    const request = () => `
.version 8.0
.target sm_90
.address_size 64
.visible .entry column(.param .align 4 .b8 places[128])
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    .shared .align 1024 .b8 memory[${BYTES}];
    mov.u32 %r1, %tid.x;
    mov.b64 %rd1, places;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    ld.param.u32 %r2, [%rd2];
    mov.u32 %r3, memory;
    add.u32 %r3, %r3, %r2;
    ${size() === 16 ? "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}" : "ld.shared.u32 %r4"}, [%r3];
    ret;
}`;
    async function tried(text) {
        const bytes = size(), column = LiveInput.places(text, { name: "row", most: BYTES - bytes, step: bytes });
        const total = await LiveInput.counted({ ptx: request(), kernel: "column", words: column });
        if (bytes !== size()) throw new Error("Another element was chosen meanwhile: run it again.");
        own = { column, wavefronts: data.reads.map((each) => (each === bytes ? total.shared_load_wavefronts : 0)) };
        askAgain();
    }
    const set = (field) => (value) => { state[field] = Number(value); own = null; askAgain(); };
    const rows = choice("Rows of", widths.map((each) => [each, `${each} bytes`]), set("rows"));
    rows.querySelector("select").value = state.rows;
    box.append(
        make("div", { class: "controls" }, rows, choice("Element", data.reads.map((each, n) => [n, `${each} bytes`]), set("size"))),
        LiveInput.field("Or your own layout: the element of row lies at byte", "row * 132", tried),
        place, make("div", { class: "controls" }, ...steps, count), drawing, said,
        make("p", {
            class: "help",
            text: "Across: the 32 banks. Down: wavefronts. A mark: a bank that delivers to a lane; a thick frame: in this wavefront. Where the elements lie was read back after tensor copies on the emulator, " +
                "which also counted the wavefronts; that lanes of one bank are served in the order of their numbers is the picture's choice. What your layout costs it counts in this page.",
        }));
    askAgain();
    fitted(drawing, (room) => { width = room; draw(); });
    reserveWords(said, ["A warp reads one element of 16 bytes from each of 32 rows of 128 bytes. Served after 31 wavefronts, no swizzle: 31 lanes, 32-byte mode: 32 lanes, 64-byte mode: 32 lanes, 128-byte mode: 32 lanes.",
        "A warp reads one element of 16 bytes from each of 32 rows of 32 bytes. Wavefronts that the emulator counted: no swizzle: 32, 32-byte mode: 32, 64-byte mode: 32, 128-byte mode: 32. You said 32 for the 128-byte mode. The fewest for so many bytes: 4."]);
});
