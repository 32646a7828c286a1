/// @file candidate.hpp
/// What the tuner tries: a compiled kernel with a shape, and what can be chosen at launch.
#pragma once

#include "walk.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tuner {

/// The matrices of one run. `in` is rows × columns, `out` is columns × rows; floats.
struct Problem {
    const float* in = nullptr;
    float* out = nullptr;
    std::uint32_t rows = 0;
    std::uint32_t columns = 0;
};

/// What can be chosen at launch. Policies are made by createpolicy (PTX ISA, 'createpolicy').
struct Setting {
    OrderSpec order;
    int blocks_per_sm = 0;   ///< at most so many; 0: as many as fit
    int cluster = 1;         ///< blocks that are placed together
    int load_policy = 0;     ///< index into policy_names
    int store_policy = 0;    ///< index into policy_names
    int promotion = 3;       ///< CUtensorMapL2promotion of tensor loads
    int tiles_per_block = 0; ///< of kernels that take several; 0: blocks stay until all is done
};

inline constexpr const char* policy_names[] = {
    "normal",         "evict_first",    "evict_last",     "unchanged",
    "3/4 evict_last", "1/2 evict_last", "1/4 evict_last", "1/2 evict_last, else first"};
inline constexpr int policy_count = 8;
inline constexpr int store_policies = 4; ///< the first of them, which stores take too
inline constexpr int evict_last = 2;

/// What a launch needs beyond its setting.
struct Context {
    std::uint64_t policies[policy_count] = {};
    int multiprocessors = 132;
};

/// One compiled kernel.
struct Candidate {
    std::string name;
    std::string family; ///< registers, persistent, tensor, probe
    std::uint32_t tile_rows = 0;
    std::uint32_t tile_columns = 0;
    int threads = 0;
    int access = 16; ///< bytes of a global access
    int stages = 0;  ///< of persistent kernels
    std::string load;
    std::string store;
    bool takes_policies = false;
    bool takes_promotion = false;
    bool transposes = true; ///< a probe does not
    void (*launch)(const Candidate&, const Problem&, const Setting&, const Context&) = nullptr;
};

/// A cluster for a launch; nothing for a single block, which needs none.
inline std::optional<dim3> cluster_of(unsigned blocks) {
    return blocks > 1 ? std::optional<dim3>(blocks) : std::nullopt;
}

/// One list per translation unit.
std::vector<Candidate> shapes_plain();
std::vector<Candidate> shapes_hinted();
std::vector<Candidate> shapes_wide();
std::vector<Candidate> access_modes();
std::vector<Candidate> row_copies();
std::vector<Candidate> staying();
std::vector<Candidate> tensor_direct();
std::vector<Candidate> tensor_stored();
std::vector<Candidate> probes();

/// Dynamic shared memory that leaves room for at most `blocks_per_sm` blocks, and at least `needed`.
inline std::size_t shared_for(std::size_t needed, int blocks_per_sm) {
    constexpr std::size_t per_sm = 228 * 1024; // each block takes 1 KiB more than it asks for
    if (blocks_per_sm <= 0)
        return needed;
    const std::size_t share = (per_sm / static_cast<std::size_t>(blocks_per_sm) - 1024) / 128 * 128;
    return share > needed ? share : needed;
}

} // namespace tuner
