#include "isolated.hpp"

#include <cuda_runtime_api.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace hardware {

namespace {

using Clock = std::chrono::steady_clock;

struct Free {
    void operator()(char* text) const { std::free(text); }
};

/// Executes cases from `first` on and writes `index result` lines; ends with the first that breaks the
/// context, or with the time.
[[noreturn]] void run_child(std::size_t first, std::size_t count, unsigned seconds, Clock::time_point end,
                            const std::function<IsolatedCase()>& begin, std::FILE* out) {
    try {
        alarm(60 + seconds); // Even if CUDA hangs as it begins.
        const IsolatedCase run = begin();
        for (std::size_t i = first; i < count && Clock::now() < end; ++i) {
            alarm(seconds);
            const std::string result = run(i);
            std::fprintf(out, "%zu %s\n", i, result.c_str());
            std::fflush(out);
            if (result.starts_with("error"))
                _exit(0);
        }
        std::fprintf(out, "%zu end\n", count);
    } catch (const std::exception& error) {
        std::fprintf(out, "%zu failed: %s\n", count, error.what());
    }
    std::fflush(out);
    _exit(0);
}

/// Reads the lines of one process; returns the first case that it has not executed.
std::size_t read_results(std::FILE* in, std::size_t next, std::vector<std::string>& results) {
    char* text = nullptr;
    std::size_t room = 0;
    while (getline(&text, &room, in) > 0) {
        std::string line(text);
        line.pop_back();
        const std::size_t at = std::stoul(line), space = line.find(' ');
        const std::string result = line.substr(space + 1);
        if (at >= results.size() && result != "end")
            throw std::runtime_error(result);
        next = at + 1;
        if (at < results.size())
            results[at] = result;
    }
    const std::unique_ptr<char, Free> owner(text);
    return next;
}

} // namespace

std::vector<std::string> run_isolated(std::size_t count, const std::function<IsolatedCase()>& begin,
                                      const IsolatedLimits& limits) {
    const auto end = Clock::now() + std::chrono::seconds(limits.seconds_in_all);
    std::vector<std::string> results(count);
    for (std::size_t next = 0; next < count && Clock::now() < end;) {
        int ends[2];
        if (pipe(ends) != 0)
            throw std::runtime_error("no pipe");
        const pid_t child = fork();
        if (child < 0)
            throw std::runtime_error("no second process");
        if (child == 0) {
            close(ends[0]);
            run_child(next, count, limits.seconds_a_case, end, begin, fdopen(ends[1], "w"));
        }
        close(ends[1]);
        std::FILE* const in = fdopen(ends[0], "r");
        const std::size_t first = next;
        next = read_results(in, next, results);
        std::fclose(in);
        int status = 0;
        waitpid(child, &status, 0);
        if (next < count && WIFSIGNALED(status))
            results[next++] = WTERMSIG(status) == SIGALRM ? "hung" : "died";
        else if (next == first)
            throw std::runtime_error("the process for line " + std::to_string(first + 1) + " died");
    }
    return results;
}

bool has_device() {
    const pid_t child = fork();
    if (child == 0) {
        int devices = 0;
        _exit(cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0 ? 0 : 1);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace hardware
