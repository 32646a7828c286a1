#include "cuda/registry.hpp"

#include "cuda/diagnostics.hpp"
#include "cuda/owner.hpp"
#include "cuda/state.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "images/cubin.hpp"
#include "images/demangle.hpp"
#include "images/fatbin.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace emu::cuda {
namespace {

/// PTX of the container at `data`; what it lacks is explained in the exception.
std::string text_of_container(const std::byte* data) {
    const auto entries = read_fatbin({data, container_size(data)});
    const FatbinEntry* best = choose_ptx(entries);
    if (!best)
        throw FatbinError(FatbinError::Kind::no_ptx, explain_missing_ptx(entries));
    return unpack(*best);
}

/// Is this NVIDIA's library for launches by kernels? It is machine code only. nvcc links it in where kernels
/// launch kernels, and into every program that it builds without machine code of its own.
bool is_device_runtime(const std::byte* data) {
    const auto entries = read_fatbin({data, container_size(data)});
    const auto code = std::ranges::find(entries, FatbinEntry::Kind::elf, &FatbinEntry::kind);
    return code != entries.end() && unpack(*code).find("__CNPRT_VERSION_NUMBER__") != std::string::npos;
}

/// A program linked with -rdc=true carries the relocatable PTX of every object file.
std::string text_of_linked(const abi::FatbinWrapper& wrapper) {
    std::vector<std::string> texts;
    const auto* parts = static_cast<const std::byte* const*>(wrapper.prelinked);
    for (; parts && *parts; ++parts) {
        try {
            texts.push_back(text_of_container(*parts));
        } catch (const FatbinError& error) {
            // A launch by a kernel is refused where it stands.
            if (error.kind != FatbinError::Kind::no_ptx || !is_device_runtime(*parts))
                throw;
        }
    }
    if (texts.empty())
        return text_of_container(wrapper.data);
    return link_ptx(std::move(texts));
}

std::uint32_t magic_of(const void* image) {
    std::uint32_t magic = 0;
    // PTX text may be shorter than four bytes; strnlen stops at its end.
    const std::size_t available = strnlen(static_cast<const char*>(image), sizeof magic);
    if (available == sizeof magic)
        std::memcpy(&magic, image, sizeof magic);
    return magic;
}

constexpr std::uint32_t elf_magic = 0x464c457f;

} // namespace

std::string Function::readable_name() const { return demangled(name); }

const KernelFacts& Function::kernel() {
    try {
        if (const KernelFacts* found = image->module().kernel(name))
            return *found;
    } catch (const DecodeError& error) {
        if (!explained.exchange(true))
            report(State::get(), {Finding::unsupported_instruction,
                                  Fault::illegal_instruction,
                                  readable_name(),
                                  error.what(),
                                  {},
                                  {}});
        throw ApiError(Error::not_supported);
    }
    throw ApiError(Error::invalid_device_function, "the module has no kernel " + name);
}

std::uint32_t Function::dynamic_shared_limit() {
    const auto static_part = kernel().static_shared;
    if (const int set = max_dynamic_shared; set >= 0)
        return static_cast<std::uint32_t>(set);
    constexpr std::uint32_t without_opt_in = 48 * 1024;
    return static_part < without_opt_in ? without_opt_in - static_part : 0;
}

std::uint32_t Function::max_threads() {
    const std::uint32_t bound = kernel().max_threads;
    return bound ? std::min(bound, DeviceNumbers::max_threads_per_block)
                 : DeviceNumbers::max_threads_per_block;
}

std::string Image::take_text() const {
    if (!wrapper_)
        return text_;
    return wrapper_->version >= 2 ? text_of_linked(*wrapper_) : text_of_container(wrapper_->data);
}

namespace {

/// PTX runs on later GPUs than its target, not on earlier ones. Images of programs were chosen by target
/// already.
void check_target(const Module& module) {
    constexpr unsigned newest = 90;
    unsigned number = 0;
    const std::string_view target = module.target();
    if (target.starts_with("sm_"))
        std::from_chars(target.data() + 3, target.data() + target.size(), number);
    if (number > newest)
        throw std::runtime_error("the PTX is made for " + std::string(target) +
                                 ", but the device has compute capability 9.0; make it for compute_90");
}

} // namespace

void Image::load() {
    std::string why;
    try {
        module_ = State::get().device().load(take_text());
        check_target(*module_);
        failure_ = Error::success;
        for (const auto& [name, host] : managed_)
            *host = reinterpret_cast<void*>(variable(name).address);
        return;
    } catch (const FatbinError& error) {
        failure_ = error.kind == FatbinError::Kind::no_ptx ? Error::no_kernel_image : Error::invalid_image;
        why = error.what();
    } catch (const ParseError& error) {
        failure_ = Error::invalid_ptx;
        why = std::string(error.what()) + "\n" + error.excerpt();
    } catch (const ApiError&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        failure_ = Error::invalid_ptx;
        why = error.what();
    }
    throw ApiError(failure_, why);
}

Module& Image::module() {
    const std::lock_guard lock(mutex_);
    if (failure_ != Error::success)
        throw ApiError(failure_);
    if (!module_)
        load();
    return *module_;
}

Function& Image::declare_function(std::string_view name) {
    const std::lock_guard lock(mutex_);
    auto found = functions_.find(name);
    if (found == functions_.end()) {
        auto function = std::make_unique<Function>();
        function->image = this;
        function->name = name;
        found = functions_.emplace(std::string(name), std::move(function)).first;
        Registry::get().note_function(found->second.get());
    }
    return *found->second;
}

void Image::declare_managed(std::string name, void** host_pointer) {
    const std::lock_guard lock(mutex_);
    managed_.emplace_back(std::move(name), host_pointer);
}

Function* Image::function(std::string_view name) {
    return module().has_kernel(name) ? &declare_function(name) : nullptr;
}

std::vector<Function*> Image::functions() {
    std::vector<Function*> all;
    for (const std::string_view name : module().kernel_names())
        all.push_back(&declare_function(name));
    return all;
}

PlacedVariable Image::variable(std::string_view name) {
    const auto found = module().variable(name);
    return found ? PlacedVariable{found->address, static_cast<std::size_t>(found->size)} : PlacedVariable{};
}

unsigned Image::registers(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (!registers_) {
        registers_.emplace();
        if (wrapper_)
            for (const FatbinEntry& entry : read_fatbin({wrapper_->data, container_size(wrapper_->data)}))
                if (entry.kind == FatbinEntry::Kind::elf && entry.target == 90) {
                    const std::string elf = unpack(entry);
                    registers_->merge(registers_of_cubin(std::as_bytes(std::span(elf))));
                }
    }
    const auto found = registers_->find(name);
    return found == registers_->end() ? 0 : found->second;
}

Registry& Registry::get() { return the<Registry>(); }

Image* Registry::add(const abi::FatbinWrapper& wrapper) {
    const std::lock_guard lock(mutex_);
    images_.push_back(std::make_unique<Image>(wrapper));
    live_images_.insert(images_.back().get());
    return images_.back().get();
}

Image* Registry::add(const void* image) {
    std::string text;
    try {
        switch (magic_of(image)) {
        case fatbin_wrapper_magic: {
            const auto& wrapper = *static_cast<const abi::FatbinWrapper*>(image);
            text = wrapper.version >= 2 ? text_of_linked(wrapper) : text_of_container(wrapper.data);
            break;
        }
        case fatbin_container_magic:
            text = text_of_container(static_cast<const std::byte*>(image));
            break;
        case elf_magic:
            throw ApiError(Error::no_kernel_image,
                           "the module is machine code; the emulator needs PTX (nvcc -ptx or -fatbin)");
        default:
            text = static_cast<const char*>(image);
        }
    } catch (const FatbinError& error) {
        throw ApiError(error.kind == FatbinError::Kind::no_ptx ? Error::no_kernel_image
                                                               : Error::invalid_image,
                       error.what());
    }
    Image* added = nullptr;
    {
        const std::lock_guard lock(mutex_);
        images_.push_back(std::make_unique<Image>(std::move(text)));
        added = images_.back().get();
        live_images_.insert(added);
    }
    try {
        added->module();
    } catch (...) {
        remove(added);
        throw;
    }
    return added;
}

Image* Registry::add_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw ApiError(Error::file_not_found, "the module file " + path + " cannot be opened");
    std::ostringstream bytes;
    bytes << in.rdbuf();
    const std::string content = std::move(bytes).str();
    if (content.size() >= 16 && magic_of(content.data()) == fatbin_container_magic &&
        container_size(reinterpret_cast<const std::byte*>(content.data())) > content.size())
        throw ApiError(Error::invalid_image, "the module file " + path + " is cut off");
    return add(static_cast<const void*>(content.c_str()));
}

void Registry::remove(Image* image) {
    const std::lock_guard lock(mutex_);
    live_images_.erase(image);
    std::erase_if(functions_, [&](const auto& entry) { return entry.second->image == image; });
    std::erase_if(variables_, [&](const auto& entry) { return entry.second.image == image; });
    std::erase_if(handles_, [&](const void* h) { return static_cast<const Function*>(h)->image == image; });
}

void Registry::add_function(Image* image, const void* host, std::string_view name) {
    Function& function = image->declare_function(name);
    const std::lock_guard lock(mutex_);
    functions_[host] = &function;
}

void Registry::add_variable(Image* image, const void* host, HostVariable variable) {
    if (variable.managed)
        image->declare_managed(variable.name, variable.managed);
    variable.image = image;
    const std::lock_guard lock(mutex_);
    variables_[host] = std::move(variable);
}

Function& Registry::function(const void* host_or_handle) {
    const std::lock_guard lock(mutex_);
    if (const auto found = functions_.find(host_or_handle); found != functions_.end())
        return *found->second;
    if (handles_.contains(host_or_handle))
        return *static_cast<Function*>(const_cast<void*>(host_or_handle));
    throw ApiError(Error::invalid_device_function);
}

PlacedVariable Registry::variable(const void* host) {
    HostVariable variable;
    {
        const std::lock_guard lock(mutex_);
        auto found = variables_.find(host);
        if (found == variables_.end()) // A managed variable is also known by the pointer the program uses.
            found = std::ranges::find_if(variables_, [&](const auto& entry) {
                return entry.second.managed && *entry.second.managed == host && host;
            });
        if (found == variables_.end())
            throw ApiError(Error::invalid_symbol);
        variable = found->second;
    }
    PlacedVariable placed = variable.image->variable(variable.name);
    if (placed.address == 0)
        throw ApiError(Error::invalid_symbol, "the module has no variable " + variable.name);
    if (placed.size == 0)
        placed.size = variable.size;
    return placed;
}

bool Registry::is_image(const void* image) const {
    const std::lock_guard lock(mutex_);
    return live_images_.contains(image);
}

bool Registry::is_function(const void* handle) const {
    const std::lock_guard lock(mutex_);
    return handles_.contains(handle);
}

void Registry::note_function(const Function* function) {
    const std::lock_guard lock(mutex_);
    handles_.insert(function);
}

} // namespace emu::cuda
