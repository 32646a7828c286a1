// The life of the mbarriers of a ring of stages, step by step as the emulator recorded it.
"use strict";

Pictures.start("mbarrier", "The life of the mbarriers of a kernel, step by step", (data, box) => {
    const { make, button, choice, reserve, reserveWords, readout, clamp, plural } = Pictures;
    const table = make("tbody"), said = readout(), heading = ["barrier", "phase", "parity", "arrivals missing", "bytes missing"];
    let record = data.records[0];
    const slider = make("input", {
        type: "range", min: 0, max: record.steps.length - 1, value: 0, "aria-label": "step", oninput: () => show(Number(slider.value)),
    });
    const count = make("span", { class: "count" });
    let at = 0;

    /** The barriers after the steps 0 to `last`. */
    function states(last) {
        const found = Object.fromEntries(record.barriers.map((name) => [name, null]));
        for (const step of record.steps.slice(0, last + 1)) {
            const now = found[step.barrier];
            if (step.step === "init") found[step.barrier] = { phase: 0, expected: step.count, arrivals: step.count, bytes: 0 };
            else if (step.step === "arrive") {
                now.arrivals -= step.count;
                now.bytes += step.tx;
            } else if (step.step === "complete") {
                now.phase += 1;
                now.arrivals = now.expected;
            }
        }
        return found;
    }

    function words(step) {
        const who = step.by[0].toUpperCase() + step.by.slice(1), barrier = step.barrier, phase = step.phase;
        if (step.step === "init") return `${who} initialises ${barrier}: a phase expects ${plural(step.count, "arrival")}.`;
        if (step.step === "complete") return `Nothing is missing any more: phase ${phase} of ${barrier} is complete, phase ${phase + 1} begins, and the parity flips.`;
        if (step.step === "observed") return `${who}: ${plural(step.lanes, "lane")} waited for parity ${phase % 2} of ${barrier} and went on: phase ${phase} is complete, and its bytes are visible.`;
        if (step.by === "a copy" && step.count) return `A copy has landed and arrives at ${barrier}.`;
        if (step.count && step.tx > 0) return `${who} arrives at ${barrier} and announces ${step.tx} bytes.`;
        if (step.tx > 0) return `${who} announces ${step.tx} bytes at ${barrier}; that is no arrival.`;
        if (step.tx < 0) return `A copy has landed: ${-step.tx} bytes of phase ${phase} of ${barrier} are there.`;
        return `${who}: ${step.lanes === 1 ? "1 lane arrives" : `${step.lanes} lanes arrive`} at ${barrier}.`;
    }

    function show(wanted) {
        at = clamp(wanted, 0, record.steps.length - 1);
        const step = record.steps[at], now = states(at);
        slider.value = at;
        count.textContent = `step ${at + 1} of ${record.steps.length}`;
        table.replaceChildren(...record.barriers.map((name) => {
            const state = now[name], changed = name === step.barrier;
            const values = state ? [state.phase, state.phase % 2, state.arrivals, state.bytes] : ["–", "–", "–", "–"];
            return make("tr", { class: changed ? (step.step === "complete" || step.step === "observed" ? "done" : "changed") : "" },
                make("td", { text: name }), ...values.map((value) => make("td", { class: "number", text: value })));
        }));
        said.textContent = words(step);
    }

    const move = (by) => () => show(at + by);
    slider.addEventListener("keydown", (event) => { if (event.key === "Home" || event.key === "End") event.stopPropagation(); });
    const drawing = make("div", { class: "drawing" }, make("table", {}, make("thead", {}, make("tr", {}, ...heading.map((text) => make("th", { text })))), table));
    box.append(
        make("div", { class: "controls" },
            choice("Kernel", data.records.map((each, number) => [number, each.kernel]), (value) => {
                record = data.records[value];
                slider.max = record.steps.length - 1;
                show(0);
            }),
            button("Back", move(-1)), button("Next", move(1)), slider, count),
        drawing, said,
        make("p", {
            class: "help",
            text: "Recorded by the emulator: all barriers of the kernel's first block. A phase is complete when no arrival and no byte is missing.",
        }));
    show(0);
    // Every record at its last step: the widest numbers and the most rows.
    let chosen = null;
    reserve(drawing, data.records, (each) => {
        chosen = chosen || [record, at];
        record = each || chosen[0];
        show(each ? record.steps.length - 1 : chosen[1]);
        if (!each) chosen = null;
    });
    reserveWords(said, data.records.flatMap((each) => each.steps.map(words)));
});
