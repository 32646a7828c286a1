#pragma once
/// \file
/// From ptx::Instruction to Op. Each chapter of the PTX manual has a file in instructions/ with the handlers,
/// their decode functions, and at its end a table whose rows read like the manual: opcode, section, decode
/// function.

#include "machine/program.hpp"

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace emu {

/// Values that differ by thread or block but not by instruction, each a row in Warp's specials.
enum class Special : std::uint8_t {
    zero32, ///< u32 0, base of absolute addresses.
    zero64,
    shared_base32, ///< u32 rank << 24: what a shared offset must be added to.
    shared_base64,
    dynamic_shared32, ///< shared address of `extern .shared` memory.
    dynamic_shared64,
    local_base32, ///< Local-space offset of the current frame. Refreshed when the frame changes.
    local_base64,
    parameters64, ///< Generic address of the kernel's parameter block.
    tid_x,
    tid_y,
    tid_z,
    ntid_x,
    ntid_y,
    ntid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    laneid,
    warpid,
    nwarpid,
    smid,
    nsmid,
    lanemask_eq,
    lanemask_le,
    lanemask_lt,
    lanemask_ge,
    lanemask_gt,
    clusterid_x,
    clusterid_y,
    clusterid_z,
    nclusterid_x,
    nclusterid_y,
    nclusterid_z,
    cluster_ctaid_x,
    cluster_ctaid_y,
    cluster_ctaid_z,
    cluster_nctaid_x,
    cluster_nctaid_y,
    cluster_nctaid_z,
    cluster_ctarank,
    cluster_nctarank,
    dynamic_smem_size,
    total_smem_size,
    gridid64,
    count_,
};
/// The row of a special value. 64-bit rows and 32-bit rows both take 256 bytes, to keep the offset a product.
constexpr Row special_row(Special s) {
    return Row{static_cast<std::uint32_t>(s) * 256u, Row::Base::specials};
}

/// What a decode function may ask. Every function that meets something it cannot take throws DecodeError with
/// the place.
class DecodeContext {
  public:
    /// Constants already placed in the kernel, by value and size.
    using ConstantIndex = std::map<std::pair<std::string, unsigned>, std::uint32_t>;

    DecodeContext(Kernel& kernel, DecodedFunction& function, ConstantIndex& constants)
        : kernel_(kernel), function_(function), constants_(constants) {}

    Kernel& kernel() { return kernel_; }
    DecodedFunction& function() { return function_; }
    /// Byte offset of a register's row in the frame.
    std::uint32_t register_offset(std::uint32_t index) const { return function_.registers[index]; }
    const ptx::Module& module() const;

    /// Starts an instruction; operands are asked by position afterwards.
    void begin(const ptx::Instruction& instruction) { instruction_ = &instruction; }
    const ptx::Instruction& instruction() const { return *instruction_; }
    std::size_t operand_count() const { return instruction_->operands.size(); }
    const ptx::Operand& operand(std::size_t i) const;

    /// First modifier that names a type (`which` = 0), second (1), …; Type::none if there are fewer.
    ptx::Type type(unsigned which = 0) const;
    bool has(std::string_view modifier) const { return instruction_->has(modifier); }
    /// Throws unless every modifier is a type or in `known`. Call it in every decode function: an unknown
    /// modifier must never be ignored.
    void allow(std::initializer_list<std::string_view> known) const;

    /// Row of a source of exactly `bytes` (2, 4, 8, 16) per lane: a register of that size, an immediate
    /// converted to `type`, a special register, or the address of a variable or function. A register of
    /// another size is an error, except that 2-byte-and-smaller types may sit in wider registers where
    /// `allow_wider` (ld, st, cvt, mov): then the row is still the register's; ask register_bytes().
    Row source(std::size_t i, ptx::Type type, bool allow_wider = false);
    Row source(const ptx::Operand& operand, ptx::Type type, bool allow_wider = false);
    /// Row of a destination register; a sink `_` gets a scratch row.
    Row destination(std::size_t i, ptx::Type type, bool allow_wider = false);
    Row destination(const ptx::Operand& operand, ptx::Type type, bool allow_wider = false);
    /// Predicate registers. A sink gets a scratch row; an immediate 0/1 a constant.
    Row predicate(const ptx::Operand& operand);
    /// Bytes per lane of a register operand (2, 4, 8, 16); for immediates `fallback`.
    unsigned register_bytes(const ptx::Operand& operand, unsigned fallback) const;
    /// A constant row holding `value` in all lanes.
    Row constant(std::uint64_t value, unsigned bytes);
    Row constant(const void* value, unsigned bytes);
    /// An uninitialised scratch row in the frame.
    Row scratch(unsigned bytes);
    /// The value of an integer immediate operand; an error if it is none.
    std::int64_t immediate(std::size_t i) const;

    /// Splits an address operand `[base + offset]` into a base row and an immediate: `wide` says whether the
    /// row is 64-bit.
    struct AddressParts {
        Row base;
        bool wide = true;
        std::int64_t offset = 0;
        bool in_frame = false; ///< A `.param` variable of a device function: base.offset is the frame offset,
                               ///< stride its size.
        std::uint32_t stride = 0;
    };
    AddressParts address(const ptx::Operand& operand);
    /// The space named by the modifiers: global, shared (also "shared::cta", "shared::cluster"), local,
    /// const, param; else generic.
    ptx::Space space() const;

    /// Keeps `extra` alive with the kernel.
    template <class T>
    T* keep(std::unique_ptr<T> extra) {
        T* raw = extra.get();
        kernel_.extras.push_back(std::move(extra));
        return raw;
    }
    [[noreturn]] void unsupported(const std::string& why) const;
    [[noreturn]] void malformed(const std::string& why) const;

  private:
    AddressParts address_of_symbol(const ptx::Operand& symbol);
    AddressParts address_in_function(const ptx::Variable& variable, const LocalPlacement& placed,
                                     bool kernel_parameter) const;
    Row address_row(const Kernel::AddressRow& wanted);

    Kernel& kernel_;
    DecodedFunction& function_;
    ConstantIndex& constants_;
    const ptx::Instruction* instruction_ = nullptr;
};

/// Kernel::AddressRow::function of a row that is relative to the parameter block.
inline constexpr std::uint32_t parameter_row = 0xffffffffu;

/// Fills `op` (guard and position are set already).
using DecodeFunction = void (*)(DecodeContext&, Op&);

/// One row of an instruction table.
struct InstructionRow {
    std::string_view opcode;  ///< With the modifiers that select the row: "cp.async.bulk" matches cp with
                              ///< these modifiers first.
    std::string_view section; ///< PTX ISA section.
    DecodeFunction decode;
};

/// All tables; the longest matching opcode wins.
std::span<const std::span<const InstructionRow>> all_instruction_tables();
/// The row for an instruction, nullptr if none.
const InstructionRow* find_instruction(const ptx::Instruction& instruction);

/// Device functions the compiler calls without a body: vprintf, __assertfail, malloc, free, … . Called with
/// the lanes' parameter bytes.
struct BuiltinCall {
    Warp& warp;
    LaneMask mask;
    std::span<const LocalPlacement> arguments; ///< In the current frame, lane-major.
    std::span<const LocalPlacement> results;
    std::uint32_t pc;
};
using Builtin = Flow (*)(const BuiltinCall&);
/// nullptr if there is no builtin of that name.
Builtin find_builtin(std::string_view name);

/// Decodes one kernel with everything it can reach. Throws DecodeError.
std::unique_ptr<Kernel> decode_kernel(const Program& program, std::uint32_t function_index);

} // namespace emu
