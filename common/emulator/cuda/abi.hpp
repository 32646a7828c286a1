#pragma once
/// \file
/// The binary interface of the CUDA runtime and driver, as far as the emulator implements it. Declared here
/// so that the emulator builds without the CUDA Toolkit; the test `cuda_abi` compares every layout with the
/// Toolkit's headers. Names follow driver_types.h and cuda.h of CUDA 13.0, without their prefixes.

#include <array>
#include <cstddef>
#include <cstdint>

namespace emu::cuda::abi {

inline constexpr int version = 13000; ///< cudaRuntimeGetVersion, cuDriverGetVersion.

struct Dim3 {
    unsigned x = 1, y = 1, z = 1;
};

enum class CopyKind : int {
    host_to_host = 0,
    host_to_device = 1,
    device_to_host = 2,
    device_to_device = 3,
    by_address = 4,
};

enum class MemoryType : int { unregistered = 0, host = 1, device = 2, managed = 3 };

/// cudaDeviceProp of CUDA 13 (CUDA 12 has other fields, see DeviceProperties12).
struct DeviceProperties {
    char name[256];
    char uuid[16];
    char luid[8];
    unsigned luid_device_node_mask;
    std::size_t total_global_memory;
    std::size_t shared_per_block;
    int registers_per_block;
    int warp_size;
    std::size_t memory_pitch;
    int max_threads_per_block;
    int max_threads_dim[3];
    int max_grid_size[3];
    std::size_t total_constant_memory;
    int major;
    int minor;
    std::size_t texture_alignment;
    std::size_t texture_pitch_alignment;
    int multiprocessor_count;
    int integrated;
    int can_map_host_memory;
    int texture_limits[25]; ///< maxTexture1D … maxTextureCubemapLayered[1].
    int surface_limits[14]; ///< maxSurface1D … maxSurfaceCubemapLayered[1].
    std::size_t surface_alignment;
    int concurrent_kernels;
    int ecc_enabled;
    int pci_bus_id;
    int pci_device_id;
    int pci_domain_id;
    int tcc_driver;
    int async_engine_count;
    int unified_addressing;
    int memory_bus_width;
    int l2_cache_size;
    int persisting_l2_cache_max_size;
    int max_threads_per_multiprocessor;
    int stream_priorities_supported;
    int global_l1_cache_supported;
    int local_l1_cache_supported;
    std::size_t shared_per_multiprocessor;
    int registers_per_multiprocessor;
    int managed_memory;
    int is_multi_gpu_board;
    int multi_gpu_board_group_id;
    int host_native_atomic_supported;
    int pageable_memory_access;
    int concurrent_managed_access;
    int compute_preemption_supported;
    int can_use_host_pointer_for_registered_memory;
    int cooperative_launch;
    std::size_t shared_per_block_optin;
    int pageable_memory_access_uses_host_page_tables;
    int direct_managed_memory_access_from_host;
    int max_blocks_per_multiprocessor;
    int access_policy_max_window_size;
    std::size_t reserved_shared_per_block;
    int host_register_supported;
    int sparse_array_supported;
    int host_register_read_only_supported;
    int timeline_semaphore_interop_supported;
    int memory_pools_supported;
    int gpu_direct_rdma_supported;
    unsigned gpu_direct_rdma_flush_writes_options;
    int gpu_direct_rdma_writes_ordering;
    unsigned memory_pool_supported_handle_types;
    int deferred_mapping_array_supported;
    int ipc_event_supported;
    int cluster_launch;
    int unified_function_pointers;
    int device_numa_config;
    int device_numa_id;
    int mps_enabled;
    int host_numa_id;
    unsigned gpu_pci_device_id;
    unsigned gpu_pci_subsystem_id;
    int host_numa_multinode_ipc_supported;
    int reserved[56];
};

/// cudaFuncAttributes.
struct FunctionAttributes {
    std::size_t shared_size;
    std::size_t const_size;
    std::size_t local_size;
    int max_threads_per_block;
    int registers;
    int ptx_version;
    int binary_version;
    int cache_mode_ca;
    int max_dynamic_shared_size;
    int preferred_shared_carveout;
    int cluster_dim_must_be_set;
    int required_cluster_width;
    int required_cluster_height;
    int required_cluster_depth;
    int cluster_scheduling_policy;
    int nonportable_cluster_size_allowed;
    int reserved[16];
};

/// cudaFuncAttribute and CUfunction_attribute (the first eight are the driver's alone).
enum class FunctionAttribute : int {
    max_threads_per_block = 0,
    shared_size = 1,
    const_size = 2,
    local_size = 3,
    registers = 4,
    ptx_version = 5,
    binary_version = 6,
    cache_mode_ca = 7,
    max_dynamic_shared_size = 8,
    preferred_shared_carveout = 9,
    cluster_dim_must_be_set = 10,
    required_cluster_width = 11,
    required_cluster_height = 12,
    required_cluster_depth = 13,
    nonportable_cluster_size_allowed = 14,
    cluster_scheduling_policy = 15,
};

struct PointerAttributes {
    MemoryType type;
    int device;
    void* device_pointer;
    void* host_pointer;
    long reserved[8];
};

struct PitchedPointer {
    void* pointer;
    std::size_t pitch;
    std::size_t x_size;
    std::size_t y_size;
};
struct Extent {
    std::size_t width, height, depth;
};
/// cudaChannelFormatDesc.
struct ChannelDescription {
    int x, y, z, w;
    int kind;
};
struct Position {
    std::size_t x, y, z;
};

/// cudaMemcpy3DParms.
struct Copy3D {
    void* source_array;
    Position source_position;
    PitchedPointer source;
    void* destination_array;
    Position destination_position;
    PitchedPointer destination;
    Extent extent;
    CopyKind kind;
};
/// cudaMemcpy3DPeerParms.
struct Copy3DPeer {
    void* source_array;
    Position source_position;
    PitchedPointer source;
    int source_device;
    void* destination_array;
    Position destination_position;
    PitchedPointer destination;
    int destination_device;
    Extent extent;
};

/// CUmemorytype.
enum class DriverMemoryType : int { host = 1, device = 2, array = 3, unified = 4 };

/// CUDA_MEMCPY2D_v2.
struct DriverCopy2D {
    std::size_t source_x, source_y;
    DriverMemoryType source_type;
    const void* source_host;
    std::uint64_t source_device;
    void* source_array;
    std::size_t source_pitch;
    std::size_t destination_x, destination_y;
    DriverMemoryType destination_type;
    void* destination_host;
    std::uint64_t destination_device;
    void* destination_array;
    std::size_t destination_pitch;
    std::size_t width, height;
};
/// CUDA_MEMCPY3D_v2.
struct DriverCopy3D {
    std::size_t source_x, source_y, source_z, source_lod;
    DriverMemoryType source_type;
    const void* source_host;
    std::uint64_t source_device;
    void* source_array;
    void* reserved0;
    std::size_t source_pitch, source_height;
    std::size_t destination_x, destination_y, destination_z, destination_lod;
    DriverMemoryType destination_type;
    void* destination_host;
    std::uint64_t destination_device;
    void* destination_array;
    void* reserved1;
    std::size_t destination_pitch, destination_height;
    std::size_t width, height, depth;
};

/// cudaLaunchAttributeID, as far as it matters here.
enum class LaunchAttributeId : int {
    ignore = 0,
    access_policy_window = 1,
    cooperative = 2,
    synchronization_policy = 3,
    cluster_dimension = 4,
    cluster_scheduling_policy = 5,
    programmatic_stream_serialization = 6,
    programmatic_event = 7,
    priority = 8,
    memory_sync_domain_map = 9,
    memory_sync_domain = 10,
    preferred_cluster_dimension = 11,
    launch_completion_event = 12,
    device_updatable_kernel_node = 13,
    preferred_shared_carveout = 14,
};
union LaunchAttributeValue {
    char pad[64];
    int number; ///< cooperative, priority, syncPolicy, …
    struct {
        unsigned x, y, z;
    } dimension;
    struct {
        void* event;
        int flags;
        int trigger_at_block_start;
    } event;
};
struct LaunchAttribute {
    LaunchAttributeId id;
    char pad[4];
    LaunchAttributeValue value;
};

/// cudaLaunchConfig_t.
struct LaunchConfig {
    Dim3 grid;
    Dim3 block;
    std::size_t dynamic_shared;
    void* stream;
    LaunchAttribute* attributes;
    unsigned attribute_count;
};
/// CUlaunchConfig.
struct DriverLaunchConfig {
    Dim3 grid;
    Dim3 block;
    unsigned dynamic_shared;
    void* stream;
    LaunchAttribute* attributes;
    unsigned attribute_count;
};

/// cudaMemLocation.
struct MemoryLocation {
    int type;
    int id;
};
/// cudaMemAccessDesc.
struct AccessDescription {
    MemoryLocation location;
    int flags;
};
enum class MemoryLocationType : int { none = 0, device = 1, host = 2, host_numa = 3, host_numa_current = 4 };
/// The place that CUDA 12's functions, and the driver's first ones, name by a device's number: the host is
/// -1.
constexpr MemoryLocation location_of(int device) {
    return {static_cast<int>(device == -1 ? MemoryLocationType::host : MemoryLocationType::device),
            device == -1 ? 0 : device};
}

/// cudaMemcpy3DOperand: a pointer (type 1), or an array, which the emulator does not have.
struct Operand3D {
    int type;
    void* pointer;
    std::size_t row_length;   ///< Bytes.
    std::size_t layer_height; ///< Rows.
    MemoryLocation hint;
};
/// cudaMemcpy3DBatchOp.
struct BatchCopy3D {
    Operand3D source, destination;
    Extent extent;
    int access_order;
    unsigned flags;
};

/// CUmemAllocationProp.
struct AllocationProperties {
    int allocation_type;
    int handle_types;
    MemoryLocation location;
    void* win32_security_attributes;
    unsigned char compression;
    unsigned char gpu_direct_rdma;
    unsigned short usage;
    unsigned char reserved[4];
};

/// cudaMemPoolProps.
struct PoolProperties {
    int allocation_type;
    int handle_types;
    MemoryLocation location;
    void* win32_security_attributes;
    std::size_t max_size;
    unsigned short usage;
    unsigned char reserved[54];
};
enum class PoolAttribute : int {
    reuse_follow_event_dependencies = 1,
    reuse_allow_opportunistic = 2,
    reuse_allow_internal_dependencies = 3,
    release_threshold = 4,
    reserved_current = 5,
    reserved_high = 6,
    used_current = 7,
    used_high = 8,
};

/// cudaGraphNodeType.
enum class NodeType : int {
    kernel = 0,
    copy = 1,
    set = 2,
    host = 3,
    graph = 4,
    empty = 5,
    wait_event = 6,
    event_record = 7,
    allocate = 10,
    free = 11,
};
/// cudaKernelNodeParams.
struct KernelNodeParams {
    const void* function;
    Dim3 grid;
    Dim3 block;
    unsigned dynamic_shared;
    void** parameters;
    void** extra;
};
/// cudaMemsetParams.
struct MemsetParams {
    void* destination;
    std::size_t pitch;
    unsigned value;
    unsigned element_size;
    std::size_t width;
    std::size_t height;
};
using HostFunction = void (*)(void*);
struct HostNodeParams {
    HostFunction function;
    void* user_data;
};
struct EdgeData {
    unsigned char from_port, to_port, type, reserved[5];
};
/// cudaGraphInstantiateParams.
struct InstantiateParams {
    unsigned long long flags;
    void* upload_stream;
    void* error_node;
    int result;
};
/// cudaGraphExecUpdateResultInfo.
struct UpdateResultInfo {
    int result;
    void* error_node;
    void* error_from_node;
};
/// cudaMemcpyNodeParams.
struct CopyNodeParams {
    int flags;
    int reserved[3];
    Copy3D copy;
};
/// cudaMemAllocNodeParams.
struct AllocationNodeParams {
    PoolProperties pool;
    const void* access;
    std::size_t access_count;
    std::size_t size;
    void* pointer; ///< Out.
};
/// cudaGraphNodeParams.
struct NodeParams {
    NodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        KernelNodeParams kernel;
        CopyNodeParams copy;
        MemsetParams set;
        HostNodeParams host;
        AllocationNodeParams allocation;
        void* graph;
        void* event;
        void* pointer;
    };
    long long reserved2;
};
enum class CaptureStatus : int { none = 0, active = 1, invalidated = 2 };

/// CUtensorMap: 128 opaque bytes. CUDA 13 aligns it to 128 bytes, CUDA 12 to 64; the function needs 64.
struct alignas(128) TensorMap {
    std::array<std::uint64_t, 16> words;
};

/// __fatBinC_Wrapper_t (fatbinary_section.h).
struct FatbinWrapper {
    std::uint32_t magic;
    std::uint32_t version; ///< 2: linked from relocatable objects, `prelinked` is an array.
    const std::byte* data;
    void* prelinked; ///< Null-terminated array of container pointers for version 2.
};

} // namespace emu::cuda::abi
