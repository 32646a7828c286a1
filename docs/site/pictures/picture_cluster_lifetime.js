// A kernel that reads another block's shared memory, with and without its barriers of the cluster at entry and exit.
"use strict";

Pictures.start("cluster_lifetime", "Barriers of a cluster at the entry and the exit of a kernel that reads", (data, box) => {
    Pictures.variants(data, box, {
        question: "What is wrong with this kernel?",
        answers: ["nothing", "memory is used before it is ready", "memory is used after its block has left"],
        end: ([name]) => !name ? 0 : name === "race-shared" ? 1 : 2,
        switches: [["entry", "barrier at entry"], ["exit", "barrier at exit"]],
        off: ["exit"],
        first: "A cluster of four blocks; each reads the tile of its right neighbour.",
        right: () => "The first barrier assures that all blocks run and have written their tiles, the last that none leaves while others still read its tile.",
        help: "Each variant was compiled and run on the emulator with all checks. ▶ marks the lines that its finding names.",
    });
});
