#pragma once
/// \file
/// What programs bring along: fat binaries, kernels, device variables, and the modules they load at run time.

#include "cuda/abi.hpp"
#include "cuda/errors.hpp"
#include "hopper_emulator/module.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace emu::cuda {

class Image;

/// A kernel of a module. Its address is the CUfunction, the CUkernel and the cudaKernel_t of the program.
struct Function {
    Image* image = nullptr;
    std::string name;                         ///< Mangled.
    std::atomic<int> max_dynamic_shared = -1; ///< Attribute; -1: the default, 48 KiB less the static part.
    std::atomic<int> preferred_carveout = -1; ///< Per cent of shared memory; -1: default.
    std::atomic<bool> nonportable_cluster = false; ///< May clusters have more than 8 blocks?
    std::atomic<int> cluster_policy = 0;
    std::array<std::atomic<int>, 3> required_cluster{}; ///< Set by attribute; zeros: none.

    /// As the source has it, for messages.
    std::string readable_name() const;
    /// What the kernel asks for; loads the module when this is its first use. Throws ApiError.
    const KernelFacts& kernel();
    std::atomic<bool> explained =
        false; ///< That it holds an instruction the emulator does not know was reported.
    /// Bytes of dynamic shared memory that a launch may ask for.
    std::uint32_t dynamic_shared_limit();
    /// Threads per block that the kernel's `.maxntid` or `.reqntid` admits, at most 1024.
    std::uint32_t max_threads();
};

/// A device variable known by the address of its host shadow.
struct HostVariable {
    Image* image = nullptr;
    std::string name;
    std::size_t size = 0;
    void** managed = nullptr; ///< Where the program keeps the address of a managed variable.
};

/// A variable placed in device memory.
struct PlacedVariable {
    Address address = 0;
    std::size_t size = 0;
};

/// A module: from a fat binary of the program or given at run time. Its PTX is parsed at first use.
class Image {
  public:
    /// From a registered fat binary, which lives as long as the program.
    explicit Image(const abi::FatbinWrapper& wrapper) : wrapper_(&wrapper) {}
    /// From PTX text.
    explicit Image(std::string ptx) : text_(std::move(ptx)) {}

    /// The loaded module. Throws ApiError; a failure is remembered and explained once.
    Module& module();
    /// The kernel, or nullptr if the module has none of that name.
    Function* function(std::string_view name);
    /// All kernels of the module.
    std::vector<Function*> functions();
    /// A global or constant variable; address 0 if the module has none of that name.
    PlacedVariable variable(std::string_view name);

    /// Registers per thread that nvcc's sm_90 code of a kernel takes, 0 if the program carries none.
    unsigned registers(const std::string& name);

    /// Used while the program registers its parts; loads nothing.
    Function& declare_function(std::string_view name);
    void declare_managed(std::string name, void** host_pointer);

  private:
    void load();
    std::string take_text() const;

    const abi::FatbinWrapper* wrapper_ = nullptr;
    std::string text_;
    std::recursive_mutex mutex_;
    std::shared_ptr<Module> module_;
    Error failure_ = Error::success;
    std::map<std::string, std::unique_ptr<Function>, std::less<>> functions_;
    std::vector<std::pair<std::string, void**>> managed_;
    std::optional<std::map<std::string, unsigned>> registers_;
};

/// All images, and the program's names for their parts. Thread-safe. Never destroyed: the program's
/// destructors may still use it.
class Registry {
  public:
    static Registry& get();

    Image* add(const abi::FatbinWrapper& wrapper);
    /// From PTX text, a fat binary container or a wrapper. Throws ApiError.
    Image* add(const void* image);
    Image* add_file(const std::string& path);
    /// Forgets the host addresses of an image. The module itself stays, since reports may still speak of it.
    void remove(Image* image);

    void add_function(Image* image, const void* host, std::string_view name);
    void add_variable(Image* image, const void* host, HostVariable variable);

    /// By host stub or by handle. Throws ApiError(invalid_device_function).
    Function& function(const void* host_or_handle);
    /// By host shadow. Throws ApiError(invalid_symbol).
    PlacedVariable variable(const void* host);

    bool is_image(const void* image) const;
    bool is_function(const void* handle) const;
    void note_function(const Function* function);

  private:
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Image>> images_;
    std::set<const void*> live_images_;
    std::set<const void*> handles_;
    std::unordered_map<const void*, Function*> functions_;
    std::unordered_map<const void*, HostVariable> variables_;
};

} // namespace emu::cuda
