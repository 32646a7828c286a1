/// @file buffer.hpp
/// Typed device memory that frees itself and notices writes outside its bounds.
#pragma once

#include "check.hpp"
#include "owned.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace workbook {

/// Memory of cudaMalloc, and how much of it.
struct DeviceMemory {
    std::byte* start = nullptr;
    std::size_t bytes = 0;

    [[nodiscard]] bool operator==(const DeviceMemory&) const = default;
};

/// Bytes that device buffers have given back since somebody waited for the device to be done with them (see
/// wait_for_freed_memory in timing.hpp).
inline std::size_t freed_bytes = 0;

/// Frees memory of cudaMalloc. An error here has been reported by the call that caused it.
struct DeviceFree {
    void operator()(const DeviceMemory& memory) const noexcept {
        cudaFree(memory.start);
        freed_bytes += memory.bytes;
    }
};

/// Whether a buffer has guard zones. Without them the allocation ends where the data ends, so that the
/// emulator names the line that even reads beyond it; on a GPU guard zones see more.
enum class Guards { filled, none };

/// `count` elements of T in global memory between two guard zones.
///
/// Layout, in bytes: [guard 256 + offset · sizeof(T)] [count · sizeof(T)] [guard 256]. The first guard zone
/// starts 256-byte aligned (CUDA Programming Guide, 'Device Memory Accesses'), so with offset 0 the data is
/// 256-byte aligned too. Both zones hold a known pattern; check_guards() says whether a kernel wrote there.
template <class T>
class DeviceBuffer {
    static_assert(std::is_trivially_copyable_v<T>, "device memory is filled by copying bytes");

  public:
    static constexpr std::size_t guard_bytes = 256;    ///< size of each guard zone, without the offset
    static constexpr unsigned char poison_byte = 0xFB; ///< poisoned floats are huge, finite and negative

    DeviceBuffer() = default;

    /// Allocates. The contents are undefined until upload(), poison() or a kernel sets them.
    /// @param count  number of elements; 0 is allowed
    /// @param offset elements between the 256-byte aligned base and the first element
    explicit DeviceBuffer(std::size_t count, std::size_t offset = 0, Guards guards = Guards::filled)
        : count_(count), offset_(offset), guard_(guards == Guards::filled ? guard_bytes : 0) {
        if (count > (std::numeric_limits<std::size_t>::max() / 2) / sizeof(T))
            throw std::bad_array_new_length();
        const std::size_t bytes = bytes_before() + size_bytes() + guard_;
        void* pointer = nullptr;
        check(cudaMalloc(&pointer, bytes > 0 ? bytes : 1),
              "allocating " + std::to_string(bytes) + " bytes of device memory");
        memory_ = Memory({static_cast<std::byte*>(pointer), bytes});
        fill_zone(0, bytes_before());
        fill_zone(bytes_before() + size_bytes(), guard_);
    }

    /// Allocates as many elements as `values` has and copies them there.
    explicit DeviceBuffer(std::span<const T> values, std::size_t offset = 0, Guards guards = Guards::filled)
        : DeviceBuffer(values.size(), offset, guards) {
        upload(values);
    }

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return count_ * sizeof(T); }

    /// Address of the first element in device memory; not to be read on the host.
    [[nodiscard]] T* data() noexcept { return reinterpret_cast<T*>(memory_.get().start + bytes_before()); }
    [[nodiscard]] const T* data() const noexcept {
        return reinterpret_cast<const T*>(memory_.get().start + bytes_before());
    }

    /// Address and size together. The elements lie in device memory: only kernels may touch them.
    [[nodiscard]] std::span<T> span() noexcept { return {data(), count_}; }
    [[nodiscard]] std::span<const T> span() const noexcept { return {data(), count_}; }

    /// Fills the data, not the guard zones, with poison_byte, so that an element nobody writes is seen.
    void poison() {
        if (count_ > 0)
            check(cudaMemset(data(), poison_byte, size_bytes()), "poisoning device memory");
    }

    /// Copies `values` to the start of the buffer. Throws std::length_error if they do not fit.
    void upload(std::span<const T> values) {
        if (values.size() > count_)
            throw std::length_error("upload of " + std::to_string(values.size()) +
                                    " elements into a buffer of " + std::to_string(count_));
        if (!values.empty())
            check(cudaMemcpy(data(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice), "upload");
    }

    /// Waits for the kernels before it and returns a copy of the data.
    [[nodiscard]] std::vector<T> download() const {
        std::vector<T> values(count_);
        if (count_ > 0)
            check(cudaMemcpy(values.data(), data(), size_bytes(), cudaMemcpyDeviceToHost), "download");
        return values;
    }

    /// Empty if both guard zones are intact; else one line that says which byte was overwritten.
    [[nodiscard]] std::string check_guards() const {
        if (memory_.get().start == nullptr)
            return {};
        if (const std::size_t at = first_damage(0, bytes_before()); at < bytes_before())
            return "a kernel wrote " + std::to_string(bytes_before() - at) + " bytes before the buffer";
        if (const std::size_t at = first_damage(bytes_before() + size_bytes(), guard_); at < guard_)
            return "a kernel wrote " + std::to_string(at) + " bytes after the end of the buffer";
        return {};
    }

  private:
    using Memory = Owned<DeviceMemory, DeviceFree>;

    [[nodiscard]] std::size_t bytes_before() const noexcept { return guard_ + offset_ * sizeof(T); }

    /// Varies with the position, so that shifted or repeated data does not look intact.
    [[nodiscard]] static std::vector<std::byte> guard_pattern(std::size_t bytes) {
        std::vector<std::byte> pattern(bytes);
        for (std::size_t i = 0; i < bytes; ++i)
            pattern[i] = static_cast<std::byte>(0xA5u ^ (i * 37u));
        return pattern;
    }

    void fill_zone(std::size_t start, std::size_t bytes) {
        const std::vector<std::byte> pattern = guard_pattern(bytes);
        if (bytes > 0)
            check(cudaMemcpy(memory_.get().start + start, pattern.data(), bytes, cudaMemcpyHostToDevice),
                  "guard zone");
    }

    /// Index of the first byte of a zone that differs from the pattern; `bytes` if none does.
    [[nodiscard]] std::size_t first_damage(std::size_t start, std::size_t bytes) const {
        std::vector<std::byte> zone(bytes);
        if (bytes == 0)
            return 0;
        check(cudaMemcpy(zone.data(), memory_.get().start + start, bytes, cudaMemcpyDeviceToHost),
              "guard zone");
        const std::vector<std::byte> pattern = guard_pattern(bytes);
        std::size_t i = 0;
        while (i < bytes && zone[i] == pattern[i])
            ++i;
        return i;
    }

    Memory memory_;
    std::size_t count_ = 0;
    std::size_t offset_ = 0;
    std::size_t guard_ = guard_bytes;
};

} // namespace workbook
