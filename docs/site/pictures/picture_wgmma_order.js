// A product that is asked for and waited for, with and without fence, commit and wait.
"use strict";

Pictures.start("wgmma_order", "Fence, commit and wait around a wgmma", (data, box) => {
    Pictures.variants(data, box, {
        question: "What is wrong with this kernel?",
        answers: ["nothing", "it may begin with old sums", "sums are read too early", "both"],
        end: (names) => Number(names.includes("missing-wgmma-fence")) + 2 * Number(names.includes("wgmma-register-in-flight")),
        switches: [["fence", "fence"], ["commit", "commit"], ["wait", "wait"]],
        first: "128 threads; the sums begin at 1, and a product is added to them.",
        right: () => "The fence puts the ones into the registers before the product uses them, the commit makes a group of it, and the wait ends when that group is complete.",
        help: "Each variant was compiled and run on the emulator with all checks. ▶ marks the lines that its findings name.",
    });
});
