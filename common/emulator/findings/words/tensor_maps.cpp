/// \file
/// Words for tensor maps: what the driver refuses to encode, and what the hardware refuses to use.

#include "findings/words/words.hpp"

namespace emu {
namespace {

constexpr std::string_view where_maps_lie =
    "Pass the CUtensorMap as a const __grid_constant__ kernel parameter, in __constant__ memory, or in "
    "global memory with fence.proxy.tensormap.";
constexpr std::string_view mend = "Mend what was changed in the map after the driver had made it.";

constexpr MistakeWords tensor_map_table[] = {
    // -- maps that a copy cannot use
    {"map-in-window", "The tensor map lies in {space} memory, where the hardware cannot read it.",
     where_maps_lie},
    {"map-misaligned", "The address of the tensor map, {address}, is not a multiple of 64.",
     "Declare it as CUtensorMap, or with alignas(64)."},
    {"map-nowhere",
     "There is no tensor map at {address}: the address is not in the device's memory (a host pointer, "
     "perhaps).",
     where_maps_lie},
    {"map-not-encoded",
     "The 128 bytes at {address} are no tensor map: cuTensorMapEncodeTiled did not write them.",
     "Encode the map on the host with cuTensorMapEncodeTiled and check its result."},
    {"map-rank", "A copy of rank {rank} with a tensor map of rank {of_map}.",
     "Give as many coordinates as the map has dimensions."},
    {"map-tensor-misaligned",
     "The tensor map is not valid: its tensor begins at {address}, which is not a multiple of {alignment}.",
     mend},
    {"map-flawed", "The tensor map is not valid: {flaw}.", mend},

    // -- flaws that only the hardware sees
    {"flaw-im2col", "it is a map for im2col mode, and the copy is in tile mode"},
    {"flaw-tiled", "it is a map for tile mode, and the copy is in im2col mode"},
    {"flaw-no-type", "its bits stand for no type of elements"},
    {"flaw-rounding", "it asks for rounding to TF32, its elements are {type}"},
    {"flaw-nan-fill", "its NaN fill needs a floating-point type, its elements are {type}"},
    {"flaw-no-interleave", "its bits stand for no interleave"},
    {"flaw-interleave-rank", "interleaved layouts need at least 3 dimensions, it has {rank}"},
    {"flaw-dimension", "globalDim[{i}] = {value}: no copy takes more than 2^31"},

    // -- arguments that the driver refuses
    {"argument-type", "tensorDataType = {value}: is not a CUtensorMapDataType"},
    {"argument-packed-type", "tensorDataType = {value}: the packed types need compute capability 10.0"},
    {"argument-interleave", "interleave = {value}: is not a CUtensorMapInterleave"},
    {"argument-swizzle", "swizzle = {value}: is not a CUtensorMapSwizzle"},
    {"argument-swizzle-atom",
     "swizzle = {value}: swizzle atoms of more than 16 bytes need compute capability 10.0"},
    {"argument-l2-promotion", "l2Promotion = {value}: is not a CUtensorMapL2promotion"},
    {"argument-fill", "oobFill = {value}: is not a CUtensorMapFloatOOBfill"},
    {"argument-nan-fill", "oobFill = {value}: NaN fill needs a floating-point type, the tensor is {type}"},
    {"argument-address-alignment", "globalAddress = {value}: must be a multiple of {alignment}"},
    {"argument-address-range", "globalAddress = {value}: must be less than 2^57"},
    {"argument-dimension", "globalDim[{i}] = {value}: must be between 1 and 2^32"},
    {"argument-stride-alignment", "globalStrides[{i}] = {value}: must be a multiple of {alignment} bytes"},
    {"argument-stride-range", "globalStrides[{i}] = {value}: must be less than 2^40 bytes"},
    {"argument-row-size",
     "boxDim[0] = {value}: the inner dimension of the box has {bytes:byte}, it must be a multiple of 16"},
    {"argument-row-swizzle",
     "boxDim[0] = {value}: the inner dimension of the box has {bytes:byte}, the swizzle allows {most}"},
    {"argument-box", "boxDim[{i}] = {value}: must be between 1 and 256"},
    {"argument-element-stride", "elementStrides[{i}] = {value}: must be between 1 and 8"},
    {"argument-box-bytes", "boxDim = {value}: the box has {bytes:byte}, more than shared memory's {most}"},
    {"argument-im2col-rank", "tensorRank = {value}: im2col mode has 3 to 5 dimensions"},
    {"argument-lower-corner",
     "pixelBoxLowerCorner[{i}] = {value}: must be between {least} and {most} in this rank"},
    {"argument-upper-corner",
     "pixelBoxUpperCorner[{i}] = {value}: must be between {least} and {most} in this rank"},
    {"argument-box-dimension",
     "globalDim[{i}] = {value}: the driver counts the pixels of a box with 31 bits"},
    {"argument-empty-box",
     "pixelBoxUpperCorner[{i}] = {value}: no pixel lies between the corners of the box"},
    {"argument-channels", "channelsPerPixel = {value}: must be between 1 and 256"},
    {"argument-pixels", "pixelsPerColumn = {value}: must be between 1 and 1024"},
    {"argument-column-bytes",
     "pixelsPerColumn = {value}: they have {bytes:byte}, more than shared memory's {most}"},
    {"argument-channels-size",
     "channelsPerPixel = {value}: they have {bytes:byte}, it must be a multiple of 16"},
    {"argument-channels-swizzle",
     "channelsPerPixel = {value}: they have {bytes:byte}, the swizzle allows {most}"},
    {"argument-rank", "tensorRank = {value}: must be between 1 and 5"},
    {"argument-interleave-rank", "tensorRank = {value}: interleaved layouts need at least 3 dimensions"},
};

} // namespace

std::span<const MistakeWords> tensor_map_words() { return tensor_map_table; }

} // namespace emu
