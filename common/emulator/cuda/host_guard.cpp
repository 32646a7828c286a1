#include "cuda/host_guard.hpp"

#include "cuda/host_faults.hpp"

#include <sys/mman.h>

#include <array>
#include <atomic>

namespace emu::cuda {
namespace {

struct Slot {
    std::atomic<Address> begin{0}, end{0};
    std::atomic<Address> touched{0};
    std::atomic<bool> write{false};
    std::atomic<bool> closed{false};
};
constinit std::array<Slot, HostGuard::slots> guarded{};
/// Everything that was ever guarded lies in here. Another thread may open a page while this one faults.
constinit std::atomic<Address> lowest{~Address{0}}, highest{0};

void set_rights(Address begin, Address end, int rights) {
    mprotect(reinterpret_cast<void*>(begin), end - begin, rights);
}

} // namespace

void HostGuard::set(std::size_t slot, Address begin, Address end) {
    guarded[slot].begin = begin;
    guarded[slot].end = end;
    guarded[slot].touched = 0;
    if (begin < lowest)
        lowest = begin;
    if (end > highest)
        highest = end;
}

void HostGuard::clear(std::size_t slot) { guarded[slot].begin = guarded[slot].end = 0; }

void HostGuard::close() {
    HostFaults::install(); // The program may have set a handler of its own meanwhile.
    for (Slot& slot : guarded)
        if (slot.begin != slot.end && slot.touched == 0) {
            slot.closed = true;
            set_rights(slot.begin, slot.end, PROT_NONE);
        }
}

void HostGuard::open() {
    for (Slot& slot : guarded)
        if (slot.closed.exchange(false))
            set_rights(slot.begin, slot.end, PROT_READ | PROT_WRITE);
}

bool HostGuard::overlaps(std::size_t slot, Address begin, Address end) {
    return guarded[slot].begin < end && begin < guarded[slot].end;
}

bool HostGuard::knows(Address at) { return at >= lowest && at < highest; }

bool HostGuard::touch(Address at, bool write) {
    bool closed = false;
    for (Slot& slot : guarded)
        if (at >= slot.begin && at < slot.end && slot.closed.exchange(false)) {
            slot.write = write;
            slot.touched = at;
            set_rights(slot.begin, slot.end, PROT_READ | PROT_WRITE);
            closed = true;
        }
    return closed;
}

std::optional<HostGuard::Touched> HostGuard::touched(std::size_t slot) {
    if (guarded[slot].touched == 0)
        return std::nullopt;
    return Touched{guarded[slot].touched, guarded[slot].write};
}

} // namespace emu::cuda
