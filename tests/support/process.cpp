#include "process.hpp"

#include "fair_clock.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

extern char** environ;

namespace test_support {
namespace {

/// How long to sleep at most before the load is looked at again.
constexpr int slice_ms = 100;

void require(bool fine, int error, const char* what) {
    if (!fine)
        throw std::system_error(error, std::generic_category(), what);
}

/// Both ends of a pipe; what is still open is closed at the end.
class Pipe {
  public:
    Pipe() { require(pipe2(ends_.data(), O_CLOEXEC) == 0, errno, "pipe"); }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        close_end(0);
        close_end(1);
    }
    [[nodiscard]] int read_end() const { return ends_[0]; }
    [[nodiscard]] int write_end() const { return ends_[1]; }
    void close_end(std::size_t end) {
        if (ends_[end] >= 0)
            close(ends_[end]);
        ends_[end] = -1;
    }

    /// Appends what can be read now to `text`; closes the pipe at its end.
    void read_into(std::string& text) {
        std::array<char, 16384> buffer{};
        const ssize_t count = read(ends_[0], buffer.data(), buffer.size());
        if (count > 0)
            text.append(buffer.data(), static_cast<std::size_t>(count));
        else if (count == 0 || errno != EINTR)
            close_end(0);
    }

  private:
    std::array<int, 2> ends_{-1, -1};
};

/// The parent's environment with the command's changes, as 'NAME=value'.
std::vector<std::string> environment_of(const Command& command) {
    const auto changed = [&](const std::string& entry) {
        const std::string name = entry.substr(0, entry.find('='));
        for (const auto& [added, value] : command.environment)
            if (added == name)
                return true;
        for (const std::string& removed : command.unset)
            if (removed == name)
                return true;
        return false;
    };
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (!changed(*entry))
            entries.emplace_back(*entry);
    for (const auto& [name, value] : command.environment)
        entries.push_back(name + "=" + value);
    return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (std::string& string : strings)
        pointers.push_back(string.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Starts the command in a process group of its own, its output going to the pipes.
pid_t start(const Command& command, const Pipe& out, const Pipe& err) {
    std::vector<std::string> argv = command.argv;
    std::vector<std::string> environment = environment_of(command);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, out.write_end(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err.write_end(), STDERR_FILENO);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    pid_t child = -1;
    const int error = posix_spawnp(&child, argv.front().c_str(), &actions, &attributes,
                                   pointers_to(argv).data(), pointers_to(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    require(error == 0, error, argv.front().c_str());
    return child;
}

/// Reads both pipes until they end or the time has passed; false in the second case.
bool read_both(Pipe& out, Pipe& err, Finished& result, FairClock& clock, std::chrono::milliseconds limit) {
    while (out.read_end() >= 0 || err.read_end() >= 0) {
        const auto left = (limit - clock.look()).count();
        if (left <= 0)
            return false;
        std::array<pollfd, 2> ready{pollfd{out.read_end(), POLLIN, 0}, pollfd{err.read_end(), POLLIN, 0}};
        const int sleep = static_cast<int>(std::min<std::int64_t>(left, slice_ms));
        if (poll(ready.data(), ready.size(), sleep) < 0 && errno != EINTR)
            return false;
        if (ready[0].revents != 0)
            out.read_into(result.out);
        if (ready[1].revents != 0)
            err.read_into(result.err);
    }
    return true;
}

/// Waits for the child; false if it still runs when the time has passed.
bool wait_until(pid_t child, int& status, FairClock& clock, std::chrono::milliseconds limit) {
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (clock.look() >= limit)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

} // namespace

std::string Finished::how() const {
    if (timed_out)
        return "no end within " + std::to_string(elapsed.count()) + " ms (" + std::to_string(used.count()) +
               " ms of them its own)";
    return signal != 0 ? "signal " + std::to_string(signal) : "exit code " + std::to_string(exit_code);
}

Finished run(const Command& command) {
    Pipe out;
    Pipe err;
    Finished result;
    FairClock clock;
    const pid_t child = start(command, out, err);
    out.close_end(1);
    err.close_end(1);
    int status = 0;
    result.timed_out = !read_both(out, err, result, clock, command.time_limit) ||
                       !wait_until(child, status, clock, command.time_limit);
    if (result.timed_out) {
        kill(-child, SIGKILL);
        waitpid(child, &status, 0);
    }
    result.used = clock.look();
    result.elapsed = clock.elapsed();
    if (WIFEXITED(status))
        result.exit_code = WEXITSTATUS(status);
    else if (WIFSIGNALED(status))
        result.signal = WTERMSIG(status);
    return result;
}

} // namespace test_support
