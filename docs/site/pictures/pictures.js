// What the interactive pictures share. Each picture is a function of its data, which the page carries with it.
"use strict";

const Pictures = (function () {
    const SVG = "http://www.w3.org/2000/svg";

    /** Makes an element: attributes, then children (nodes or text). */
    function make(tag, attributes = {}, ...children) {
        const svg = ["svg", "rect", "text", "g", "line", "path", "title"].includes(tag);
        const node = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
        for (const [name, value] of Object.entries(attributes))
            if (name === "text") node.textContent = value;
            else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
            else node.setAttribute(name, value);
        node.append(...children);
        return node;
    }

    /** Builds `draw(data, box)` into each place that the page has for the picture `name`; `label` says what it is. */
    function start(name, label, draw) {
        const data = JSON.parse(document.getElementById(`data-${name}`).textContent);
        for (const place of document.querySelectorAll(`.interactive[data-picture="${name}"]`)) {
            const box = make("div", { class: "picture", role: "group", "aria-label": label, "data-picture": name });
            place.replaceChildren(box);
            draw(data, box);
        }
    }

    /** A choice among [value, text] pairs; calls `changed` with the value. */
    function choice(label, options, changed) {
        const select = make("select", { onchange: () => changed(select.value) },
            ...options.map(([value, text]) => make("option", { value, text })));
        return make("label", {}, label, select);
    }

    function button(text, pressed, label) {
        return make("button", { type: "button", text, onclick: pressed, ...(label ? { "aria-label": label } : {}) });
    }

    /** Calls `move(dx, dy)` for the arrow keys while `node` has the focus. */
    function arrows(node, move) {
        const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
        node.addEventListener("keydown", (event) => {
            if (!steps[event.key]) return;
            event.preventDefault();
            move(...steps[event.key]);
        });
    }

    /** Scrolls a drawing that is wider than the page so that what lies from `x` to `x + width` of its picture shows. */
    function reveal(drawing, x, width) {
        const svg = drawing.querySelector("svg"), scale = svg.clientWidth / svg.viewBox.baseVal.width, margin = 36;
        const from = x * scale - margin, to = (x + width) * scale + margin;
        if (to > drawing.scrollLeft + drawing.clientWidth) drawing.scrollLeft = to - drawing.clientWidth;
        if (from < drawing.scrollLeft) drawing.scrollLeft = from;
    }

    /** Keeps the place that the largest of several states needs, at every width, so that what follows does not jump. */
    function reserve(node, states, show) {
        let width = 0;
        node.style.boxSizing = "border-box";
        new ResizeObserver(() => {
            if (node.clientWidth === width) return;
            width = node.clientWidth;
            node.style.minHeight = "";
            const heights = states.map((state) => { show(state); return Math.ceil(node.getBoundingClientRect().height); });
            show(null);
            node.style.minHeight = `${Math.max(...heights)}px`;
        }).observe(node);
    }

    /** The same for a line of words: only the longest ones are tried. */
    function reserveWords(node, texts) {
        const longest = [...new Set(texts)].sort((a, b) => b.length - a.length).slice(0, 3);
        let now = null; // What stands there, while others are tried.
        reserve(node, longest, (text) => {
            now ??= node.textContent;
            node.textContent = text === null ? now : text;
            if (text === null) now = null;
        });
    }

    /** Calls `draw(width)` with the pixels that `node` has room for, now and when that changes: words keep their size. */
    function fitted(node, draw) {
        let width = 0;
        function fit() {
            const room = Math.min(node.clientWidth - 8, 860); // Without the node's padding.
            if (room === width || room <= 0) return;
            width = room;
            draw(width);
        }
        fit();
        new ResizeObserver(fit).observe(node);
    }

    /**
     * A question to be answered before something is shown: by one of the words `answers`, or by a number if there are none.
     * `changed(answer)` is called with the answer; with null when there is none again; with undefined when nothing is asked.
     * `again(text)` asks once more, perhaps something else, and takes the answer away, unless the reader does not want to be asked.
     */
    function question(text, answers, changed) {
        const words = make("span", { class: "words", text }), input = make("input", { type: "number", min: 0, step: "any", inputmode: "decimal", "aria-label": "your answer" });
        const asked = make("input", { type: "checkbox", onchange: () => clear() });
        const choices = (answers || []).map((each) => make("button", { type: "button", text: each, "aria-pressed": "false", onclick: () => answer(each) }));
        const fields = answers ? choices : [input, make("button", { type: "submit", text: "Show" })];
        asked.checked = true;

        function answer(value) {
            for (const each of choices) each.setAttribute("aria-pressed", String(each.textContent === value));
            changed(value);
        }
        function clear() {
            input.value = "";
            for (const each of fields) each.disabled = !asked.checked;
            for (const each of choices) each.setAttribute("aria-pressed", "false");
            changed(asked.checked ? null : undefined);
        }
        const node = make("form", {
            class: "question", onsubmit: (event) => {
                event.preventDefault();
                if (input.value !== "") answer(Number(input.value));
            },
        }, words, make("span", { class: "answers" }, ...fields), make("label", {}, asked, "ask me first"));
        return { node, again: (other) => { words.textContent = other || words.textContent; clear(); } };
    }

    const readout = () => make("p", { class: "readout", "aria-live": "polite" });
    const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
    const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

    /** Puts a question into `place` instead of the one that is there; whoever did not want to be asked is not asked now. */
    function ask(place, text, answers, changed) {
        const last = place.querySelector('[type="checkbox"]'), quiet = last && !last.checked, { node } = question(text, answers, changed);
        const asked = node.querySelector('[type="checkbox"]');
        place.replaceChildren(node);
        asked.checked = !quiet;
        asked.dispatchEvent(new Event("change"));
    }

    /**
     * A kernel whose lines can be left out, and what the emulator found in each of its variants. `data.kernels`: {name, lines, runs}; a line is
     * there `with` or `without` a switch, and runs are by the switches' bits. `given`: question, answers (the first: nothing is wrong),
     * end(names of findings) that chooses one of them, kernels (words for each), switches ([name, text] pairs), off (those left out at first), first and right(now): words;
     * help; perhaps extra(now, run, shown): nodes above the listing.
     */
    function variants(data, box, given) {
        const place = make("div"), said = readout(), listing = make("ul", { class: "codelines", tabindex: 0, "aria-label": "the kernel" });
        const extra = make("div");
        const state = { kernel: 0, ...Object.fromEntries(given.switches.map(([name]) => [name, !given.off.includes(name)])) };
        let answer = null;
        const run = (now) => given.switches.map(([name]) => Number(now[name])).join("");
        const found = (now) => data.kernels[now.kernel].runs[run(now)];
        const end = (now) => given.answers[given.end(found(now).map((each) => each.name))];
        const there = (line) => (!line.with || state[line.with]) && (!line.without || !state[line.without]);

        function draw() {
            extra.replaceChildren(...(given.extra ? given.extra(state, run(state), answer !== null) : []));
            const blamed = new Set(answer === null ? [] : found(state).flatMap((each) => each.lines));
            listing.replaceChildren(...data.kernels[state.kernel].lines.map((line) => {
                const marked = there(line) && blamed.has(line.line), indent = line.text.search(/\S/), text = line.text.trim();
                const kind = marked ? "blamed" : line.without && !there(line) ? "kept" : ""; // What stands instead of a line keeps its place.
                return make("li", { class: kind, "aria-hidden": kind === "kept" }, `${marked ? "▶ " : "  "}${" ".repeat(indent)}`,
                    ...(there(line) || line.without ? [text] : [make("s", { text }), "  // left out"]));
            }));
        }
        function words(said, now = state) {
            if (said === null) return given.first;
            const verdict = said === undefined ? "" : said === end(now) ? " That is what you said." : ` You said: ${said}.`;
            const what = `What is wrong: ${end(now)}.${verdict}`;
            const [first, ...more] = found(now);
            if (!first) return `${what} ${given.right(now)}`;
            return `${what} The emulator: ${first.name}. ${first.message}${more.length ? ` It also finds ${more.map((each) => each.name).join(" and ")}.` : ""}`;
        }
        function set(changes) {
            Object.assign(state, changes);
            ask(place, given.question, given.answers, (value) => {
                answer = value;
                draw();
                said.textContent = words(value);
            });
        }
        const check = ([name, text]) => {
            const input = make("input", { type: "checkbox", onchange: () => set({ [name]: input.checked }) });
            input.checked = state[name];
            return make("label", {}, input, text);
        };
        const kernels = given.kernels ? [choice("Kernel", given.kernels.map((text, number) => [number, text]), (value) => set({ kernel: Number(value) }))] : [];
        box.append(make("div", { class: "controls" }, ...kernels, ...given.switches.map(check)), place, said, extra, listing, make("p", { class: "help", text: given.help }));
        set({});
        const bits = given.switches.map(([name]) => name), all = data.kernels.flatMap((each, kernel) => Object.keys(each.runs).map((one) =>
            ({ kernel, ...Object.fromEntries(bits.map((name, bit) => [name, one[bit] === "1"])) })));
        const longest = given.answers.reduce((a, b) => a.length > b.length ? a : b);
        reserveWords(said, all.map((now) => words(`${longest} `, now)));
    }

    return { make, start, choice, button, arrows, reveal, reserve, reserveWords, fitted, question, ask, variants, readout, clamp, plural };
})();
