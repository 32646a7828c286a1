/// @file enough_in_flight.cu
/// Exercise: how much should a kernel ask for before it waits?
///
/// Given    A kernel that only reads: `registers` for each thread (a multiple of 8), blocks of `threads` (a
///          multiple of 32), one tile after another. In a tile each thread issues `loads` loads of 16 bytes
///          and then waits for all of them. An SM holds only whole blocks: at most 32, with at most 2048
///          threads and 65,536 registers in all. Shared memory is not scarce.
/// Wanted   `loads`: as few as let the threads of an SM ask for 32 KiB before they wait. `tiles`: then, as
///          few as let a block bring 4 KiB before it ends.
/// Missing  plan_of. The judge launches enough_in_flight with one thread for each kernel of its list.
/// Judged   By the plans alone.

/// What a thread asks for before it waits, and how often before its block ends.
struct Plan {
    int loads;
    int tiles;
};

__device__ Plan plan_of(int registers, int threads) {
    //@ hole
    const int blocks = min(32, min(2048 / threads, 65536 / (registers * threads))); // on an SM
    const int loads = (32 * 1024 + 16 * blocks * threads - 1) / (16 * blocks * threads);
    const int tile = 16 * loads * threads; // bytes that a block brings at once
    return {.loads = loads, .tiles = (4 * 1024 + tile - 1) / tile};
    //? return {.loads = 1, .tiles = 1}; // YOUR CODE: this is enough for 32 registers and blocks of 256
    //@ end
}

__global__ void enough_in_flight(int registers, int threads, Plan* plan) {
    *plan = plan_of(registers, threads);
}
