// Device functions that nvcc calls and never defines: printf, assert, malloc (CUDA programming guide, "C++
// language extensions").

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/cluster.hpp"
#include "machine/decoder.hpp"
#include "machine/device.hpp"
#include "machine/mistake.hpp"

#include <algorithm>
#include <cstring>

namespace emu {
namespace {

/// An argument of one lane.
template <class T>
T argument(const BuiltinCall& call, std::size_t i, unsigned lane) {
    const LocalPlacement& place = call.arguments[i];
    T value{};
    std::memcpy(&value, call.warp.frame_bytes(place.offset) + std::size_t{lane} * place.size,
                std::min<std::size_t>(sizeof value, place.size));
    return value;
}

template <class T>
void give(const BuiltinCall& call, unsigned lane, T value) {
    if (call.results.empty())
        return;
    const LocalPlacement& place = call.results[0];
    std::memcpy(call.warp.frame_bytes(place.offset) + std::size_t{lane} * place.size, &value,
                std::min<std::size_t>(sizeof value, place.size));
}

/// Host pointer of one byte at a generic address, or nullptr.
const std::byte* byte_at(Warp& warp, unsigned lane, Address address) {
    if (in_shared_window(address))
        return warp.cluster().shared_bytes(static_cast<std::uint32_t>(address), 1);
    if (in_local_window(address))
        return warp.local(lane, address - local_window, 1);
    return warp.cluster().global_bytes(address, 1);
}

/// The zero-terminated string at a generic address.
std::string string_at(Warp& warp, unsigned lane, Address address) {
    std::string text;
    for (const std::byte* p = nullptr;
         text.size() < 65536 && (p = byte_at(warp, lane, address)) && *p != std::byte{0}; ++address)
        text += static_cast<char>(*p);
    return text;
}

/// Reads the packed arguments of vprintf: each at the next multiple of its size.
class PackedArguments {
  public:
    PackedArguments(Warp& warp, unsigned lane, Address buffer) : warp_(warp), lane_(lane), next_(buffer) {}
    template <class T>
    T take() {
        next_ = (next_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        T value{};
        auto* bytes = reinterpret_cast<std::byte*>(&value);
        for (std::size_t i = 0; i < sizeof(T); ++i, ++next_)
            if (const std::byte* p = byte_at(warp_, lane_, next_))
                bytes[i] = *p;
        return value;
    }

  private:
    Warp& warp_;
    unsigned lane_;
    Address next_;
};

template <class T>
void append(std::string& out, const std::string& conversion, T value) {
    char buffer[512];
    // The conversion was cut out of the kernel's own format string and matches T.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int n = std::snprintf(buffer, sizeof buffer, conversion.c_str(), value);
#pragma GCC diagnostic pop
    out.append(buffer, static_cast<std::size_t>(std::clamp(n, 0, static_cast<int>(sizeof buffer) - 1)));
}

void append_conversion(std::string& out, std::string conversion, PackedArguments& arguments, Warp& warp,
                       unsigned lane) {
    const char kind = conversion.back();
    for (auto star = conversion.find('*'); star != std::string::npos; star = conversion.find('*'))
        conversion.replace(star, 1, std::to_string(arguments.take<std::int32_t>()));
    const bool wide = conversion.find('l') != std::string::npos ||
                      conversion.find('j') != std::string::npos ||
                      conversion.find('z') != std::string::npos || conversion.find('t') != std::string::npos;
    switch (kind) {
    case 'd':
    case 'i':
        return wide ? append(out, conversion, arguments.take<std::int64_t>())
                    : append(out, conversion, arguments.take<std::int32_t>());
    case 'u':
    case 'o':
    case 'x':
    case 'X':
    case 'c':
        return wide ? append(out, conversion, arguments.take<std::uint64_t>())
                    : append(out, conversion, arguments.take<std::uint32_t>());
    case 'p':
        return append(out, conversion, reinterpret_cast<const void*>(arguments.take<std::uint64_t>()));
    case 's':
        return append(out, conversion, string_at(warp, lane, arguments.take<std::uint64_t>()).c_str());
    default:
        return append(out, conversion, arguments.take<double>());
    }
}

std::string format_lane(Warp& warp, unsigned lane, const std::string& format, Address buffer) {
    std::string out;
    PackedArguments arguments(warp, lane, buffer);
    for (std::size_t i = 0; i < format.size();) {
        if (format[i] != '%') {
            out += format[i++];
            continue;
        }
        const std::size_t end = format.find_first_of("diouxXcpsfFeEgGaA%", i + 1);
        if (end == std::string::npos)
            break;
        if (format[end] == '%')
            out += '%';
        else
            append_conversion(out, format.substr(i, end - i + 1), arguments, warp, lane);
        i = end + 1;
    }
    return out;
}

Flow print(const BuiltinCall& call) {
    std::string text;
    for_lanes(call.mask, [&](unsigned lane) {
        const std::string format = string_at(call.warp, lane, argument<Address>(call, 0, lane));
        text += format_lane(call.warp, lane, format, argument<Address>(call, 1, lane));
        give<std::int32_t>(call, lane, 0);
    });
    call.warp.cluster().launch().print(call.warp.block().linear_index(), std::move(text));
    return Flow::next;
}

Flow assert_failed(const BuiltinCall& call) {
    const auto lane = static_cast<unsigned>(std::countr_zero(call.mask));
    Warp& warp = call.warp;
    const std::string condition = string_at(warp, lane, argument<Address>(call, 0, lane));
    const std::string function = string_at(warp, lane, argument<Address>(call, 3, lane));
    Place(warp, lane, call.pc)
        .report(Finding::assertion, Fault::assert_failed, "assertion",
                {{"condition", condition}, {"function", function}});
    return Flow::next;
}

Flow allocate(const BuiltinCall& call) {
    GlobalMemory& memory = call.warp.cluster().launch().device().memory();
    for_lanes(call.mask, [&](unsigned lane) {
        give<Address>(call, lane,
                      memory.allocate(argument<std::uint64_t>(call, 0, lane), Allocation::Kind::heap));
    });
    return Flow::next;
}

Flow release(const BuiltinCall& call) {
    GlobalMemory& memory = call.warp.cluster().launch().device().memory();
    for_lanes(call.mask, [&](unsigned lane) {
        const auto address = argument<Address>(call, 0, lane);
        const auto known = memory.find(address);
        const bool foreign = known && known->kind != Allocation::Kind::heap;
        if (address && (foreign || !memory.release(address)))
            Place(call.warp, lane, call.pc)
                .report(Finding::out_of_bounds, foreign ? Fault::illegal_address : Fault::launch_failure,
                        "heap-foreign-pointer");
    });
    return Flow::next;
}

} // namespace

Builtin find_builtin(std::string_view name) {
    if (name == "vprintf")
        return print;
    if (name == "__assertfail")
        return assert_failed;
    if (name == "malloc")
        return allocate;
    if (name == "free")
        return release;
    return nullptr;
}

} // namespace emu
