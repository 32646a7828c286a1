#include "cuda/host_guard.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <csignal>

namespace emu::cuda {
namespace {

struct Slot {
    std::atomic<Address> begin{0}, end{0};
    std::atomic<Address> touched{0};
    std::atomic<bool> write{false};
    std::atomic<bool> closed{false};
};
constinit std::array<Slot, HostGuard::slots> table{};
/// Everything that was ever guarded lies in here. Another thread may open a page while this one faults.
constinit std::atomic<Address> lowest{~Address{0}}, highest{0};
struct sigaction previous {};

void set_rights(Address begin, Address end, int rights) {
    mprotect(reinterpret_cast<void*>(begin), end - begin, rights);
}

bool is_write([[maybe_unused]] void* context) {
#ifdef __x86_64__
    constexpr greg_t write_bit = 2;
    return static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & write_bit;
#else
    return false;
#endif
}

/// Only what a signal handler may do.
void on_fault(int signal, siginfo_t* info, void* context) {
    const auto at = reinterpret_cast<Address>(info->si_addr);
    if (info->si_code == SEGV_ACCERR && at >= lowest && at < highest) {
        for (Slot& slot : table)
            if (at >= slot.begin && at < slot.end && slot.closed.exchange(false)) {
                slot.write = is_write(context);
                slot.touched = at;
                set_rights(slot.begin, slot.end, PROT_READ | PROT_WRITE);
            }
        const Address page = at / HostGuard::page_bytes * HostGuard::page_bytes;
        set_rights(page, page + HostGuard::page_bytes, PROT_READ | PROT_WRITE);
        return;
    }
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(signal, info, context);
    else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(signal);
    else
        sigaction(signal, &previous, nullptr); // The instruction faults again.
}

/// The program may have set a handler of its own meanwhile.
void install() {
    struct sigaction now {};
    sigaction(SIGSEGV, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault)
        return;
    previous = now;
    struct sigaction own {};
    own.sa_sigaction = on_fault;
    own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&own.sa_mask);
    sigaction(SIGSEGV, &own, nullptr);
}

} // namespace

void HostGuard::set(std::size_t slot, Address begin, Address end) {
    table[slot].begin = begin;
    table[slot].end = end;
    table[slot].touched = 0;
    if (begin < lowest)
        lowest = begin;
    if (end > highest)
        highest = end;
}

void HostGuard::clear(std::size_t slot) { table[slot].begin = table[slot].end = 0; }

void HostGuard::close() {
    install();
    for (Slot& slot : table)
        if (slot.begin != slot.end && slot.touched == 0) {
            slot.closed = true;
            set_rights(slot.begin, slot.end, PROT_NONE);
        }
}

void HostGuard::open() {
    for (Slot& slot : table)
        if (slot.closed.exchange(false))
            set_rights(slot.begin, slot.end, PROT_READ | PROT_WRITE);
}

std::optional<HostGuard::Touched> HostGuard::touched(std::size_t slot) {
    if (table[slot].touched == 0)
        return std::nullopt;
    return Touched{table[slot].touched, table[slot].write};
}

} // namespace emu::cuda
