/// @file search.hpp
/// The tuner's data on the device, one trial, and the record of all trials.
#pragma once

#include "candidate.hpp"

#include "workbook/bench.hpp"
#include "workbook/buffer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tuner {

/// A kernel with a setting, and what it gave.
struct Trial {
    const Candidate* candidate = nullptr;
    Setting setting;
    double median_ms = 0; ///< 0: not timed
};

/// A matrix of random words on the device, and where it is transposed to.
class Matrices {
  public:
    Matrices(std::uint32_t rows, std::uint32_t columns);

    [[nodiscard]] Problem problem() {
        return {reinterpret_cast<const float*>(in_.data()), reinterpret_cast<float*>(out_.data()), rows_,
                columns_};
    }
    [[nodiscard]] std::size_t bytes() const { return 2 * in_.size_bytes(); }
    [[nodiscard]] std::string extent() const {
        return std::to_string(rows_) + " x " + std::to_string(columns_);
    }
    void poison() { out_.poison(); }

    /// How many words of the result are not those of the transposed matrix.
    [[nodiscard]] unsigned long long wrong_words();

    [[nodiscard]] Context& context() { return context_; }

  private:
    std::uint32_t rows_;
    std::uint32_t columns_;
    workbook::DeviceBuffer<std::uint32_t> in_;
    workbook::DeviceBuffer<std::uint32_t> out_;
    workbook::DeviceBuffer<unsigned long long> wrong_;
    Context context_;
};

/// Runs trials on one matrix and writes each down as a row of table `table`.
class Search {
  public:
    Search(workbook::Bench& bench, Matrices& matrices, std::string table)
        : bench_(&bench), matrices_(&matrices), table_(std::move(table)) {}

    /// Begins the table.
    void begin(const std::string& title);

    /// Checks and times one trial; false if it cannot be launched or gives a wrong result.
    bool run(Trial& trial, const std::string& phase, int repetitions);

    /// Measures the device-to-device copy of as many bytes, the measure of what follows.
    void measure_copy(const std::string& phase);

    /// The orders that are tried for every kernel.
    [[nodiscard]] static std::vector<OrderSpec> orders();

  private:
    void write(const Trial& trial, const std::string& phase, const std::optional<workbook::Timing>& timing);

    workbook::Bench* bench_;
    Matrices* matrices_;
    std::string table_;
    double copy_rate_ = 0; ///< bytes per second
};

} // namespace tuner
