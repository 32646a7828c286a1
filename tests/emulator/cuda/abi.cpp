// The layouts of common/emulator/cuda/abi.hpp against the CUDA Toolkit's headers. Everything is checked by
// the compiler; the program only says that it was built.

#include "cuda/abi.hpp"

#include <cstddef>
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

namespace abi = emu::cuda::abi;

/// Same size and alignment.
template <class Ours, class Theirs>
constexpr bool same = sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs);

static_assert(CUDART_VERSION / 1000 == abi::version / 1000);
static_assert(same<abi::DeviceProperties, cudaDeviceProp>);
static_assert(offsetof(abi::DeviceProperties, total_global_memory) ==
              offsetof(cudaDeviceProp, totalGlobalMem));
static_assert(offsetof(abi::DeviceProperties, max_grid_size) == offsetof(cudaDeviceProp, maxGridSize));
static_assert(offsetof(abi::DeviceProperties, major) == offsetof(cudaDeviceProp, major));
static_assert(offsetof(abi::DeviceProperties, multiprocessor_count) ==
              offsetof(cudaDeviceProp, multiProcessorCount));
static_assert(offsetof(abi::DeviceProperties, texture_limits) == offsetof(cudaDeviceProp, maxTexture1D));
static_assert(offsetof(abi::DeviceProperties, surface_limits) == offsetof(cudaDeviceProp, maxSurface1D));
static_assert(offsetof(abi::DeviceProperties, surface_alignment) ==
              offsetof(cudaDeviceProp, surfaceAlignment));
static_assert(offsetof(abi::DeviceProperties, memory_bus_width) == offsetof(cudaDeviceProp, memoryBusWidth));
static_assert(offsetof(abi::DeviceProperties, l2_cache_size) == offsetof(cudaDeviceProp, l2CacheSize));
static_assert(offsetof(abi::DeviceProperties, shared_per_multiprocessor) ==
              offsetof(cudaDeviceProp, sharedMemPerMultiprocessor));
static_assert(offsetof(abi::DeviceProperties, cooperative_launch) ==
              offsetof(cudaDeviceProp, cooperativeLaunch));
static_assert(offsetof(abi::DeviceProperties, shared_per_block_optin) ==
              offsetof(cudaDeviceProp, sharedMemPerBlockOptin));
static_assert(offsetof(abi::DeviceProperties, reserved_shared_per_block) ==
              offsetof(cudaDeviceProp, reservedSharedMemPerBlock));
static_assert(offsetof(abi::DeviceProperties, cluster_launch) == offsetof(cudaDeviceProp, clusterLaunch));
static_assert(offsetof(abi::DeviceProperties, reserved) == offsetof(cudaDeviceProp, reserved));

static_assert(same<abi::FunctionAttributes, cudaFuncAttributes>);
static_assert(offsetof(abi::FunctionAttributes, max_dynamic_shared_size) ==
              offsetof(cudaFuncAttributes, maxDynamicSharedSizeBytes));
static_assert(offsetof(abi::FunctionAttributes, nonportable_cluster_size_allowed) ==
              offsetof(cudaFuncAttributes, nonPortableClusterSizeAllowed));
static_assert(int(abi::FunctionAttribute::nonportable_cluster_size_allowed) ==
              cudaFuncAttributeNonPortableClusterSizeAllowed);
static_assert(int(abi::FunctionAttribute::cluster_scheduling_policy) ==
              CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
static_assert(int(abi::FunctionAttribute::cache_mode_ca) == CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);

static_assert(same<abi::AllocationNodeParams, cudaMemAllocNodeParams>);
static_assert(offsetof(abi::AllocationNodeParams, pointer) == offsetof(cudaMemAllocNodeParams, dptr));
static_assert(same<abi::PointerAttributes, cudaPointerAttributes>);
static_assert(offsetof(abi::PointerAttributes, host_pointer) == offsetof(cudaPointerAttributes, hostPointer));
static_assert(same<abi::ChannelDescription, cudaChannelFormatDesc>);
static_assert(same<abi::PitchedPointer, cudaPitchedPtr> && same<abi::Extent, cudaExtent>);
static_assert(same<abi::Copy3D, cudaMemcpy3DParms>);
static_assert(offsetof(abi::Copy3D, destination) == offsetof(cudaMemcpy3DParms, dstPtr));
static_assert(offsetof(abi::Copy3D, kind) == offsetof(cudaMemcpy3DParms, kind));
static_assert(same<abi::Copy3DPeer, cudaMemcpy3DPeerParms>);
static_assert(offsetof(abi::Copy3DPeer, extent) == offsetof(cudaMemcpy3DPeerParms, extent));
static_assert(same<abi::DriverCopy2D, CUDA_MEMCPY2D> && same<abi::DriverCopy3D, CUDA_MEMCPY3D>);
static_assert(offsetof(abi::DriverCopy2D, width) == offsetof(CUDA_MEMCPY2D, WidthInBytes));
static_assert(offsetof(abi::DriverCopy3D, destination_pitch) == offsetof(CUDA_MEMCPY3D, dstPitch));

static_assert(same<abi::LaunchAttribute, cudaLaunchAttribute> && same<abi::LaunchConfig, cudaLaunchConfig_t>);
static_assert(same<abi::DriverLaunchConfig, CUlaunchConfig> && same<abi::LaunchAttribute, CUlaunchAttribute>);
static_assert(offsetof(abi::DriverLaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));
static_assert(int(abi::LaunchAttributeId::cluster_dimension) == cudaLaunchAttributeClusterDimension);
static_assert(int(abi::LaunchAttributeId::preferred_cluster_dimension) ==
              cudaLaunchAttributePreferredClusterDimension);
static_assert(int(abi::LaunchAttributeId::preferred_shared_carveout) ==
              cudaLaunchAttributePreferredSharedMemoryCarveout);

static_assert(same<abi::MemoryLocation, cudaMemLocation> && same<abi::PoolProperties, cudaMemPoolProps>);
static_assert(same<abi::AllocationProperties, CUmemAllocationProp> &&
              same<abi::AccessDescription, CUmemAccessDesc>);
static_assert(offsetof(abi::AllocationProperties, location) == offsetof(CUmemAllocationProp, location));
static_assert(same<abi::Operand3D, cudaMemcpy3DOperand> && same<abi::BatchCopy3D, cudaMemcpy3DBatchOp>);
static_assert(offsetof(abi::Operand3D, pointer) == offsetof(cudaMemcpy3DOperand, op));
static_assert(offsetof(abi::BatchCopy3D, extent) == offsetof(cudaMemcpy3DBatchOp, extent));
static_assert(int(abi::MemoryLocationType::host_numa_current) == cudaMemLocationTypeHostNumaCurrent);
static_assert(int(abi::PoolAttribute::used_high) == cudaMemPoolAttrUsedMemHigh);

static_assert(same<abi::KernelNodeParams, cudaKernelNodeParams> &&
              same<abi::KernelNodeParams, cudaKernelNodeParamsV2>);
static_assert(same<abi::MemsetParams, cudaMemsetParams> && same<abi::HostNodeParams, cudaHostNodeParams>);
static_assert(same<abi::NodeParams, cudaGraphNodeParams> && same<abi::EdgeData, cudaGraphEdgeData>);
static_assert(offsetof(abi::NodeParams, reserved2) == offsetof(cudaGraphNodeParams, reserved2));
static_assert(same<abi::CopyNodeParams, cudaMemcpyNodeParams>);
static_assert(same<abi::InstantiateParams, cudaGraphInstantiateParams>);
static_assert(same<abi::UpdateResultInfo, cudaGraphExecUpdateResultInfo>);
static_assert(int(abi::NodeType::free) == cudaGraphNodeTypeMemFree);
static_assert(same<abi::TensorMap, CUtensorMap>);
// fatbinary_section.h cannot be included twice, and nvcc includes it for every program.
static_assert(sizeof(abi::FatbinWrapper) == 24 && offsetof(abi::FatbinWrapper, prelinked) == 16);

int main() { std::puts("every layout agrees with the CUDA Toolkit's headers"); }
