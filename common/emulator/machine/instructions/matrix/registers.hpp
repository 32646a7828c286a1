#pragma once
/// \file
/// Matrices in the registers of a warp.

#include "machine/cluster.hpp"
#include "machine/decoder.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace emu::matrix {

/// The rows of an operand `{r0, r1, …}`.
using Rows = std::vector<Row>;

/// The registers of a source of `count` registers of `bytes`.
Rows sources(DecodeContext& context, std::size_t operand, std::size_t count, unsigned bytes);
/// The registers of a destination.
Rows destinations(DecodeContext& context, std::size_t operand, std::size_t count, unsigned bytes);

/// What an instruction needs that all lanes of a warp execute together.
struct WarpPlan : OpExtra {
    Warp::MeetingAction action = nullptr;
};
/// The handler of such an instruction: its action is executed when all lanes have come.
Flow execute_together(Warp& warp, const Op& op, LaneMask mask);

/// Values of all lanes, [register][lane].
class Registers {
  public:
    Registers(std::size_t count, unsigned words) : words_(words), bits_(count * words * warp_size) {}

    std::uint32_t word(std::size_t index, unsigned lane) const { return bits_[index * warp_size + lane]; }
    std::uint32_t& word(std::size_t index, unsigned lane) { return bits_[index * warp_size + lane]; }
    /// Of registers of 64 bits.
    std::uint64_t wide(std::size_t index, unsigned lane) const {
        const std::size_t at = 2 * (index * warp_size + lane);
        return bits_[at] | std::uint64_t{bits_[at + 1]} << 32;
    }
    void set_wide(std::size_t index, unsigned lane, std::uint64_t value) {
        const std::size_t at = 2 * (index * warp_size + lane);
        bits_[at] = static_cast<std::uint32_t>(value);
        bits_[at + 1] = static_cast<std::uint32_t>(value >> 32);
    }
    unsigned words() const { return words_; }
    std::uint32_t* row(std::size_t index) { return &bits_[index * words_ * warp_size]; }
    const std::uint32_t* row(std::size_t index) const { return &bits_[index * words_ * warp_size]; }

  private:
    unsigned words_;
    std::vector<std::uint32_t> bits_;
};

/// The values of the rows that `rows_of(op)` names, whatever place each lane comes from.
template <class RowsOf>
Registers read(Warp& warp, const Op& op, unsigned words, RowsOf rows_of) {
    const auto copy = [words](const std::uint32_t* from, std::uint32_t* into, unsigned lane) {
        for (unsigned w = 0; w < words; ++w)
            into[lane * words + w] = from[lane * words + w];
    };
    Registers result(rows_of(op).size(), words);
    for (std::size_t i = 0; i < rows_of(op).size(); ++i) {
        if (warp.meeting().empty()) {
            const auto* from = warp.row<std::uint32_t>(rows_of(op)[i]);
            for (unsigned lane = 0; lane < warp_size; ++lane)
                copy(from, result.row(i), lane);
        }
        for (const Warp::MeetingPlace& place : warp.meeting()) {
            const auto* from = warp.row_in<std::uint32_t>(place.frame, rows_of(*place.op)[i]);
            for_lanes(place.lanes, [&](unsigned lane) { copy(from, result.row(i), lane); });
        }
    }
    return result;
}

template <class RowsOf>
void write(Warp& warp, const Op& op, LaneMask lanes, const Registers& values, RowsOf rows_of) {
    const unsigned words = values.words();
    const auto copy = [words](const std::uint32_t* from, std::uint32_t* into, unsigned lane) {
        for (unsigned w = 0; w < words; ++w)
            into[lane * words + w] = from[lane * words + w];
    };
    for (std::size_t i = 0; i < rows_of(op).size(); ++i) {
        if (warp.meeting().empty()) {
            auto* into = warp.row<std::uint32_t>(rows_of(op)[i]);
            for_lanes(lanes, [&](unsigned lane) { copy(values.row(i), into, lane); });
        }
        for (const Warp::MeetingPlace& place : warp.meeting()) {
            auto* into = warp.row_in<std::uint32_t>(place.frame, rows_of(*place.op)[i]);
            for_lanes(place.lanes, [&](unsigned lane) { copy(values.row(i), into, lane); });
        }
    }
}

} // namespace emu::matrix
