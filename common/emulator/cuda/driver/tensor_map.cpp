/// \file
/// CUDA driver: tensor maps. The machine checks and encodes them; here their arguments are gathered.

#include "hopper_emulator/tensor_map.hpp"
#include "cuda/abi.hpp"
#include "cuda/state.hpp"

#include <algorithm>

using namespace emu;
using namespace emu::cuda;

namespace {

constexpr std::uint32_t max_rank = 5;

std::span<std::byte, tensor_map_bytes> bytes_of(void* map) {
    return std::span<std::byte, tensor_map_bytes>(static_cast<std::byte*>(map), tensor_map_bytes);
}

[[noreturn]] void refuse(const std::string& why) { throw ApiError(Error::invalid_value, why); }

/// An enumerator as the machine keeps it; what does not even fit its width stays invalid.
std::uint8_t narrow(int enumerator) {
    return enumerator >= 0 && enumerator < 255 ? static_cast<std::uint8_t>(enumerator) : 255;
}

/// What the maps of both modes have.
struct Common {
    int type;
    std::uint32_t rank;
    void* address;
    const std::uint64_t* dims;
    const std::uint64_t* strides;
    const std::uint32_t* element_strides;
    int interleave, swizzle, l2_promotion, fill;
};

TensorMap map_of(const Common& given) {
    if (!given.strides)
        refuse("globalStrides must not be null, not even for rank 1, which has no strides");
    TensorMap map;
    map.type = static_cast<TensorType>(narrow(given.type));
    map.rank = given.rank;
    map.address = reinterpret_cast<std::uint64_t>(given.address);
    for (std::size_t i = 0; i < std::min(given.rank, max_rank); ++i) {
        map.dims[i] = given.dims[i];
        map.element_strides[i] = given.element_strides[i];
        if (i > 0)
            map.strides[i - 1] = given.strides[i - 1];
    }
    map.interleave = static_cast<TensorInterleave>(narrow(given.interleave));
    map.swizzle = static_cast<TensorSwizzle>(narrow(given.swizzle));
    map.l2_promotion = narrow(given.l2_promotion);
    map.oob_fill = narrow(given.fill);
    return map;
}

void check_destination(const void* map) {
    if (!map)
        refuse("tensorMap is null");
    // The documentation asks for 64 bytes of alignment; the driver writes to any address, and so do we.
}

} // namespace

extern "C" {

Error cuTensorMapEncodeTiled(void* map, int type, std::uint32_t rank, void* address,
                             const std::uint64_t* dims, const std::uint64_t* strides,
                             const std::uint32_t* box, const std::uint32_t* element_strides, int interleave,
                             int swizzle, int l2_promotion, int fill) {
    return driver_call(__func__, [&](State&) {
        check_destination(map);
        if (rank == 0 || rank > max_rank)
            refuse("tensorRank is " + std::to_string(rank) + ", but must be 1 to 5");
        if (!dims || !box || !element_strides)
            refuse("globalDim, boxDim and elementStrides must not be null");
        TensorMap wanted = map_of(
            {type, rank, address, dims, strides, element_strides, interleave, swizzle, l2_promotion, fill});
        std::copy_n(box, rank, wanted.box.begin());
        if (const auto why = encode_tensor_map(wanted, bytes_of(map)))
            refuse(*why);
        return Error::success;
    });
}

Error cuTensorMapEncodeIm2col(void* map, int type, std::uint32_t rank, void* address,
                              const std::uint64_t* dims, const std::uint64_t* strides,
                              const int* lower_corner, const int* upper_corner, std::uint32_t channels,
                              std::uint32_t pixels, const std::uint32_t* element_strides, int interleave,
                              int swizzle, int l2_promotion, int fill) {
    return driver_call(__func__, [&](State&) {
        check_destination(map);
        if (rank < 3 || rank > max_rank)
            refuse("tensorRank is " + std::to_string(rank) + ", but must be 3 to 5");
        if (!dims || !strides || !lower_corner || !upper_corner || !element_strides)
            refuse(
                "globalDim, globalStrides, pixelBoxLowerCorner, pixelBoxUpperCorner and elementStrides must "
                "not be null");
        TensorMap wanted = map_of(
            {type, rank, address, dims, strides, element_strides, interleave, swizzle, l2_promotion, fill});
        wanted.im2col = true;
        wanted.box[0] = channels;
        wanted.pixels_per_column = pixels;
        std::copy_n(lower_corner, rank - 2, wanted.lower_corner.begin());
        std::copy_n(upper_corner, rank - 2, wanted.upper_corner.begin());
        if (const auto why = encode_tensor_map(wanted, bytes_of(map)))
            refuse(*why);
        return Error::success;
    });
}

Error cuTensorMapReplaceAddress(void* map, void* address) {
    return driver_call(__func__, [&](State&) {
        check_destination(map);
        // The driver looks at nothing else, not even at whether this is a map.
        const auto value = reinterpret_cast<std::uint64_t>(address);
        if (value == 0 || value % 16 || value >> 57)
            refuse("globalAddress is " + std::to_string(value) +
                   ", but must be a multiple of 16, not null and less than 2^57");
        replace_tensor_map_address(bytes_of(map), value);
        return Error::success;
    });
}

} // extern "C"
