#include "hopper_emulator/host_threads.hpp"

#include <filesystem>
#include <fstream>
#include <linux/futex.h>
#include <sstream>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace emu {
namespace {

std::string first_line(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

/// Is it a futex wait without a time limit? `text`: a line of /proc/…/syscall, that is number and arguments.
bool waits_for_other_threads(const std::string& text) {
    std::istringstream in(text);
    long number = -1;
    unsigned long long word = 0, operation = 0, value = 0, limit = 0;
    in >> number >> std::hex >> word >> operation >> value >> limit;
    const auto command = static_cast<int>(operation) & FUTEX_CMD_MASK;
    return in && number == SYS_futex && limit == 0 &&
           (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI);
}

} // namespace

HostThreads::As::As(Role role, HostThreads& owner) : owner_(owner), thread_(gettid()) {
    const std::lock_guard lock(owner_.mutex_);
    owner_.roles_[thread_] = role;
}

HostThreads::As::~As() {
    const std::lock_guard lock(owner_.mutex_);
    owner_.roles_.erase(thread_);
}

std::optional<std::string> HostThreads::standstill() const {
    std::string all;
    std::error_code error;
    std::filesystem::directory_iterator tasks("/proc/self/task", error);
    // Where the system does not tell, only those are known that wait here.
    for (; !error && tasks != std::filesystem::directory_iterator(); tasks.increment(error)) {
        const std::filesystem::path task = tasks->path();
        std::optional<Role> role;
        {
            const std::lock_guard lock(mutex_);
            const auto found = roles_.find(static_cast<pid_t>(std::stol(task.filename().string())));
            if (found != roles_.end())
                role = found->second;
        }
        const std::string doing = first_line(task / "syscall");
        if (role == Role::passive || (role == Role::waiting && doing.empty()))
            continue;
        if (!waits_for_other_threads(doing))
            return std::nullopt;
        all += task.filename().string() + ' ' + doing + ' ' + first_line(task / "schedstat") + '\n';
    }
    return all;
}

} // namespace emu
