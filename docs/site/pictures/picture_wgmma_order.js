// A product that is asked for and waited for, with and without fence, commit and wait.
"use strict";

Pictures.start("wgmma_order", "Fence, commit and wait around a wgmma", (data, box) => {
    const { make } = Pictures, STEPS = ["sums = 1", "fence", "wgmma", "commit", "wait", "read sums", "end"];

    /** What the warp does, in its order, and below it from where to where its product is under way, as the emulator recorded it. */
    function order(now, run, shown) {
        const { landed, end } = data.kernels[0].products[run], until = landed ? STEPS.indexOf("wait") : STEPS.indexOf("end");
        const steps = STEPS.map((name) => make("span", { class: "step" }, now[name] === false ? make("s", { text: name }) : name));
        const product = make("span", { class: landed ? "product" : "product lost", text: !shown ? "?" : landed ? `product, ${end}` : `product, never seen to end: ${end}` });
        product.style.gridColumn = shown ? `${STEPS.indexOf("wgmma") + 1} / ${until + 2}` : "3 / 8";
        return [make("div", { class: "order" }, ...steps, product)];
    }

    Pictures.variants(data, box, {
        question: "What is wrong with this kernel?",
        answers: ["nothing", "it may begin with old sums", "sums are read too early", "both"],
        end: (names) => Number(names.includes("missing-wgmma-fence")) + 2 * Number(names.includes("wgmma-register-in-flight")),
        switches: [["fence", "fence"], ["commit", "commit"], ["wait", "wait"]],
        off: ["commit"],
        first: "128 threads; the sums begin at 1, and a product is added to them.",
        right: () => "The fence puts the ones into the registers before the product uses them, the commit makes a group of it, and the wait ends when that group is complete.",
        extra: order,
        help: "The upper row is the warp's order, the lower one its product: an order, not time. Each variant was compiled and run on the emulator with all checks. ▶ marks the lines that its findings name.",
    });
});
