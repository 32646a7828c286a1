#include "cuda/entry_points.hpp"

#include "cuda/abi.hpp"

#include <array>
#include <dlfcn.h>
#include <string>
#include <string_view>

namespace emu::cuda {
namespace {

/// From which CUDA version on a name means a newer function (the #defines and PFN typedefs of cuda.h and
/// cudaTypedefs.h). The last row that fits wins; every other name means the highest `_vN` there is for it.
struct Version {
    std::string_view symbol;
    int since;
    std::string_view function;
};
constexpr auto versions = std::to_array<Version>({
    {"cuCtxCreate", 3020, "cuCtxCreate_v2"},
    {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
    {"cuCtxCreate", 12050, "cuCtxCreate_v4"},
    {"cuCtxGetDevice", 2000, "cuCtxGetDevice"},
    {"cuCtxGetDevice", 13000, "cuCtxGetDevice_v2"},
    {"cuCtxSynchronize", 2000, "cuCtxSynchronize"},
    {"cuCtxSynchronize", 13000, "cuCtxSynchronize_v2"},
    {"cuDeviceGetUuid", 9020, "cuDeviceGetUuid"},
    {"cuDeviceGetUuid", 11040, "cuDeviceGetUuid_v2"},
    {"cuEventElapsedTime", 2000, "cuEventElapsedTime"},
    {"cuEventElapsedTime", 12080, "cuEventElapsedTime_v2"},
    {"cuGetProcAddress", 11030, "cuGetProcAddress"},
    {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
    {"cuGraphInstantiate", 10000, "cuGraphInstantiate"},
    {"cuGraphInstantiate", 11000, "cuGraphInstantiate_v2"},
    {"cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags"},
    {"cuMemAdvise", 8000, "cuMemAdvise"},
    {"cuMemAdvise", 12020, "cuMemAdvise_v2"},
    {"cuMemPrefetchAsync", 8000, "cuMemPrefetchAsync"},
    {"cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync_v2"},
    {"cuStreamGetCtx", 9020, "cuStreamGetCtx"},
    {"cuStreamGetCtx", 12050, "cuStreamGetCtx_v2"},
});

/// Functions of this library only: a real driver may be loaded beside it.
void* own_function(const std::string& name) {
    static void* const self = [] {
        Dl_info info{};
        dladdr(reinterpret_cast<void*>(&find_entry_point), &info);
        return info.dli_fname ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    }();
    return self ? dlsym(self, name.c_str()) : nullptr;
}

} // namespace

EntryPoint find_entry_point(const char* symbol, int version) {
    std::string function;
    bool known = false;
    for (const Version& row : versions)
        if (row.symbol == symbol) {
            known = true;
            if (row.since <= version)
                function = row.function;
        }
    if (known && function.empty())
        return {nullptr, EntryPoint::Status::version_not_sufficient};
    if (!known) {
        function = symbol;
        for (const char* suffix : {"_v4", "_v3", "_v2"})
            if (own_function(function + suffix)) {
                function += suffix;
                break;
            }
    }
    void* const address = std::string_view(symbol).starts_with("cu") ? own_function(function) : nullptr;
    return {address, address ? EntryPoint::Status::found : EntryPoint::Status::not_found};
}

} // namespace emu::cuda
