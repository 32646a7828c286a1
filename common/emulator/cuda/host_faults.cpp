#include "cuda/host_faults.hpp"

#include "cuda/host_guard.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "hopper_emulator/findings.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <string_view>

// All that a handler calls must be safe in one (signal-safety(7)): the fault may have come from inside
// malloc.

namespace emu::cuda {
namespace {

constinit std::atomic<const GlobalMemory*> watched{nullptr};
// Written before `watched`.
constinit std::array<char, PATH_MAX> report_path{};
constinit std::string_view name;
struct sigaction previous {};

/// Text of limited length, on the stack.
class Text {
  public:
    Text& operator<<(std::string_view text) {
        const std::size_t count = std::min(text.size(), text_.size() - size_);
        std::memcpy(text_.data() + size_, text.data(), count);
        size_ += count;
        return *this;
    }
    Text& operator<<(std::uint64_t number) { return write(number, 10); }
    Text& hexadecimal(std::uint64_t number) {
        *this << "0x";
        return write(number, 16);
    }
    std::string_view view() const { return {text_.data(), size_}; }

  private:
    Text& write(std::uint64_t number, unsigned base) {
        std::array<char, 24> digits{};
        std::size_t first = digits.size();
        do
            digits[--first] = "0123456789abcdef"[number % base];
        while (number /= base);
        return *this << std::string_view(digits.data() + first, digits.size() - first);
    }

    std::array<char, 1024> text_{};
    std::size_t size_ = 0;
};

void write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t done = write(file, text.data(), text.size());
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return;
        text.remove_prefix(static_cast<std::size_t>(done));
    }
}

std::string_view does(void* context) {
#ifdef __x86_64__
    constexpr greg_t write_bit = 2;
    return static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & write_bit ? "writes" : "reads";
#else
    static_cast<void>(context);
    return "touches";
#endif
}

/// The variable's own name: the last of the names in "_ZN12_GLOBAL__N_15countE", "count" of "_ZL5count".
std::string_view variable_name(std::string_view symbol) {
    if (!symbol.starts_with("_Z"))
        return symbol;
    std::string_view last = symbol;
    for (std::size_t at = symbol.find_first_of("0123456789"), length = 0; at < symbol.size(); at += length) {
        for (length = 0; at < symbol.size() && symbol[at] >= '0' && symbol[at] <= '9'; ++at)
            length =
                std::min<std::size_t>(10 * length + static_cast<std::size_t>(symbol[at] - '0'), 1u << 20);
        if (length == 0 || length > symbol.size() - at)
            break;
        last = symbol.substr(at, length);
    }
    return last;
}

bool was_host_memory(const AddressFacts& facts) {
    return facts.kind == Allocation::Kind::managed || facts.kind == Allocation::Kind::host;
}

void describe(Text& text, const AddressFacts& facts, Address at) {
    using State = AddressFacts::State;
    if (facts.state != State::live && facts.state != State::freed) {
        text.hexadecimal(at) << ", an address of device memory"
                             << (facts.state == State::never ? " that belongs to no allocation" : "");
        return;
    }
    text << "byte " << at - facts.base << " of ";
    if (facts.kind == Allocation::Kind::module)
        text << "the device's variable " << variable_name(facts.name.data()) << " (" << facts.size
             << " bytes)";
    else
        text << facts.size << " bytes of "
             << (facts.kind == Allocation::Kind::managed ? "managed memory"
                 : facts.kind == Allocation::Kind::host  ? "page-locked memory"
                                                         : "device memory");
    if (facts.state == State::freed)
        text << (facts.kind == Allocation::Kind::module ? ", whose module was unloaded" : " that was freed");
}

std::string_view advice_for(const AddressFacts& facts) {
    if (facts.state == AddressFacts::State::freed && was_host_memory(facts))
        return "Free memory only after the host's last use.";
    if (facts.state == AddressFacts::State::never)
        return "Check the pointer: only kernels and CUDA's functions reach device memory, and cudaFree "
               "frees it.";
    if (facts.kind == Allocation::Kind::module)
        return "Copy it with cudaMemcpyFromSymbol or cudaMemcpyToSymbol, or declare it __managed__: only "
               "kernels and CUDA's functions reach device memory.";
    return "Copy it with cudaMemcpy, or allocate it with cudaMallocManaged: only kernels and CUDA's "
           "functions reach device memory.";
}

void tell(const AddressFacts& facts, Address at, void* context) {
    Text message, line;
    message << "The host " << does(context) << " ";
    describe(message, facts, at);
    message << ".";
    line << "emulator: error[" << name << "]: " << message.view() << " " << advice_for(facts) << "\n";
    write_all(STDERR_FILENO, line.view());
    if (report_path[0] == '\0')
        return;
    const int file = open(report_path.data(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    Text record;
    record << R"({"name":")" << name << R"(","severity":"error","kernel":"","message":")" << message.view()
           << R"(","advice":")" << advice_for(facts) << R"(","locations":[]})"
           << "\n";
    write_all(file, record.view());
    close(file);
}

/// True if the instruction should be tried again.
bool is_repaired(Address at, void* context) {
    if (HostGuard::touch(at, does(context) == "writes"))
        return true;
    const GlobalMemory* const memory = watched.load(std::memory_order_acquire);
    if (!memory)
        return false;
    const AddressFacts facts = memory->facts_of(at);
    if (facts.closed) {
        tell(facts, at, context);
        return false;
    }
    // Another thread has opened the page while this one faulted, or is about to allocate it.
    if (facts.state == AddressFacts::State::unknown)
        return true;
    if (facts.state != AddressFacts::State::live || !HostGuard::knows(at))
        return false;
    const Address page = at / HostGuard::page_bytes * HostGuard::page_bytes;
    return mprotect(reinterpret_cast<void*>(page), HostGuard::page_bytes, PROT_READ | PROT_WRITE) == 0;
}

/// Only what a signal handler may do.
void on_fault(int signal, siginfo_t* info, void* context) {
    const int error = errno;
    const bool repaired =
        info->si_code == SEGV_ACCERR && is_repaired(reinterpret_cast<Address>(info->si_addr), context);
    errno = error;
    if (repaired)
        return;
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(signal, info, context);
    else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(signal);
    else {
        sigaction(signal, &previous, nullptr); // The instruction faults again.
        if (info->si_code <= 0)                // Somebody sent it.
            raise(signal);
    }
}

} // namespace

void HostFaults::watch(const GlobalMemory& memory, const std::string& report_file) {
    if (report_file.size() < report_path.size())
        report_file.copy(report_path.data(), report_file.size());
    name = name_of(Finding::host_touched_device_memory);
    watched.store(&memory, std::memory_order_release);
    install();
}

void HostFaults::install() {
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

} // namespace emu::cuda
