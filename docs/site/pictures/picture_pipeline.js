// The time line of a pipeline with 1, 2 and 4 stages: from the emulator's record, and from a GPU's where there is one.
"use strict";

Pictures.start("pipeline", (data, box) => {
    const { make, choice, button, arrows, reveal, readout, clamp } = Pictures;
    const LEFT = 70, WIDTH = 760, LANE = 26;
    const state = { source: 0, stages: "2", tile: 0 };
    const drawing = make("div", { class: "drawing" }), said = readout(), unit = make("span");
    const source = () => data.sources[state.source];
    const tiles = () => source().stages[state.stages] || Object.values(source().stages)[0];

    function bar(svg, from, to, y, kind, text, number) {
        const end = Math.max(...tiles().map((tile) => tile.computed)), scale = (WIDTH - LEFT - 8) / end;
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
            viewBox: `0 0 ${WIDTH} ${(stages + 1) * LANE + 8}`, tabindex: 0, role: "img",
            "aria-label": "Copies and computations over time; the arrow keys choose a tile",
        });
        svg.style.minWidth = "520px";
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

    function tell() {
        const list = tiles(), { tile, stage, issued, landed, computed } = list[state.tile];
        const under = list.filter((other) => other.issued <= landed && other.landed >= landed && other.tile !== tile).length;
        said.textContent = `Tile ${tile}, stage ${stage}: copy issued at ${issued}, landed at ${landed}, computed at ${computed}. ` +
            `When it landed, ${under} other ${under === 1 ? "copy was" : "copies were"} under way. ` +
            `All ${list.length} tiles were computed at ${list[list.length - 1].computed}.`;
        unit.textContent = `in ${source().unit}`;
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
            text: "Blue: a copy under way. Green: the threads compute. The emulator has no clock: it counts the instructions of the block's warps, and lets a copy land as late as the rules allow, when somebody's wait needs it.",
        }));
    draw();
    tell();
});
