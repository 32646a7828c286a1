#include "machine/variable_names.hpp"

#include <cxxabi.h>

#include <cstdlib>

namespace emu {
namespace {

std::string demangle(std::string_view mangled) {
    int status = 0;
    const std::string text(mangled);
    const std::unique_ptr<char, void (*)(void*)> plain(
        abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 ? plain.get() : text;
}

/// Collects the variables without a size that an operand names.
void find_unsized(const ptx::Operand& operand, const std::vector<ptx::Variable>& variables,
                  const ptx::Variable*& found, bool& several) {
    if (operand.kind == ptx::Operand::Kind::symbol &&
        operand.symbol_kind == ptx::SymbolKind::module_variable) {
        const ptx::Variable& variable = variables[operand.index];
        if (variable.unsized && variable.space == ptx::Space::shared) {
            several |= found && found != &variable;
            found = &variable;
        }
    }
    for (const ptx::Operand& element : operand.elements)
        find_unsized(element, variables, found, several);
}

} // namespace

std::string plain_name(std::string_view symbol) {
    std::string plain = demangle(symbol);
    if (const auto colon = plain.rfind("::");
        colon != std::string::npos && plain.find(')') != std::string::npos)
        plain = plain.substr(colon + 2);
    return plain;
}

std::string byte_name(const Program& program, std::string_view symbol, std::uint64_t size,
                      std::uint64_t offset) {
    return plain_name(symbol) + program.debug_types().behind_name(symbol, size, offset);
}

std::optional<std::string> dynamic_byte_name(const Kernel& kernel, std::uint64_t offset) {
    const ptx::DebugTypes& types = kernel.program->debug_types();
    if (types.empty())
        return std::nullopt;
    const ptx::Variable* variable = nullptr;
    bool several = false;
    for (const ptx::Instruction* each : kernel.sources)
        for (const ptx::Operand& operand : each->operands)
            find_unsized(operand, kernel.program->module().variables, variable, several);
    if (!variable || several || types.is_raw(variable->name))
        return std::nullopt;
    const auto path = types.path(variable->name, 0, offset);
    return path ? std::optional(plain_name(variable->name) + *path) : std::nullopt;
}

std::string global_byte_name(const Program& program, const Allocation& allocation, std::uint64_t offset) {
    const std::int64_t index = program.module().find_variable(allocation.name);
    if (index >= 0 && program.variable_address(static_cast<std::uint32_t>(index)) == allocation.base)
        return byte_name(program, allocation.name, allocation.size, offset);
    return plain_name(allocation.name) + (offset ? " + " + std::to_string(offset) : "");
}

} // namespace emu
