#include "machine/program.hpp"

#include "machine/decoder.hpp"

#include <algorithm>
#include <cstring>
#include <cxxabi.h>

namespace emu {
namespace {

/// Writes the addresses an initialiser names (PTX ISA 5.4.4).
void relocate(const ptx::Variable& variable, std::byte* bytes, const std::vector<Address>& addresses) {
    for (const ptx::Relocation& r : variable.relocations) {
        Address value =
            r.kind == ptx::SymbolKind::function ? code_window + 16 * Address{r.index} : addresses[r.index];
        value = (value + static_cast<Address>(r.addend)) >> r.shift;
        std::memcpy(bytes + r.offset, &value, r.width);
    }
}

/// What the text says of a kernel, beside its name and sizes.
void tell_facts(Kernel& kernel) {
    const ptx::Function& source = kernel.source();
    for (const LocalPlacement& parameter : kernel.entry().parameters)
        kernel.signature.push_back({parameter.offset, parameter.size});
    for (const auto& shape : {source.max_threads, source.required_threads})
        if (shape[0] != 0) {
            const std::uint32_t bound = shape[0] * std::max(1u, shape[1]) * std::max(1u, shape[2]);
            kernel.max_threads = kernel.max_threads ? std::min(kernel.max_threads, bound) : bound;
        }
    kernel.required_cluster = source.required_cluster;
    kernel.explicit_cluster = source.explicit_cluster;
}

} // namespace

Program::Program(ptx::Module module, GlobalMemory& memory)
    : module_(std::move(module)),
      controls_grids_(module_.text && module_.text->find("griddepcontrol.") != std::string::npos),
      memory_(memory), variable_address_(module_.variables.size()) {
    for (std::size_t i = 0; i < module_.variables.size(); ++i) {
        const ptx::Variable& v = module_.variables[i];
        if (v.space != ptx::Space::global && v.space != ptx::Space::constant)
            continue;
        if (v.linkage == ptx::Linkage::external && v.initial.empty() && v.size == 0)
            continue;
        const Address address =
            memory.allocate(v.size, Allocation::Kind::module, std::string(v.name), v.alignment, v.managed);
        if (address == 0)
            throw std::runtime_error("the module's variables do not fit in device memory: " +
                                     std::string(v.name));
        variable_address_[i] = address;
        std::byte* const bytes = memory.bytes(address);
        std::memset(bytes, 0, v.size);
        std::copy(v.initial.begin(), v.initial.end(), bytes);
    }
    for (std::size_t i = 0; i < module_.variables.size(); ++i)
        if (variable_address_[i])
            relocate(module_.variables[i], memory.bytes(variable_address_[i]), variable_address_);
}

Program::~Program() {
    for (const Address address : variable_address_)
        if (address)
            memory_.release(address);
}

const ptx::DebugTypes& Program::debug_types() const {
    std::call_once(types_are_read_, [this] { types_ = std::make_unique<ptx::DebugTypes>(module_); });
    return *types_;
}

std::vector<std::string_view> Program::kernel_names() const {
    std::vector<std::string_view> names;
    for (const ptx::Function& function : module_.functions)
        if (function.is_entry && function.has_body)
            names.push_back(function.name);
    return names;
}

bool Program::has_kernel(std::string_view name) const {
    const std::int64_t index = module_.find_function(name);
    return index >= 0 && module_.functions[static_cast<std::size_t>(index)].is_entry;
}

std::optional<VariableFacts> Program::variable(std::string_view name) const {
    const std::int64_t index = module_.find_variable(name);
    if (index < 0)
        return std::nullopt;
    const auto i = static_cast<std::size_t>(index);
    return VariableFacts{variable_address_[i], module_.variables[i].size};
}

std::uint64_t Program::constant_bytes() const {
    std::uint64_t bytes = 0;
    for (const ptx::Variable& variable : module_.variables)
        if (variable.space == ptx::Space::constant)
            bytes += variable.size;
    return bytes;
}

const Kernel* Program::kernel(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const std::string key(name);
    if (const auto it = kernels_.find(key); it != kernels_.end())
        return it->second.get();
    const std::int64_t index = module_.find_function(name);
    if (index < 0 || !module_.functions[static_cast<std::size_t>(index)].is_entry)
        return nullptr;
    auto kernel = decode_kernel(*this, static_cast<std::uint32_t>(index));
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> demangled(
        abi::__cxa_demangle(key.c_str(), nullptr, nullptr, &status), std::free);
    kernel->name = status == 0 ? demangled.get() : key;
    tell_facts(*kernel);
    return (kernels_[key] = std::move(kernel)).get();
}

bool is_inlined_from(const Kernel& kernel, std::uint32_t pc, std::string_view file) {
    const ptx::Module& module = kernel.program->module();
    for (std::uint32_t at = kernel.sources[pc]->location; at != 0 && at < module.locations.size();
         at = module.locations[at].inlined_at)
        if (const auto number = module.locations[at].file;
            number < module.files.size() && module.files[number].ends_with(file))
            return true;
    return false;
}

} // namespace emu
