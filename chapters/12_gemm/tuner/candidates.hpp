/// @file candidates.hpp
/// What the tuner of chapter 12 tries: shapes of tiles, stages, clusters, panels.
#pragma once

#include "../launching.cuh"

#include <vector>

namespace gemm::tuner {

/// One compiled kernel: its choices as numbers, and its launch with rows of tiles in a band.
struct Candidate {
    int rows, columns, stages, down, across, panels;
    void (*launch)(const Operands&, unsigned band);
};

/// One list per translation unit.
std::vector<Candidate> wide_candidates();
std::vector<Candidate> square_candidates();

} // namespace gemm::tuner
