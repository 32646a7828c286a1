#pragma once
/// \file
/// Cases that may break the CUDA context of their process, or hang: they run in a process of their own, and
/// when it ends another one goes on behind the case that ended it.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace hardware {

/// Executes one case and says its result, one line without tabs at its ends. A result that begins with
/// `error` ends the process.
using IsolatedCase = std::function<std::string(std::size_t)>;

struct IsolatedLimits {
    unsigned seconds_a_case = 60;  ///< A case that takes longer has the result `hung`.
    unsigned seconds_in_all = 600; ///< Cases that have not begun by then have no result.
};

/// The results of cases 0 to `count` - 1; `died` where a signal ended the process. `begin` is called in each
/// new process. The process that calls this must not have called CUDA. Throws std::runtime_error if a process
/// cannot begin, or a case throws.
std::vector<std::string> run_isolated(std::size_t count, const std::function<IsolatedCase()>& begin,
                                      const IsolatedLimits& limits = {});

/// Whether a process of its own finds a CUDA device.
bool has_device();

} // namespace hardware
