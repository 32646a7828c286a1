// A producer, two consumers and a ring of three stages, step by step as the emulator recorded them: who waits for whom?
"use strict";

Pictures.start("ring_roles", "A producer and two consumers at a ring of three stages", (data, box) => {
    const { make, button, choice, ask, readout, reserve, reserveWords, clamp, plural } = Pictures;
    const FOR = ["nobody", "the producer", "a copy", "a consumer"];
    const state = { at: data.stages, role: 2 }; // `at` steps have been made.
    const asked = make("div"), stages = make("div", { class: "cards" }), roles = make("div", { class: "cards second" }), said = readout();
    const all = make("div", {}, stages, roles), slider = make("input", { type: "range", min: 0, max: data.steps.length, value: 0, "aria-label": "step", oninput: () => set({ at: Number(slider.value) }) });
    const count = make("span", { class: "count" });
    let answer = null;

    const called = (role) => role === "producer" ? "the producer" : role;

    /** The barriers after the first `at` steps. */
    function barriers(at) {
        const found = {};
        for (const kind of ["full", "empty"])
            for (let stage = 0; stage < data.stages; ++stage) found[`${kind}[${stage}]`] = { phase: 0, arrivals: data.arrivals[kind], bytes: 0, came: [] };
        for (const step of data.steps.slice(0, at)) {
            const now = found[step.barrier];
            if (step.step === "arrive") {
                now.arrivals -= step.count;
                now.bytes += step.tx;
                now.came.push(step.by);
            } else if (step.step === "complete")
                Object.assign(now, { phase: now.phase + 1, arrivals: data.arrivals[step.barrier.split("[")[0]], came: [] });
        }
        return found;
    }

    /** What a role does after `at` steps: its next step, and for whom that has to wait. */
    function doing(role, at) {
        const next = data.steps.slice(at).find((step) => step.by === role);
        if (!next) return { text: "is done", waits: "nobody" };
        const now = barriers(at)[next.barrier];
        if (next.step === "arrive") return { text: role === "producer" ? `asks for a tile at ${next.barrier}` : `reads, then arrives at ${next.barrier}`, waits: "nobody" };
        const text = `is at ${next.barrier}, parity ${next.phase % 2}`;
        if (now.phase > next.phase) return { text, waits: "nobody" };
        if (next.barrier.startsWith("empty")) return { text, waits: "a consumer" };
        return { text, waits: now.arrivals ? "the producer" : "a copy" };
    }

    function words(step) {
        if (!step) return "The barriers are initialised; all three warps begin.";
        const { by, barrier, phase, tx } = step, who = called(by)[0].toUpperCase() + called(by).slice(1);
        if (step.step === "complete") return `Nothing is missing any more: phase ${phase} of ${barrier} is complete, and phase ${phase + 1} begins.`;
        if (step.step === "observed") return `${who} has waited for phase ${phase} of ${barrier} and goes on.`;
        if (tx < 0) return `A copy has landed: ${-tx} bytes of phase ${phase} of ${barrier} are there.`;
        if (tx > 0) return `${who} arrives at ${barrier}, announces ${tx} bytes and asks for the tile.`;
        return `${who} has read the stage and arrives at ${barrier}.`;
    }

    function draw() {
        const now = barriers(state.at), last = data.steps[state.at - 1];
        const line = (name) => {
            const { phase, arrivals, bytes } = now[name], missing = [plural(arrivals, "arrival"), ...(name.startsWith("full") ? [`${bytes} B`] : [])];
            return [make("strong", { text: `${last && last.barrier === name ? "▶ " : ""}${name}` }), make("span", { text: `phase ${phase}, parity ${phase % 2}` }),
                make("span", { text: `missing: ${missing.join(", ")}` })];
        };
        stages.replaceChildren(...Array.from({ length: data.stages }, (_, stage) => make("div", { class: "card" }, ...line(`full[${stage}]`), ...line(`empty[${stage}]`))));
        roles.replaceChildren(...data.roles.map((role, number) => {
            const { text, waits } = doing(role, state.at);
            return make("div", { class: number === state.role ? "card chosen" : "card" }, make("strong", { text: `${last && last.by === role ? "▶ " : ""}${role}` }),
                make("span", { text }), make("span", { text: answer === null ? "waits for ?" : waits === "nobody" ? "✓ waits for nobody" : `✗ waits for ${waits}` }));
        }));
    }

    function tell() {
        const { waits } = doing(data.roles[state.role], state.at);
        const verdict = answer === null || answer === undefined ? "" : answer === waits ? " That is what you said." : ` You said ${answer}.`;
        said.textContent = words(data.steps[state.at - 1]) + (answer === null ? "" : ` Now ${called(data.roles[state.role])} waits for ${waits}.${verdict}`);
    }

    function set(changes) {
        Object.assign(state, changes);
        state.at = clamp(state.at, 0, data.steps.length);
        slider.value = state.at;
        count.textContent = `step ${state.at} of ${data.steps.length}`;
        ask(asked, `For whom does ${called(data.roles[state.role])} wait now?`, FOR, (given) => {
            answer = given;
            draw();
            tell();
        });
    }

    slider.addEventListener("keydown", (event) => { if (event.key === "Home" || event.key === "End") event.stopPropagation(); });
    const select = choice("Ask about", data.roles.map((role, number) => [number, role]), (value) => set({ role: Number(value) }));
    select.querySelector("select").value = state.role;
    box.append(
        make("div", { class: "controls" }, select, button("Back", () => set({ at: state.at - 1 })), button("Next", () => set({ at: state.at + 1 })), slider, count),
        asked, all, said,
        make("p", {
            class: "help", text: "Recorded by the emulator: an order, not time. ▶ marks what the last step was about. Five tiles go through three stages; a copy lands when " +
                "somebody needs it, as late as is allowed.",
        }));
    set({});
    let kept = null; // Every step once, as it looks with its answer, and back to the one that is shown.
    reserve(all, data.steps.map((_, at) => at), (at) => {
        kept = kept ?? [state.at, answer];
        [state.at, answer] = at === null ? kept : [at, undefined];
        draw();
        if (at === null) kept = null;
    });
    reserveWords(said, data.steps.map((step) => `${words(step)} Now consumer 0 waits for the producer. That is what you said.`));
});
