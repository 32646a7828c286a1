/// @file sync_cost.cuh
/// What one operation of a barrier or a fence takes: chains of them between two readings of the clock.
///
/// Each operation is a struct with `step(value)`. What a step returns goes into the next, so that an
/// operation with a result waits for the one before; the others are kept in order by `asm volatile`.
#pragma once

#include "barriers.cuh"

#include "workbook/buffer.hpp"

#include <cuda/barrier>
#include <cuda/ptx>

#include <cstdint>
#include <vector>

namespace sync_cost {

namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

inline constexpr int warp_threads = 32;
inline constexpr int most_threads = 1024;

#pragma nv_diag_suppress static_var_with_dynamic_init // init() sets barriers up, no constructor runs

/// What the operations work on. Each operation initialises the barrier as it needs it.
struct Place {
    std::uint64_t* bar;
    Barrier* library_bar;
    unsigned* shared_word; ///< of this thread alone
    unsigned* global_word; ///< of this thread alone
    int threads;           ///< how many threads take part
    int steps;             ///< how many steps each of them makes

    __device__ bool first() const { return threadIdx.x == 0; }
    __device__ bool first_of_warp() const { return threadIdx.x % warp_threads == 0; }
    __device__ int warps() const { return threads / warp_threads; }
};

/// An operation that needs no barrier to be initialised.
struct Unprepared {
    __device__ static void prepare(const Place&) {}
};

// ---- barriers of the block and of the warp ----

/// __syncthreads(): all threads of the block take part.
struct SyncThreads : Unprepared {
    __device__ static unsigned step(const Place&, unsigned value) {
        __syncthreads();
        return value;
    }
};

/// bar.sync with another barrier than __syncthreads() has, for all threads of the block.
struct SecondBarrier : Unprepared {
    __device__ static unsigned step(const Place&, unsigned value) {
        asm volatile("bar.sync 1;" ::: "memory");
        return value;
    }
};

/// bar.sync with a number of threads: fewer warps than the block has.
struct NamedBarrier : Unprepared {
    __device__ static unsigned step(const Place& place, unsigned value) {
        asm volatile("bar.sync 1, %0;" ::"r"(place.threads) : "memory");
        return value;
    }
};

struct SyncWarp : Unprepared {
    __device__ static unsigned step(const Place&, unsigned value) {
        __syncwarp();
        return value;
    }
};

// ---- the mbarrier ----

/// Every lane arrives, and nobody waits: all steps are arrivals of one phase.
struct Arrive : Unprepared {
    __device__ static void prepare(const Place& place) {
        if (place.first())
            barriers::mbarrier_init(place.bar, place.steps * place.threads);
    }
    __device__ static unsigned step(const Place& place, unsigned value) {
        barriers::mbarrier_arrive(place.bar);
        return value;
    }
};

/// One lane of each warp arrives.
struct ArriveOneLane : Unprepared {
    __device__ static void prepare(const Place& place) {
        if (place.first())
            barriers::mbarrier_init(place.bar, place.steps * place.warps());
    }
    __device__ static unsigned step(const Place& place, unsigned value) {
        if (place.first_of_warp())
            barriers::mbarrier_arrive(place.bar);
        return value;
    }
};

/// A look at a phase that is complete: parity 1 of a fresh barrier. Its answer, 1, is the next one's parity.
template <bool may_suspend>
struct WaitHit : Unprepared {
    __device__ static void prepare(const Place& place) {
        if (place.first())
            barriers::mbarrier_init(place.bar, 1);
    }
    __device__ static unsigned step(const Place& place, unsigned value) {
        return may_suspend ? barriers::mbarrier_try_wait_parity(place.bar, value)
                           : ptx::mbarrier_test_wait_parity(place.bar, value);
    }
};

/// test_wait for a phase that is not complete: parity 0 of a fresh barrier, and the answer is 0.
struct TestMiss : WaitHit<false> {};

/// Every thread arrives and waits for all others, phase after phase.
struct RoundAll : Unprepared {
    __device__ static void prepare(const Place& place) {
        if (place.first())
            barriers::mbarrier_init(place.bar, place.threads);
    }
    __device__ static unsigned step(const Place& place, unsigned value) {
        barriers::mbarrier_arrive(place.bar);
        barriers::wait_parity(place.bar, value);
        return value ^ 1;
    }
};

/// The round of libcu++: a token from the arrival.
struct RoundLibrary : Unprepared {
    __device__ static void prepare(const Place& place) {
        if (place.first())
            init(place.library_bar, place.threads);
    }
    __device__ static unsigned step(const Place& place, unsigned value) {
        place.library_bar->arrive_and_wait();
        return value;
    }
};

// ---- fences, and what they have to order ----

enum class After { nothing, shared_store, global_store };

/// One store of this thread's own word, or none.
template <After after>
__device__ inline void store_before(const Place& place) {
    if constexpr (after == After::shared_store)
        *static_cast<volatile unsigned*>(place.shared_word) = 1;
    if constexpr (after == After::global_store)
        *static_cast<volatile unsigned*>(place.global_word) = 1;
}

enum class Kind {
    none,
    block,
    device,
    system,
    acq_rel_block,
    acq_rel_device,
    proxy_shared,
    proxy_all,
    barrier_init
};

inline constexpr const char* kind_names[] = {"no fence",
                                             "__threadfence_block()",
                                             "__threadfence()",
                                             "__threadfence_system()",
                                             "fence.acq_rel.cta",
                                             "fence.acq_rel.gpu",
                                             "fence.proxy.async.shared::cta",
                                             "fence.proxy.async",
                                             "fence.mbarrier_init.release.cluster"};

template <Kind kind>
__device__ inline void fence() {
    if constexpr (kind == Kind::block)
        __threadfence_block();
    if constexpr (kind == Kind::device)
        __threadfence();
    if constexpr (kind == Kind::system)
        __threadfence_system();
    if constexpr (kind == Kind::acq_rel_block)
        asm volatile("fence.acq_rel.cta;" ::: "memory");
    if constexpr (kind == Kind::acq_rel_device)
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if constexpr (kind == Kind::proxy_shared)
        ptx::fence_proxy_async(ptx::space_shared);
    if constexpr (kind == Kind::proxy_all)
        ptx::fence_proxy_async();
    if constexpr (kind == Kind::barrier_init)
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
}

template <Kind kind, After after>
struct FenceAfter : Unprepared {
    __device__ static unsigned step(const Place& place, unsigned value) {
        store_before<after>(place);
        fence<kind>();
        return value;
    }
};

// ---- the chain ----

/// What a chain found: the cycles of the slowest warp, and the value that came out of thread 0's last step.
struct Chain {
    long long cycles;
    unsigned value;
};

/// `threads` threads of a block of blockDim.x make `steps` steps each, beginning with `value`. The others
/// wait for the end.
template <class Operation>
__global__ void chain_of(int threads, int steps, unsigned value, unsigned* words, Chain* result) {
    __shared__ std::uint64_t bar;
    __shared__ Barrier library_bar;
    __shared__ unsigned shared_words[most_threads];
    __shared__ long long slowest;
    const Place place{&bar, &library_bar, shared_words + threadIdx.x, words + threadIdx.x, threads, steps};
    Operation::prepare(place);
    if (threadIdx.x == 0)
        slowest = 0;
    __syncthreads();
    if (threadIdx.x < threads) {
        const long long start = clock64();
#pragma unroll 32 // the loop's own instructions are a small part
        for (int i = 0; i < steps; ++i)
            value = Operation::step(place, value);
        const long long cycles = clock64() - start;
        if (place.first_of_warp())
            atomicMax(&slowest, cycles);
        if (threadIdx.x == 0)
            result->value = value;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        result->cycles = slowest;
}

// ---- from one warp to another and back ----

/// How a warp tells the other that it is its turn, and how the other hears of it.
enum class Signal { try_wait, test_wait, named_barrier, flag };

inline constexpr const char* signal_names[] = {"mbarrier, arrive and try_wait",
                                               "mbarrier, arrive and test_wait", "bar.arrive and bar.sync",
                                               "flag, st.release and ld.acquire"};

/// What two warps share: a barrier and a flag for each direction.
struct Line {
    std::uint64_t bars[2];
    unsigned flags[2];
};

template <Signal signal>
__device__ inline void tell(Line& line, int to, unsigned turn) {
    const bool one = threadIdx.x % warp_threads == 0;
    if constexpr (signal == Signal::named_barrier)
        asm volatile("bar.arrive %0, 64;" ::"r"(1 + to) : "memory");
    else if constexpr (signal == Signal::flag) {
        if (one)
            asm volatile(
                "st.release.cta.shared.u32 [%0], %1;" ::"r"(barriers::shared_address(&line.flags[to])),
                "r"(turn + 1)
                : "memory");
    } else if (one)
        barriers::mbarrier_arrive(&line.bars[to]);
}

template <Signal signal>
__device__ inline void hear(Line& line, int me, unsigned turn) {
    if constexpr (signal == Signal::named_barrier)
        asm volatile("bar.sync %0, 64;" ::"r"(1 + me) : "memory");
    else if constexpr (signal == Signal::flag) {
        unsigned seen = 0;
        do
            asm volatile("ld.acquire.cta.shared.u32 %0, [%1];"
                         : "=r"(seen)
                         : "r"(barriers::shared_address(&line.flags[me]))
                         : "memory");
        while (seen != turn + 1);
    } else if constexpr (signal == Signal::try_wait)
        barriers::wait_parity(&line.bars[me], turn % 2);
    else
        while (!ptx::mbarrier_test_wait_parity(&line.bars[me], turn % 2)) {
        }
}

/// Two warps take turns, `steps` times each.
template <Signal signal>
__global__ void ping_pong(int steps, Chain* result) {
    __shared__ Line line;
    const int me = threadIdx.x / warp_threads;
    if (threadIdx.x < 2) {
        barriers::mbarrier_init(&line.bars[threadIdx.x], 1);
        line.flags[threadIdx.x] = 0;
    }
    __syncthreads();
    const long long start = clock64();
    for (int i = 0; i < steps; ++i) {
        if (me == 0)
            tell<signal>(line, 1, i);
        hear<signal>(line, me, i);
        if (me == 1)
            tell<signal>(line, 0, i);
    }
    const long long cycles = clock64() - start;
    if (threadIdx.x == 0)
        *result = {cycles, static_cast<unsigned>(steps)};
}

// ---- a look that does not come true ----

/// Warp 0 looks by try_wait at a phase that warp 1 completes after `delay` cycles. Counts the looks that
/// failed, and from the arrival to the return the cycles that waking up took.
struct Misses {
    long long waited; ///< cycles from the first look to the last
    long long woken;  ///< cycles from the clock just before the arrival to the return of the last look
    unsigned looks;   ///< looks that returned false
};

__global__ void miss_then_hit(long long delay, Misses* result) {
    __shared__ std::uint64_t bar;
    __shared__ long long arrived;
    if (threadIdx.x == 0)
        barriers::mbarrier_init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == warp_threads) {
        const long long start = clock64();
        while (clock64() - start < delay) {
        }
        arrived = clock64();
        barriers::mbarrier_arrive(&bar);
    } else if (threadIdx.x == 0) {
        const long long start = clock64();
        unsigned looks = 0;
        while (!barriers::mbarrier_try_wait_parity(&bar, 0))
            ++looks;
        const long long end = clock64();
        *result = {end - start, end - arrived, looks};
    }
}

#pragma nv_diag_default static_var_with_dynamic_init

} // namespace sync_cost
