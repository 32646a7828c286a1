// A kernel that stores into another block's shared memory, with and without its barriers of the cluster at entry and exit.
"use strict";

Pictures.start("cluster_push", "Barriers of a cluster at the entry and the exit of a kernel that stores", (data, box) => {
    Pictures.variants(data, box, {
        question: "What is wrong with this kernel?",
        answers: ["nothing", "memory is used before it is ready", "memory is used after its block has left"],
        end: ([name]) => !name ? 0 : name === "barrier-init-not-visible" ? 1 : 2,
        switches: [["entry", "barrier at entry"], ["exit", "barrier at exit"]],
        off: ["exit"],
        first: "A cluster of four blocks; each thread stores a value into the tile of the right neighbour, whose barrier counts the bytes. announce arrives at the block's own barrier and announces the bytes of a tile.",
        right: ({ exit }) => `The barrier at entry assures that all blocks run and have initialised their barriers. ${exit
            ? "The one at exit does no harm, but is not needed" : "None is needed at exit"}: a block leaves only after its own barrier has counted all bytes that others send to it, and what it sends comes from registers.`,
        help: "Each variant was compiled and run on the emulator with all checks. ▶ marks the lines that its finding names.",
    });
});
