#pragma once
/// \file
/// Where what goes wrong in a launch is told. The machine hands on facts; whoever makes the device chooses
/// who puts them into words.

#include <memory>
#include <string>
#include <vector>

namespace emu {

class Launch;
struct Deadlock;
struct Diagnostic;
struct Flaw;
struct Mistake;

/// Takes what is found in one launch. Its functions may be called from several host threads. It must tell the
/// launch of each error (Launch::note_fault) and stop it where nothing can go on (Launch::stop).
class LaunchReporter {
  public:
    virtual ~LaunchReporter() = default;
    virtual void report(const Mistake& mistake) = 0;
    /// Nothing in a cluster can go on.
    virtual void report(const Deadlock& deadlock) = 0;
    /// A listener's finding, in words already. `fatal`: stop the launch.
    virtual void report(Diagnostic diagnostic, bool fatal) = 0;
    /// At the end of the launch: what is to be told, in order.
    virtual std::vector<Diagnostic> take() = 0;
};

/// Makes one LaunchReporter for each launch, and says why a launch is refused.
class Reporter {
  public:
    virtual ~Reporter() = default;
    virtual std::unique_ptr<LaunchReporter> begin(Launch& launch) = 0;
    /// One line.
    virtual std::string explain(const Flaw& flaw) const = 0;
};

} // namespace emu
