/// \file
/// The threads of a host that has but one: while a launch runs, nobody else does.

#include "hopper_emulator/host_threads.hpp"

namespace emu {

HostThreads::As::As(Role role, HostThreads& owner) : owner_(owner), thread_(0) {
    owner_.roles_[thread_] = role;
}
HostThreads::As::~As() { owner_.roles_.erase(thread_); }

std::optional<std::string> HostThreads::standstill() const { return std::string(); }

} // namespace emu
