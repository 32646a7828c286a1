#pragma once
/// \file
/// What is told of a launch: each finding once, in words, and not what merely follows from another.

#include "hopper_emulator/findings.hpp"
#include "machine/reporter.hpp"

#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace emu {

/// The findings of one launch. A finding is told once per name and lines with their callers; copies of it
/// that differ only in their instructions are counted.
class FindingLog final : public LaunchReporter {
  public:
    explicit FindingLog(Launch& launch) : launch_(launch) {}
    void report(const Mistake& mistake) override;
    void report(const Deadlock& deadlock) override;
    void report(Diagnostic diagnostic, bool fatal) override;
    std::vector<Diagnostic> take() override;

  private:
    bool is_news(const Diagnostic& diagnostic, bool fatal);
    bool count_copy(const Diagnostic& diagnostic);
    std::ptrdiff_t known_as_severe_as(const Diagnostic& diagnostic) const;

    Launch& launch_;
    std::mutex mutex_;
    std::vector<Diagnostic> diagnostics_;
    /// Parallel to them: the instructions of each finding that was told as one of them.
    std::vector<std::set<std::vector<std::uint32_t>>> told_of_;
};

/// What a device needs to tell mistakes in words.
std::shared_ptr<Reporter> make_reporter();

} // namespace emu
