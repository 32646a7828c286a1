#include "machine/local_memory.hpp"

#include "machine/lanes.hpp"

#include <algorithm>

namespace emu {

LocalMemory::LocalMemory(std::uint32_t stride, std::uint32_t top)
    : local_(std::size_t{stride} * warp_size), local_stride_(stride) {
    local_top_.fill(top);
}

void LocalMemory::reserve_local(std::uint32_t bytes) {
    if (bytes <= local_stride_)
        return;
    const std::uint32_t stride = std::min(local_limit, std::max(bytes, 2 * local_stride_ + 256));
    std::vector<std::byte> bigger(std::size_t{stride} * warp_size);
    for (unsigned lane = 0; lane < warp_size; ++lane)
        std::copy_n(local_.begin() + std::size_t{lane} * local_stride_, local_stride_,
                    bigger.begin() + std::size_t{lane} * stride);
    local_ = std::move(bigger);
    local_stride_ = stride;
}

std::byte* LocalMemory::local(unsigned lane, std::uint64_t offset, std::uint32_t bytes) {
    if (offset > local_top_[lane] || offset + bytes > local_top_[lane])
        return nullptr;
    return local_.data() + std::size_t{lane} * local_stride_ + offset;
}

bool LocalMemory::grow_local(LaneMask mask, std::uint32_t bytes) {
    bool fits = true;
    for_lanes(mask, [&](unsigned lane) {
        if (std::uint64_t{local_top_[lane]} + bytes > local_limit) {
            fits = false;
            return;
        }
        local_top_[lane] += bytes;
        reserve_local(local_top_[lane]);
    });
    return fits;
}

} // namespace emu
