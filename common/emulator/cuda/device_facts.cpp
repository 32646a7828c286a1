#include "cuda/device_facts.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace emu::cuda {
namespace {

using N = DeviceNumbers;

struct Row {
    int attribute;
    int value;
};

/// Attribute numbers and their meaning: cudaDeviceAttr in driver_types.h and CUdevice_attribute in cuda.h of
/// CUDA 13.0. Values: H200 data sheet and the technical specifications of compute capability 9.0 in the CUDA
/// C++ programming guide; clocks are the data sheet's maxima in kHz. What the emulator lacks (textures,
/// inter-process memory, several GPUs) it does not claim. Sorted by attribute.
constexpr auto attributes = std::to_array<Row>({
    {1, N::max_threads_per_block},
    {2, 1024}, // MaxBlockDim x, y, z
    {3, 1024},
    {4, 64},
    {5, 2147483647}, // MaxGridDim x, y, z
    {6, 65535},
    {7, 65535},
    {8, 48 * 1024}, // MaxSharedMemoryPerBlock
    {9, 64 * 1024}, // TotalConstantMemory
    {10, 32},       // WarpSize
    {11, 2147483647},
    {12, N::registers_per_multiprocessor},
    {13, 1980000}, // ClockRate
    {14, 512},     // TextureAlignment
    {15, 1},       // GpuOverlap
    {16, N::multiprocessors},
    {17, 0}, // KernelExecTimeout
    {18, 0}, // Integrated
    {19, 1}, // CanMapHostMemory
    {20, 0}, // ComputeMode
    {21, 131072},
    {22, 131072},
    {23, 65536},
    {24, 16384},
    {25, 16384},
    {26, 16384},
    {27, 32768},
    {28, 32768},
    {29, 2048},
    {30, 512}, // SurfaceAlignment
    {31, 1},   // ConcurrentKernels
    {32, 1},   // EccEnabled
    {33, 0},   // PciBusId
    {34, 0},
    {35, 0},       // TccDriver
    {36, 3201000}, // MemoryClockRate
    {37, 6016},    // GlobalMemoryBusWidth
    {38, N::l2_bytes},
    {39, N::max_threads_per_multiprocessor},
    {40, 3}, // AsyncEngineCount
    {41, 1}, // UnifiedAddressing
    {42, 32768},
    {43, 2048},
    {44, 1}, // CanTex2DGather
    {45, 32768},
    {46, 32768},
    {47, 8192},
    {48, 8192},
    {49, 32768},
    {50, 0},  // PciDomainId
    {51, 32}, // TexturePitchAlignment
    {52, 32768},
    {53, 32768},
    {54, 2046},
    {55, 32768},
    {56, 131072},
    {57, 65536},
    {58, 16384},
    {59, 16384},
    {60, 16384},
    {61, 32768},
    {62, 2048},
    {63, 32768},
    {64, 32768},
    {65, 2048},
    {66, 32768},
    {67, 32768},
    {68, 2046},
    {69, 268435456},
    {70, 131072},
    {71, 65000},
    {72, 2097120},
    {73, 32768},
    {74, 32768},
    {75, 9}, // ComputeCapabilityMajor, Minor
    {76, 0},
    {77, 32768},
    {78, 1}, // StreamPrioritiesSupported
    {79, 1},
    {80, 1},
    {81, N::shared_per_multiprocessor},
    {82, N::registers_per_multiprocessor},
    {83, 1}, // ManagedMemory
    {84, 0}, // IsMultiGpuBoard
    {85, 0},
    {86, 0}, // HostNativeAtomicSupported
    {87, 2}, // SingleToDoublePrecisionPerfRatio
    {88, 0}, // PageableMemoryAccess: ordinary host memory must be registered first.
    {89, 1}, // ConcurrentManagedAccess
    {90, 1}, // ComputePreemptionSupported
    {91, 1}, // CanUseHostPointerForRegisteredMem
    {92, 0},
    {93, 0},
    {94, 0},
    {95, 1}, // CooperativeLaunch
    {96, 0},
    {97, max_shared_per_block},
    {98, 0}, // CanFlushRemoteWrites
    {99, 1}, // HostRegisterSupported
    {100, 0},
    {101, 0},
    {102, 1}, // VirtualMemoryManagementSupported
    {103, 0},
    {104, 0},
    {105, 0},
    {106, N::max_blocks_per_multiprocessor},
    {107, 0}, // GenericCompressionSupported
    {108, 0}, // MaxPersistingL2CacheSize
    {109, 0},
    {110, 0},
    {111, shared_reserved},
    {112, 0}, // SparseCudaArraySupported
    {113, 0},
    {114, 0},
    {115, 1}, // MemoryPoolsSupported
    {116, 0}, // GPUDirectRDMASupported
    {117, 0},
    {118, 0},
    {119, 0}, // MemoryPoolSupportedHandleTypes
    {120, 1}, // ClusterLaunch
    {121, 0},
    {122, 0},
    {123, 0},
    {124, 0},
    {125, 0}, // IpcEventSupport
    {126, 4}, // MemSyncDomainCount
    {127, 1}, // TensorMapAccessSupported
    {128, 0},
    {129, 0}, // UnifiedFunctionPointers
    {130, 0}, // NumaConfig
    {131, -1},
    {132, 0}, // MulticastSupported
    {133, 0}, // MpsEnabled
    {134, -1},
    {135, 0},
    {136, 0},
    {137, 0},
    {138, 0},
    {139, 0x233510de}, // GpuPciDeviceId
    {140, 0x18be10de},
    {141, 0},
    {142, 0},
    {143, 0},
    {144, 0},
    {145, 0},
    {146, 0},
    {147, 0},
});
static_assert(std::ranges::is_sorted(attributes, {}, &Row::attribute));

int value(int attribute) { return device_attribute(attribute).value_or(0); }

/// Fields of cudaDeviceProp that come in blocks of ints, each named by its attribute.
constexpr std::array<int, 25> texture_rows{21, 77, 22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25,
                                           26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54};
constexpr std::array<int, 14> surface_rows{55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68};

} // namespace

std::optional<int> device_attribute(int attribute) {
    const auto found = std::ranges::lower_bound(attributes, attribute, {}, &Row::attribute);
    if (found == attributes.end() || found->attribute != attribute)
        return std::nullopt;
    return found->value;
}

abi::DeviceProperties device_properties(std::uint64_t memory) {
    abi::DeviceProperties p{};
    std::strncpy(p.name, device_name, sizeof p.name - 1);
    std::memcpy(p.uuid, device_uuid, sizeof p.uuid);
    p.total_global_memory = static_cast<std::size_t>(memory);
    p.shared_per_block = static_cast<std::size_t>(value(8));
    p.registers_per_block = value(12);
    p.warp_size = value(10);
    p.memory_pitch = static_cast<std::size_t>(value(11));
    p.max_threads_per_block = value(1);
    for (int i = 0; i < 3; ++i) {
        p.max_threads_dim[i] = value(2 + i);
        p.max_grid_size[i] = value(5 + i);
    }
    p.total_constant_memory = static_cast<std::size_t>(value(9));
    p.major = value(75);
    p.minor = value(76);
    p.texture_alignment = static_cast<std::size_t>(value(14));
    p.texture_pitch_alignment = static_cast<std::size_t>(value(51));
    p.multiprocessor_count = value(16);
    p.integrated = value(18);
    p.can_map_host_memory = value(19);
    std::ranges::transform(texture_rows, p.texture_limits, value);
    std::ranges::transform(surface_rows, p.surface_limits, value);
    p.surface_alignment = static_cast<std::size_t>(value(30));
    p.concurrent_kernels = value(31);
    p.ecc_enabled = value(32);
    p.async_engine_count = value(40);
    p.unified_addressing = value(41);
    p.memory_bus_width = value(37);
    p.l2_cache_size = value(38);
    p.max_threads_per_multiprocessor = value(39);
    p.stream_priorities_supported = value(78);
    p.global_l1_cache_supported = value(79);
    p.local_l1_cache_supported = value(80);
    p.shared_per_multiprocessor = static_cast<std::size_t>(value(81));
    p.registers_per_multiprocessor = value(82);
    p.managed_memory = value(83);
    p.pageable_memory_access = value(88);
    p.concurrent_managed_access = value(89);
    p.compute_preemption_supported = value(90);
    p.can_use_host_pointer_for_registered_memory = value(91);
    p.cooperative_launch = value(95);
    p.shared_per_block_optin = static_cast<std::size_t>(value(97));
    p.max_blocks_per_multiprocessor = value(106);
    p.reserved_shared_per_block = static_cast<std::size_t>(value(111));
    p.host_register_supported = value(99);
    p.memory_pools_supported = value(115);
    p.cluster_launch = value(120);
    p.unified_function_pointers = value(129);
    p.device_numa_id = value(131);
    p.host_numa_id = value(134);
    p.gpu_pci_device_id = static_cast<unsigned>(value(139));
    p.gpu_pci_subsystem_id = static_cast<unsigned>(value(140));
    return p;
}

} // namespace emu::cuda
