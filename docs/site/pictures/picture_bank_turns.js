// A warp reads a column of a tile: in which wavefront each bank delivers, without swizzle and in each mode, played side by side.
"use strict";

Pictures.start("bank_turns", "A column of a tile, read under each swizzle mode, wavefront by wavefront", (data, box) => {
    const { make, choice, button, fitted, question, readout, reserveWords, clamp, plural } = Pictures;
    const BANKS = 32, MODES = [0, 32, 64, 128], ASKED = 3, SERVED = 128, HIGH = 8, TOP = 54, PAUSE = 140;
    const most = Math.max(...data.boxes.flatMap((each) => each.wavefronts));
    const widths = [...new Set(data.boxes.map((each) => each.row_bytes))];
    const state = { rows: widths[widths.length - 1], size: 0, turn: 0 };
    const drawing = make("div", { class: "drawing" }), said = readout(), count = make("span", { class: "count" });
    let answer = null, width = 0, timer = null;

    const shown = () => answer !== null;
    const size = () => data.reads[state.size];
    const tile = (mode) => data.boxes.find((each) => each.mode === mode && each.row_bytes === state.rows);
    const turns = (mode) => tile(mode).wavefronts[state.size];
    const here = () => MODES.map((_, mode) => mode).filter(tile);
    const longest = () => Math.max(...here().map(turns));
    const name = (mode) => (mode ? `${MODES[mode]}-byte mode` : "no swizzle");

    /**
     * For each lane its first bank and its wavefront. Memory serves 128 bytes at a time, so lanes of 16 bytes go in four groups. How many
     * wavefronts it takes is what the emulator counted; that lanes of one bank go in the order of their numbers is this picture's choice.
     */
    function schedule(mode) {
        const together = SERVED / size(), found = [];
        for (let first = 0, begin = 0; first < BANKS; first += together) {
            const waiting = new Map();
            for (let lane = first; lane < first + together; ++lane) {
                const bank = Math.floor(tile(mode).column[lane] / 4) % BANKS, before = waiting.get(bank) || 0;
                waiting.set(bank, before + 1);
                found.push({ lane, bank, turn: begin + before });
            }
            begin += Math.max(...waiting.values());
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
        MODES.forEach((_, mode) => panel(svg, mode, mode % across * (room + gap), Math.floor(mode / across) * high, room));
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
        const verdict = answer === undefined ? "" : Number(answer) === turns(ASKED) ? " You said so." : ` You said ${answer} for the ${name(ASKED)}.`;
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
    const ask = question(`How many wavefronts does it take to read the column under the ${name(ASKED)}?`, ["1", "2", "4", "8", "16", "32"], (given) => {
        answer = given;
        if (given === null) {
            stop();
            state.turn = 0;
            show();
        } else if (given === undefined) step(longest());
        else play();
    });
    const set = (field) => (value) => { state[field] = Number(value); state.turn = 0; ask.again(); };
    const rows = choice("Rows of", widths.map((each) => [each, `${each} bytes`]), set("rows"));
    rows.querySelector("select").value = state.rows;
    box.append(
        make("div", { class: "controls" }, rows, choice("Element", data.reads.map((each, n) => [n, `${each} bytes`]), set("size"))),
        ask.node, make("div", { class: "controls" }, ...steps, count), drawing, said,
        make("p", {
            class: "help",
            text: "Across: the 32 banks. Down: wavefronts. A mark: a bank that delivers to a lane; a thick frame: in this wavefront. Where the elements lie was read back after tensor copies on the emulator, " +
                "which also counted the wavefronts; that lanes of one bank are served in the order of their numbers is the picture's choice.",
        }));
    ask.again();
    fitted(drawing, (room) => { width = room; draw(); });
    reserveWords(said, ["A warp reads one element of 16 bytes from each of 32 rows of 128 bytes. Served after 31 wavefronts, no swizzle: 31 lanes, 32-byte mode: 32 lanes, 64-byte mode: 32 lanes, 128-byte mode: 32 lanes.",
        "A warp reads one element of 16 bytes from each of 32 rows of 32 bytes. Wavefronts that the emulator counted: no swizzle: 32, 32-byte mode: 32, 64-byte mode: 32, 128-byte mode: 32. You said 32 for the 128-byte mode. The fewest for so many bytes: 4."]);
});
