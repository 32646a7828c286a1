// Two kernels that use another block's shared memory, with and without their barriers of the cluster at entry and exit.
"use strict";

Pictures.start("cluster_lifetime", "Barriers of a cluster at the entry and the exit of a kernel", (data, box) => {
    const EARLY = ["race-shared", "barrier-init-not-visible"];
    Pictures.variants(data, box, {
        question: "What is wrong with this kernel?",
        answers: ["nothing", "memory is used before it is ready", "memory is used after its block has left"],
        end: ([name]) => !name ? 0 : EARLY.includes(name) ? 1 : 2,
        kernels: ["reads the neighbour's tile", "sends its tile to the neighbour"],
        switches: [["entry", "barrier at entry"], ["exit", "barrier at exit"]],
        off: ["exit"],
        first: "A cluster of four blocks; each uses the shared memory of its right neighbour.",
        right: ({ exit }) => exit
            ? "The first barrier assures that all blocks run and have initialised what others use, the last that none leaves while others still use its memory."
            : "It needs no barrier at the end: a block leaves only after its own mbarrier has counted all bytes that others send to it.",
        help: "Each variant was compiled and run on the emulator with all checks. ▶ marks the lines that its finding names.",
    });
});
