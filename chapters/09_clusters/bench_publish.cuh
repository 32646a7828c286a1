/// @file bench_publish.cuh
/// Chapter 9's measurements: what an arrival on another block's barrier publishes, by the letter and in
/// practice.
#pragma once

#include "bench_rings.cuh"

#include "workbook/bench.hpp"
#include "workbook/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace clusters {

using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

/// Where the words lie that one block writes and the other one reads.
enum class Memory {
    shared, ///< in the reader's shared memory
    global
};

inline constexpr int words_per_thread = 4;
inline constexpr int passed_words = words_per_thread * block_threads;

/// Block 1 of each cluster of two writes the number of the round into passed_words words and arrives; block 0
/// waits, reads them, counts those that have an older number, and hands them back by the letter.
template <Memory memory, Handover arrive, Handover wait>
__global__ void publish_words(unsigned rounds, unsigned* global, unsigned long long* stale) {
    __shared__ unsigned box[passed_words];
    __shared__ std::uint64_t full;
    __shared__ std::uint64_t empty;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, block_threads / 32);
        ptx::mbarrier_init(&empty, block_threads / 32);
        publish_barriers();
    }
    for (int i = threadIdx.x; i < passed_words; i += block_threads)
        box[i] = 0;
    cluster.sync();
    unsigned* const words =
        memory == Memory::global ? global + blockIdx.x / 2 * passed_words : cluster.map_shared_rank(box, 0);
    unsigned long long older = 0;
    for (unsigned round = 1; round <= rounds; ++round) {
        const unsigned phase = (round - 1) % 2;
        if (rank == 1) {
            wait_parity<Handover::letter>(&empty, phase ^ 1);
            for (int i = threadIdx.x; i < passed_words; i += block_threads)
                words[(i * 37) % passed_words] = round; // other words than this thread's partner reads
        } else {
            wait_parity<wait>(&full, phase);
            for (int i = threadIdx.x; i < passed_words; i += block_threads)
                older += const_cast<const volatile unsigned*>(words)[i] != round;
        }
        __syncwarp();
        if (threadIdx.x % 32 == 0 && rank == 1)
            arrive_at<arrive>(&full, 0);
        else if (threadIdx.x % 32 == 0)
            arrive_at<Handover::letter>(&empty, 1);
    }
    if (older > 0)
        atomicAdd(stale, older);
    cluster.sync();
}

template <Memory memory, Handover arrive, Handover wait>
void publish_row(Bench& bench, const char* where, const char* arrival, const char* waiting) {
    if (bench.dry() && (arrive == Handover::plain || wait == Handover::plain))
        return; // Stale words are what these show, and the emulator refuses the race.
    const unsigned clusters = bench.size(64u, 1u);
    const unsigned rounds = bench.size(20'000u, 4u);
    workbook::LaunchShape shape = cluster_shape(1, 2);
    shape.grid.x = 2 * clusters;
    DeviceBuffer<unsigned> words(std::vector<unsigned>(std::size_t{clusters} * passed_words, 0));
    DeviceBuffer<unsigned long long> stale(std::vector<unsigned long long>{0});
    workbook::launch(publish_words<memory, arrive, wait>, shape, rounds, words.data(), stale.data());
    const unsigned long long found = stale.download().front();
    if (arrive == Handover::letter && wait == Handover::letter && found > 0)
        bench.wrong("publish_words by the letter: stale words");
    bench.row("publishing", std::vector<BenchCell>{{"memory", where},
                                                   {"arrive", arrival},
                                                   {"wait", waiting},
                                                   {"words", std::size_t{clusters} * rounds * passed_words},
                                                   {"stale", static_cast<std::size_t>(found)}});
}

inline void publishing(Bench& bench) {
    bench.table("publishing",
                "Words that a block writes for another one, and how many it finds stale after its wait",
                std::vector<workbook::BenchColumn>{{"memory", "memory of the words"},
                                                   {"arrive", "mbarrier.arrive"},
                                                   {"wait", "mbarrier.try_wait"},
                                                   {"words", "words read"},
                                                   {"stale", "stale"}});
    constexpr Handover letter = Handover::letter;
    constexpr Handover plain = Handover::plain;
    constexpr const char* release = "release.cluster";
    constexpr const char* acquire = "acquire.cluster";
    publish_row<Memory::shared, letter, letter>(bench, "shared", release, acquire);
    publish_row<Memory::shared, letter, plain>(bench, "shared", release, "plain");
    publish_row<Memory::shared, plain, letter>(bench, "shared", "plain", acquire);
    publish_row<Memory::shared, plain, plain>(bench, "shared", "plain", "plain");
    publish_row<Memory::global, letter, letter>(bench, "global", release, acquire);
    publish_row<Memory::global, letter, plain>(bench, "global", release, "plain");
    publish_row<Memory::global, plain, letter>(bench, "global", "plain", acquire);
    publish_row<Memory::global, plain, plain>(bench, "global", "plain", "plain");
}

} // namespace clusters
