// The time line of a pipeline with 1, 2 and 4 stages: by a GPU's clock where there is a record, and from the emulator, which
// has no clock. What it records is an order, so that is what is drawn: its events one after the other, at equal distances.
"use strict";

Pictures.start("pipeline", "Copies and computations of a pipeline over time", (data, box) => {
    const { make, choice, button, arrows, reveal, reserveWords, readout, clamp } = Pictures;
    const LEFT = 70, WIDTH = 760, LANE = 26;
    const state = { source: 0, stages: "2", tile: 0 };
    const drawing = make("div", { class: "drawing" }), said = readout(), unit = make("span");
    const source = () => sources[state.source];
    const sources = data.sources.map((each) => each.timed ? each : { ...each, stages: inOrder(each.stages) });
    const tiles = () => source().stages[state.stages] || Object.values(source().stages)[0];
    /** The end of the longest record: one scale for every number of stages, so that lengths can be compared. */
    const end = () => Math.max(...Object.values(source().stages).flat().map((tile) => tile.computed));

    /** The same tiles with the place of each event in the order of events; what happened at once has one place. */
    function inOrder(stages) {
        return Object.fromEntries(Object.entries(stages).map(([count, list]) => {
            const moments = [...new Set(list.flatMap(({ issued, landed, computed }) => [issued, landed, computed]))];
            moments.sort((a, b) => a - b);
            const place = (moment) => moments.indexOf(moment) + 1;
            return [count, list.map((tile) => ({
                ...tile, issued: place(tile.issued), landed: place(tile.landed), computed: place(tile.computed),
            }))];
        }));
    }

    function bar(svg, from, to, y, kind, text, number) {
        const scale = (WIDTH - LEFT - 8) / end();
        const x = LEFT + from * scale, width = Math.max((to - from) * scale, 1);
        const rect = make("rect", {
            x, y, width, height: LANE - 6, class: kind + (number === state.tile ? " chosen" : ""),
            onclick: () => choose(number), onmouseenter: () => choose(number),
        });
        svg.append(rect);
        if (width > 9 * String(text).length)
            svg.append(make("text", { x: x + width / 2, y: y + 14, "text-anchor": "middle", "pointer-events": "none", text }));
    }

    function draw() {
        const stages = Number(state.stages), focused = drawing.contains(document.activeElement);
        const svg = make("svg", {
            viewBox: `0 0 ${WIDTH} ${(stages + 1) * LANE + 22}`, tabindex: 0, role: "img",
            "aria-label": "Copies and computations over time; the arrow keys choose a tile",
        });
        svg.style.minWidth = `${0.92 * WIDTH}px`; // So that its words can be read on a phone.
        for (let stage = 0; stage < stages; ++stage)
            svg.append(make("text", { x: LEFT - 8, y: stage * LANE + 16, "text-anchor": "end", class: "faint", text: `stage ${stage}` }));
        svg.append(make("text", { x: LEFT - 8, y: stages * LANE + 16, "text-anchor": "end", class: "faint", text: "threads" }));
        let before = 0;
        for (const { tile, stage, issued, landed, computed } of tiles()) {
            bar(svg, issued, landed, stage * LANE + 2, "copy", `copy ${tile}`, tile);
            bar(svg, Math.max(landed, before), computed, stage * LANE + 2, "compute", tile, tile);
            bar(svg, Math.max(landed, before), computed, stages * LANE + 2, "compute", tile, tile);
            before = computed;
        }
        const foot = (stages + 1) * LANE + 14;
        svg.append(make("text", { x: LEFT, y: foot, class: "faint", text: source().timed ? "time →" : "order of events, not time →" }));
        svg.append(make("text", { x: WIDTH - 8, y: foot, "text-anchor": "end", class: "faint", text: `${end()} ${source().unit}` }));
        arrows(svg, (dx, dy) => choose(state.tile + dx + dy));
        drawing.replaceChildren(svg);
        if (focused) svg.focus();
        const shown = drawing.querySelectorAll("rect.chosen"), first = shown[0].x.baseVal.value, last = shown[shown.length - 1];
        reveal(drawing, first, last.x.baseVal.value + last.width.baseVal.value - first);
    }

    function choose(number) {
        const next = clamp(number, 0, tiles().length - 1), changed = next !== state.tile;
        state.tile = next;
        if (changed) draw();
        tell();
    }

    function words(list, number, timed) {
        const { tile, stage, issued, landed, computed } = list[number];
        const under = list.filter((other) => other.issued <= landed && other.landed >= landed && other.tile !== tile).length;
        const at = timed ? "at" : "as event";
        return `Tile ${tile}, stage ${stage}: copy issued ${at} ${issued}, landed ${at} ${landed}, computed ${at} ${computed}. ` +
            `When it landed, ${under} other ${under === 1 ? "copy was" : "copies were"} under way. ` +
            (timed ? `All ${list.length} tiles were computed at ${list[list.length - 1].computed}.` : "How long anything took the emulator cannot say.");
    }

    function tell() {
        said.textContent = words(tiles(), state.tile, source().timed);
        unit.textContent = source().timed ? `in ${source().unit}` : "order only";
    }

    const redraw = (name, convert) => (value) => {
        state[name] = convert(value);
        state.tile = Math.min(state.tile, tiles().length - 1);
        draw();
        tell();
    };
    const stages = choice("Stages", Object.keys(source().stages).map((count) => [count, count]), redraw("stages", String));
    stages.querySelector("select").value = state.stages;
    box.append(
        make("div", { class: "controls" }, stages,
            choice("Recorded by", data.sources.map((each, number) => [number, each.name]), redraw("source", Number)),
            button("Previous tile", () => choose(state.tile - 1)), button("Next tile", () => choose(state.tile + 1)), unit),
        drawing, said,
        make("p", {
            class: "help",
            text: "Blue: a copy under way. Green: the threads compute. All numbers of stages are drawn to one scale. The emulator has no clock: its record is an order of events, in which a copy lands as late as the rules allow, when somebody's wait needs it.",
        }));
    draw();
    tell();
    reserveWords(said, sources.flatMap((each) => Object.values(each.stages).flatMap((list) => list.map((_, n) => words(list, n, each.timed)))));
});
