// A tensor map, argument by argument: does the driver take it, and if not, which rule is broken?
"use strict";

Pictures.start("map_rules", "The arguments of a tensor map, and the rules that they must keep", (data, box) => {
    const { make, choice, button, question, readout, reserveWords } = Pictures;
    const RANKS = 3, SHARED = 228 * 1024, AXES = ["0, x", "1, y", "2, z"], SWIZZLES = ["none", "32 bytes", "64 bytes", "128 bytes"];
    const TYPES = { 1: "uint8, 1 byte", 2: "bf16, 2 bytes", 4: "float, 4 bytes" };
    const COLUMNS = { dims: "size", strides: "stride", box: "box", steps: "step" };
    const said = readout(), fields = {}, cells = {};
    let answer = null, number = 0, given = data.cases[0];

    const shown = () => answer !== null;
    const broken = (name, i, value, rule) => ({ name, i, text: `${name === "steps" ? "element_strides" : name}[${i}] = ${value}: ${rule}` });

    /** The rules of workbook/tensor_map.hpp in its order and words. A test compares them with that and with the driver. */
    function problems({ element_bytes: size, rank, dims, strides, box: sides, steps, swizzle }) {
        const found = [], inner = sides[0] * size, has = `the inner dimension of the box has ${inner} bytes, `;
        for (let i = 0; i < rank; ++i)
            if (dims[i] < 1 || dims[i] > 2 ** 32) found.push(broken("dims", i, dims[i], "a dimension has 1 to 2^32 elements"));
        for (let i = 0; i + 1 < rank; ++i)
            if (strides[i] % 16)
                found.push(broken("strides", i, strides[i], "must be a multiple of 16 bytes" + (strides[i] === dims[i] ? "; strides count bytes, not elements" : "; pad the rows of the tensor")));
            else if (strides[i] >= 2 ** 40) found.push(broken("strides", i, strides[i], "must be less than 2^40 bytes"));
        for (let i = 0; i < rank; ++i) {
            if (sides[i] < 1 || sides[i] > 256) found.push(broken("box", i, sides[i], "a box has 1 to 256 elements in a dimension"));
            if (steps[i] < 1 || steps[i] > 8) found.push(broken("steps", i, steps[i], "must be 1 to 8"));
        }
        if (inner % 16) found.push(broken("box", 0, sides[0], has + "it must be a multiple of 16"));
        else if (swizzle && inner > 16 << swizzle) found.push(broken("box", 0, sides[0], `${has}this swizzle takes at most ${16 << swizzle}`));
        const bytes = sides.reduce((product, side, i) => product * Math.floor(side / Math.max(steps[i], 1)), size);
        if (bytes > SHARED) found.push({ name: "box", i: 0, text: `box: it has ${bytes} bytes, shared memory holds ${SHARED}` });
        return found;
    }

    /** Bytes that a copy moves and its barrier counts; in dimension 0 each element is moved. */
    const counted = ({ element_bytes: size, box: sides, steps }) => sides.reduce((product, side, i) => product * (i ? Math.ceil(side / steps[i]) : side), size);

    function words(layout, reply) {
        if (reply === null) return "A driver says yes, or no more than CUDA_ERROR_INVALID_VALUE.";
        const found = problems(layout), verdict = reply === undefined ? "" : (reply === "takes it") === !found.length ? " You said so." : " You said the opposite.";
        if (!found.length) return `The driver takes it.${verdict} A copy moves ${counted(layout)} bytes, and its barrier counts as many.`;
        const more = found.length === 1 ? "" : ` Broken besides: ${found.slice(1).map(({ text }) => text.split(" ")[0]).join(", ")}.`;
        return `The driver says CUDA_ERROR_INVALID_VALUE.${verdict} The builder of this book: ${found[0].text}.${more}`;
    }

    function read() {
        const list = (name, count) => Array.from({ length: count }, (_, i) => Math.floor(Number(fields[name][i].value)));
        const [size, rank, swizzle] = [types, ranks, swizzles].map((each) => Number(each.querySelector("select").value));
        given = { element_bytes: size, rank, swizzle, dims: list("dims", rank), strides: list("strides", rank - 1), box: list("box", rank), steps: list("steps", rank) };
        for (const name of Object.keys(COLUMNS))
            fields[name].forEach((field, i) => { if (field) field.disabled = i >= rank - (name === "strides" ? 1 : 0); });
        ask.again();
    }

    function load(which) {
        number = which % data.asked;
        const wanted = data.cases[number], put = (node, value) => { node.querySelector("select").value = value; };
        put(types, wanted.element_bytes);
        put(ranks, wanted.rank);
        put(swizzles, wanted.swizzle);
        for (const name of Object.keys(COLUMNS))
            fields[name].forEach((field, i) => { if (field) field.value = wanted[name][i] ?? (name === "steps" ? 1 : name === "strides" ? 16 : 4); });
        title.textContent = `Map ${number + 1} of ${data.asked}`;
        read();
    }

    function show() {
        const found = shown() ? problems(given) : [];
        for (const name of Object.keys(COLUMNS))
            fields[name].forEach((field, i) => {
                if (!field) return;
                const wrong = found.some((each) => each.name === name && each.i === i);
                field.setAttribute("aria-invalid", String(wrong));
                cells[name][i].className = wrong ? "broken" : "";
            });
        said.textContent = words(given, answer);
    }

    const body = AXES.map((axis, i) => make("tr", {}, make("th", { scope: "row", text: axis }), ...Object.entries(COLUMNS).map(([name, title]) => {
        const none = name === "strides" && i === RANKS - 1;
        const field = none ? null : make("input", { type: "number", min: 0, "aria-label": `${title}, dimension ${i}`, oninput: read });
        (fields[name] ??= []).push(field);
        const cell = make("td", {}, ...(none ? [] : [field]));
        (cells[name] ??= []).push(cell);
        return cell;
    })));
    const table = make("table", { class: "fields" }, make("thead", {}, make("tr", {}, ...["", ...Object.values(COLUMNS)].map((text) => make(text ? "th" : "td", text ? { scope: "col", text } : {})))), make("tbody", {}, ...body));
    const types = choice("Element", Object.entries(TYPES), read), ranks = choice("Rank", [1, 2, 3].map((rank) => [rank, rank]), read);
    const swizzles = choice("Swizzle", SWIZZLES.map((name, n) => [n, name]), read), title = make("span", { class: "count" });
    const ask = question("What does the driver say to this map?", ["takes it", "refuses it"], (reply) => { answer = reply; show(); });
    box.append(
        make("div", { class: "controls" }, title, button("Next map", () => load(number + 1)), button("Previous map", () => load(number + data.asked - 1))),
        make("div", { class: "controls" }, types, ranks, swizzles),
        make("div", { class: "drawing" }, table), ask.node, said,
        make("p", {
            class: "help",
            text: "Change any field, too. Sizes and boxes count elements, strides count bytes; the step is the element stride. A field with ✗ breaks a rule. The rules are those of this book's builder, and a test compares them with what the emulator's driver answers to " +
                `${data.cases.length} maps. The base address is a multiple of 16 bytes here, and nothing is interleaved.`,
        }));
    load(1);
    reserveWords(said, data.cases.map((each) => words(each, "takes it")));
});
