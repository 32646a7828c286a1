// The registers of a block: what the launch gives, what the producers keep, what each group of consumers takes.
"use strict";

Pictures.start("register_budget", "The registers of a block, before and after setmaxnreg", (data, box) => {
    const { make, choice, ask, readout, reserveWords } = Pictures;
    const { registers, group, step, least, most } = data;
    const ENDS = ["yes", "no, one waits for ever", "a number is not allowed"];
    const state = { consumers: 2, keep: 40, take: 240 };
    const asked = make("div"), bars = make("div", { class: "bars" }), said = readout();
    let answer = null;

    /** What the launch can give each thread of `consumers` groups, two at least, and one of producers, one block on the SM. */
    const given = (now) => Math.floor(registers / ((now.consumers + 1) * group * step)) * step;
    const pool = (now) => (now.consumers + 1) * given(now);
    const wanted = (now) => now.keep + now.consumers * now.take;
    const end = (now) => ENDS[now.keep > given(now) || now.take < given(now) ? 2 : wanted(now) > pool(now) ? 1 : 0];

    function bar(label, parts) {
        const whole = Math.max(pool(state), wanted(state));
        return make("div", {}, make("span", { class: "barname", text: label }), make("div", { class: "bar" }, ...parts.map(([text, size, kind]) => {
            const part = make("span", { class: kind, text });
            part.style.flexBasis = `${100 * size / whole}%`;
            return part;
        })));
    }

    function draw() {
        const each = given(state), groups = Array.from({ length: state.consumers }, (_, number) => number), lack = pool(state) - wanted(state);
        const before = bar(`At launch: producers ${each}, each group of consumers ${each}`, [[each, each, "wait"], ...groups.map(() => [each, each, "copy"])]);
        const after = answer === null ? [["?", pool(state), "plain"]] : end(state) === ENDS[2] ? [["not executed", pool(state), "wrong"]]
            : [[state.keep, state.keep, "wait"], ...groups.map(() => [state.take, state.take, "copy"]), ...(lack > 0 ? [[`${lack} left`, lack, "plain"]] : [])];
        bars.replaceChildren(before, bar(`After setmaxnreg: producers ${state.keep}, each group of consumers ${state.take}`, after));
    }

    function words(said, now = state) {
        const each = given(now), threads = (now.consumers + 1) * group;
        const start = `${registers} registers for ${threads} threads, in steps of ${step}: the launch gives each thread ${each}. `;
        if (said === null) return start;
        const verdict = said === undefined ? "" : said === end(now) ? " That is what you said." : ` You said: ${said}.`;
        if (end(now) === ENDS[2]) return `${start}${now.keep > each ? `.dec must not raise the number, and ${now.keep} is more than ${each}` : `.inc must not lower the number, and ${now.take} is less than ${each}`}.${verdict}`;
        const sum = `${now.keep} + ${now.consumers} · ${now.take} = ${wanted(now)}, and the launch gave ${now.consumers + 1} · ${each} = ${pool(now)}`;
        return `${start}${sum}. ${wanted(now) > pool(now) ? "That is too much: the last group to come to .inc waits for ever." : "All get what they ask for."}${verdict}`;
    }

    function set(name, value) {
        if (name) state[name] = Number(value);
        ask(asked, "Does every group get its registers?", ENDS, (value) => {
            answer = value;
            draw();
            said.textContent = words(value);
        });
    }

    const numbers = (from, to) => Array.from({ length: (to - from) / step + 1 }, (_, n) => [from + n * step, String(from + n * step)]);
    const selects = [choice("Groups of consumers", [[2, "2"], [3, "3"]], (value) => set("consumers", value)),
        choice("Producers keep", numbers(least, 136), (value) => set("keep", value)), choice("Each consumer takes", numbers(120, most), (value) => set("take", value))];
    ["consumers", "keep", "take"].forEach((name, number) => { selects[number].querySelector("select").value = state[name]; });
    const { prints, launched, moved } = data.measured;
    box.append(make("div", { class: "controls" }, ...selects), asked, bars, said, make("p", {
        class: "help", text: `Computed by the rules of the PTX ISA (setmaxnreg), for one block on an SM; nothing is run. What it gained on an H200, with ${prints} fingerprints ` +
            `for each thread and two groups of consumers: ${launched} ms with registers as launched, ${moved} ms with 40 and 232.`,
    }));
    set();
    reserveWords(said, [2, 3].flatMap((consumers) => [24, 136].flatMap((keep) => [120, 248].map((take) => words(`${ENDS[2]}.`, { consumers, keep, take })))));
});
