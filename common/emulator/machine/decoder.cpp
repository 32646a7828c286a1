#include "machine/decoder.hpp"

#include "ptx/parser.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace emu {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::SymbolKind;
using ptx::Type;

constexpr bool is_float(Type type) {
    return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64 ||
           type == Type::tf32;
}

/// The bits of an immediate as a value of `type`.
std::uint64_t immediate_bits(const Operand& operand, Type type) {
    switch (operand.kind) {
    case Operand::Kind::float64: {
        if (ptx::size_of(type) != 4 || !is_float(type))
            return operand.bits;
        double d;
        std::memcpy(&d, &operand.bits, 8);
        const float f = static_cast<float>(d);
        std::uint32_t bits;
        std::memcpy(&bits, &f, 4);
        return bits;
    }
    case Operand::Kind::float32: {
        if (type != Type::f64)
            return operand.bits;
        float f;
        std::memcpy(&f, &operand.bits, 4);
        const double d = f;
        std::uint64_t bits;
        std::memcpy(&bits, &d, 8);
        return bits;
    }
    default:
        return operand.bits;
    }
}

/// Special registers that are the same in every execution of the instruction (PTX ISA 10).
const std::map<std::string_view, Special>& special_names() {
    // Never destroyed: a thread may launch until the process ends.
    static const auto& names = *new std::map<std::string_view, Special>{
        {"%tid.x", Special::tid_x},
        {"%tid.y", Special::tid_y},
        {"%tid.z", Special::tid_z},
        {"%ntid.x", Special::ntid_x},
        {"%ntid.y", Special::ntid_y},
        {"%ntid.z", Special::ntid_z},
        {"%ctaid.x", Special::ctaid_x},
        {"%ctaid.y", Special::ctaid_y},
        {"%ctaid.z", Special::ctaid_z},
        {"%nctaid.x", Special::nctaid_x},
        {"%nctaid.y", Special::nctaid_y},
        {"%nctaid.z", Special::nctaid_z},
        {"%laneid", Special::laneid},
        {"%warpid", Special::warpid},
        {"%nwarpid", Special::nwarpid},
        {"%smid", Special::smid},
        {"%nsmid", Special::nsmid},
        {"%lanemask_eq", Special::lanemask_eq},
        {"%lanemask_le", Special::lanemask_le},
        {"%lanemask_lt", Special::lanemask_lt},
        {"%lanemask_ge", Special::lanemask_ge},
        {"%lanemask_gt", Special::lanemask_gt},
        {"%clusterid.x", Special::clusterid_x},
        {"%clusterid.y", Special::clusterid_y},
        {"%clusterid.z", Special::clusterid_z},
        {"%nclusterid.x", Special::nclusterid_x},
        {"%nclusterid.y", Special::nclusterid_y},
        {"%nclusterid.z", Special::nclusterid_z},
        {"%cluster_ctaid.x", Special::cluster_ctaid_x},
        {"%cluster_ctaid.y", Special::cluster_ctaid_y},
        {"%cluster_ctaid.z", Special::cluster_ctaid_z},
        {"%cluster_nctaid.x", Special::cluster_nctaid_x},
        {"%cluster_nctaid.y", Special::cluster_nctaid_y},
        {"%cluster_nctaid.z", Special::cluster_nctaid_z},
        {"%cluster_ctarank", Special::cluster_ctarank},
        {"%cluster_nctarank", Special::cluster_nctarank},
        {"%dynamic_smem_size", Special::dynamic_smem_size},
        {"%total_smem_size", Special::total_smem_size},
        {"%aggr_smem_size", Special::total_smem_size},
        {"%gridid", Special::gridid64},
    };
    return names;
}

/// Special registers that hold the same value in every launch here: no performance monitors, no environment,
/// no graph. Nothing if `name` is none of them. The system's KiB of shared memory lies in front.
std::optional<std::uint64_t> constant_special(std::string_view name) {
    if (name.starts_with("%pm") || name.starts_with("%envreg") || name == "%current_graph_exec" ||
        name == "%reserved_smem_offset_begin" || name == "%reserved_smem_offset_0")
        return 0;
    if (name == "%reserved_smem_offset_1")
        return shared_reserved_for_groups;
    if (name == "%reserved_smem_offset_end" || name == "%reserved_smem_offset_cap")
        return shared_reserved;
    return {};
}

bool type_fits(unsigned register_bytes, unsigned type_bytes, bool allow_wider) {
    return register_bytes == type_bytes || (type_bytes == 1 && register_bytes == 2) ||
           (allow_wider && register_bytes > type_bytes);
}

} // namespace

const ptx::Module& DecodeContext::module() const { return kernel_.program->module(); }

const Operand& DecodeContext::operand(std::size_t i) const {
    if (i >= instruction_->operands.size())
        malformed("has too few operands");
    return instruction_->operands[i];
}

Type DecodeContext::type(unsigned which) const {
    for (const auto modifier : instruction_->modifiers)
        if (const auto type = ptx::type_from_name(modifier); type && which-- == 0)
            return *type;
    return Type::none;
}

void DecodeContext::allow(std::initializer_list<std::string_view> known) const {
    for (const auto modifier : instruction_->modifiers)
        if (!ptx::type_from_name(modifier) && std::find(known.begin(), known.end(), modifier) == known.end())
            unsupported("modifier ." + std::string(modifier) + " is not supported here");
}

unsigned DecodeContext::register_bytes(const Operand& operand, unsigned fallback) const {
    if (operand.kind != Operand::Kind::reg)
        return fallback;
    return std::max(2u, ptx::size_of(function_.source->registers[operand.index].type));
}

Row DecodeContext::source(std::size_t i, Type type, bool allow_wider) {
    return source(operand(i), type, allow_wider);
}

Row DecodeContext::source(const Operand& operand, Type type, bool allow_wider) {
    const unsigned bytes = std::max(2u, ptx::size_of(type));
    switch (operand.kind) {
    case Operand::Kind::reg: {
        if (function_.source->registers[operand.index].type == Type::pred)
            malformed("takes a value where it names predicate " +
                      function_.source->register_name(operand.index));
        if (!type_fits(register_bytes(operand, bytes), ptx::size_of(type), allow_wider))
            malformed("takes " + std::to_string(8 * bytes) + "-bit operands, but " +
                      function_.source->register_name(operand.index) + " is ." +
                      std::string(ptx::name_of(function_.source->registers[operand.index].type)));
        return Row{register_offset(operand.index), Row::Base::frame};
    }
    case Operand::Kind::integer:
    case Operand::Kind::float32:
    case Operand::Kind::float64:
        return constant(immediate_bits(operand, type), bytes);
    case Operand::Kind::special:
        if (operand.name == "WARP_SZ")
            return constant(warp_size, bytes);
        if (const auto it = special_names().find(operand.name); it != special_names().end())
            return special_row(it->second);
        if (const auto value = constant_special(operand.name))
            return constant(*value, ptx::size_of(type));
        unsupported("special register " + std::string(operand.name) + " is not supported here");
    case Operand::Kind::symbol: {
        if (operand.symbol_kind == SymbolKind::function)
            return constant(code_window + 16 * Address{operand.index} + static_cast<Address>(operand.offset),
                            bytes);
        Operand at;
        at.kind = Operand::Kind::address;
        at.elements.push_back(operand);
        const AddressParts parts = address(at);
        if (parts.in_frame)
            unsupported("the address of a device function's parameter is not supported");
        if (parts.base.base == Row::Base::specials) {
            if (parts.base.offset == special_row(Special::zero64).offset)
                return constant(static_cast<std::uint64_t>(parts.offset), bytes);
            const bool shared = parts.base.offset == special_row(Special::shared_base32).offset;
            const bool local = parts.base.offset == special_row(Special::local_base32).offset;
            if (shared || local) {
                const std::uint32_t function = shared ? 0 : kernel_.by_module_index.at(function_.index);
                return address_row({shared, function, static_cast<std::uint32_t>(parts.offset), bytes});
            }
            if (parts.base.offset == special_row(Special::parameters64).offset) {
                if (parts.offset == 0)
                    return parts.base;
                // Kernel parameters lie in one block whose address is only known at the launch.
                return address_row({false, parameter_row, static_cast<std::uint32_t>(parts.offset), bytes});
            }
        }
        malformed("cannot take the address of " + std::string(operand.name));
    }
    default:
        malformed("has an operand of the wrong kind");
    }
}

Row DecodeContext::address_row(const Kernel::AddressRow& wanted) {
    auto& rows = kernel_.address_rows;
    const auto it = std::find(rows.begin(), rows.end(), wanted);
    const auto index = static_cast<std::uint32_t>(it - rows.begin());
    if (it == rows.end())
        rows.push_back(wanted);
    return Row{(static_cast<std::uint32_t>(Special::count_) + index) * 256u, Row::Base::specials};
}

Row DecodeContext::destination(std::size_t i, Type type, bool allow_wider) {
    return destination(operand(i), type, allow_wider);
}

Row DecodeContext::destination(const Operand& operand, Type type, bool allow_wider) {
    if (operand.kind == Operand::Kind::sink)
        return scratch(std::max(2u, ptx::size_of(type)));
    if (operand.kind != Operand::Kind::reg)
        malformed("has a destination that is not a register");
    return source(operand, type, allow_wider);
}

Row DecodeContext::predicate(const Operand& operand) {
    if (operand.kind == Operand::Kind::sink)
        return scratch(4);
    if (operand.kind == Operand::Kind::integer)
        return constant(operand.bits ? all_lanes : 0, 4);
    if (operand.kind != Operand::Kind::reg || function_.source->registers[operand.index].type != Type::pred)
        malformed("takes a predicate register here");
    return Row{register_offset(operand.index), Row::Base::frame};
}

Row DecodeContext::constant(std::uint64_t value, unsigned bytes) {
    if (bytes == 16) {
        const std::uint64_t wide[2] = {value, 0};
        return constant(wide, 16);
    }
    return constant(&value, bytes);
}

Row DecodeContext::constant(const void* value, unsigned bytes) {
    std::string key(static_cast<const char*>(value), bytes);
    const auto [it, inserted] =
        constants_.try_emplace({std::move(key), bytes}, static_cast<std::uint32_t>(kernel_.constants.size()));
    if (inserted) {
        kernel_.constants.resize(it->second + std::size_t{warp_size} * bytes);
        for (unsigned lane = 0; lane < warp_size; ++lane)
            std::memcpy(kernel_.constants.data() + it->second + std::size_t{lane} * bytes, value, bytes);
    }
    return Row{it->second, Row::Base::constants};
}

Row DecodeContext::scratch(unsigned bytes) {
    const std::uint32_t offset = function_.frame_bytes;
    function_.frame_bytes += warp_size * std::max(4u, bytes);
    return Row{offset, Row::Base::frame};
}

std::int64_t DecodeContext::immediate(std::size_t i) const {
    if (operand(i).kind != Operand::Kind::integer)
        malformed("takes an integer constant as operand " + std::to_string(i + 1));
    return static_cast<std::int64_t>(operand(i).bits);
}

Space DecodeContext::space() const {
    for (const auto m : instruction_->modifiers) {
        if (m == "global")
            return Space::global;
        if (m == "shared" || m == "shared::cta" || m == "shared::cluster")
            return Space::shared;
        if (m == "local")
            return Space::local;
        if (m == "const")
            return Space::constant;
        if (m == "param" || m == "param::entry" || m == "param::func")
            return Space::param;
    }
    return Space::generic;
}

DecodeContext::AddressParts DecodeContext::address(const Operand& operand) {
    if (operand.kind != Operand::Kind::address)
        malformed("takes an address [..] here");
    const Operand& base = operand.elements.front();
    AddressParts parts;
    switch (base.kind) {
    case Operand::Kind::reg:
        parts.wide = register_bytes(base, 8) == 8;
        parts.base = source(base, parts.wide ? Type::b64 : Type::b32);
        break;
    case Operand::Kind::integer:
        parts = {special_row(Special::zero64), true, static_cast<std::int64_t>(base.bits)};
        break;
    case Operand::Kind::symbol:
        parts = address_of_symbol(base);
        break;
    default:
        malformed("has an address whose base is neither register, variable nor constant");
    }
    parts.offset += operand.offset + base.offset;
    return parts;
}

DecodeContext::AddressParts DecodeContext::address_of_symbol(const Operand& symbol) {
    switch (symbol.symbol_kind) {
    case SymbolKind::module_variable: {
        const ptx::Variable& variable = module().variables[symbol.index];
        if (variable.space == Space::shared)
            return {special_row(Special::shared_base32), false, kernel_.module_shared[symbol.index]};
        const Address address = kernel_.program->variable_address(symbol.index);
        if (address == 0)
            malformed("uses variable " + std::string(variable.name) +
                      ", which no file of the program defines");
        return {special_row(Special::zero64), true, static_cast<std::int64_t>(address)};
    }
    case SymbolKind::function_variable:
        return address_in_function(function_.source->variables[symbol.index],
                                   function_.variables[symbol.index], false);
    case SymbolKind::parameter:
        return address_in_function(function_.source->parameters[symbol.index],
                                   function_.parameters[symbol.index], function_.source->is_entry);
    case SymbolKind::result:
        return address_in_function(function_.source->results[symbol.index], function_.results[symbol.index],
                                   false);
    default:
        malformed("has an address with base " + std::string(symbol.name));
    }
}

DecodeContext::AddressParts DecodeContext::address_in_function(const ptx::Variable& variable,
                                                               const LocalPlacement& placed,
                                                               bool kernel_parameter) const {
    if (variable.space == Space::shared)
        return {special_row(Special::shared_base32), false,
                variable.unsized ? kernel_.dynamic_shared_offset : placed.offset};
    if (variable.space == Space::local)
        return {special_row(Special::local_base32), false, placed.offset};
    if (kernel_parameter)
        return {special_row(Special::parameters64), true, placed.offset};
    return {.base = Row{placed.offset, Row::Base::frame}, .in_frame = true, .stride = placed.size};
}

namespace {

std::string place(const ptx::Module& module, const ptx::Function& function,
                  const ptx::Instruction& instruction) {
    std::string text = std::string(instruction.opcode);
    for (const auto m : instruction.modifiers)
        text += "." + std::string(m);
    const ptx::Location& where = module.reader_location(instruction.location);
    if (where.line)
        return module.files[where.file] + ":" + std::to_string(where.line) + ": instruction " + text;
    const ptx::TextPosition position = ptx::position_of(module, instruction.text_offset);
    return "PTX line " + std::to_string(position.line) + " in " + std::string(function.name) +
           ": instruction " + text;
}

} // namespace

void DecodeContext::unsupported(const std::string& why) const {
    throw DecodeError(place(module(), *function_.source, *instruction_) + ": " + why);
}

void DecodeContext::malformed(const std::string& why) const {
    throw DecodeError(place(module(), *function_.source, *instruction_) + " " + why);
}

} // namespace emu
