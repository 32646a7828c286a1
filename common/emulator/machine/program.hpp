#pragma once
/// \file
/// A decoded module: what the interpreter executes. Decoding happens once per function, at its first launch.

#include "hopper_emulator/launch.hpp"
#include "hopper_emulator/memory.hpp"
#include "hopper_emulator/module.hpp"
#include "ptx/debug_types.hpp"
#include "ptx/module.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace emu {

class Warp;
class Program;
struct Op;

/// What the run loop does after an instruction.
enum class Flow : std::uint8_t {
    next,     ///< The group goes on with the following instruction.
    jump,     ///< The whole group goes to Warp::jump_target().
    reselect, ///< The handler wrote the lanes' program counters (divergence, blocking, exit): choose a group
              ///< anew.
};

/// Executes one instruction for the lanes of `mask` (never empty, a subset of the current group).
using Handler = Flow (*)(Warp& warp, const Op& op, LaneMask mask);

/// Where an operand's 32 values lie: a row of 32 values of the operand's size, or one 32-bit mask for a
/// predicate. Registers lie in the frame, immediates in the constants of the function (one copy a lane),
/// `%tid` and friends in the warp's specials, so that a handler treats all sources alike.
struct Row {
    enum class Base : std::uint8_t { frame = 0, constants = 1, specials = 2 };
    std::uint32_t offset = 0; ///< Bytes.
    Base base = Base::frame;
};

/// Data an instruction needs beyond its rows; owned by the DecodedFunction.
struct OpExtra {
    virtual ~OpExtra() = default;
};

/// One decoded instruction.
struct Op {
    Handler handler = nullptr;
    Row dst, a, b, c;
    Row guard;
    bool guarded = false;
    bool guard_negated = false;
    bool progress = false; ///< Counts as progress for the detection of endless waits (stores, arrivals, …).
    std::uint8_t width = 0;     ///< Bytes per element of a memory access, or whatever the handler needs.
    std::uint8_t count = 1;     ///< Elements of a vector access.
    std::uint8_t flags = 0;     ///< Meaning belongs to the handler.
    std::uint32_t target = 0;   ///< Program counter of a branch.
    std::int64_t immediate = 0; ///< Address offset or other immediate.
    const OpExtra* extra = nullptr;
};

/// Bytes of a frame, from `begin` to before `end`.
struct FrameBytes {
    std::uint32_t begin = 0, end = 0;
};

/// Bytes of a register's row: a mask, or a value for each lane.
constexpr std::uint32_t register_bytes(ptx::Type type) {
    return type == ptx::Type::pred ? 4 : warp_size * std::max(2u, ptx::size_of(type));
}

/// Placement of a variable declared inside a function.
struct LocalPlacement {
    ptx::Space space = ptx::Space::local; ///< shared: offset in the block; local: in the thread's frame;
                                          ///< param: in the frame.
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
};

/// A function ready to run. Program counters count through the whole kernel: entry = `first`.
struct DecodedFunction {
    const ptx::Function* source = nullptr;
    std::uint32_t index = 0;               ///< In ptx::Module::functions.
    std::uint32_t first = 0;               ///< Program counter of the first instruction.
    std::uint32_t frame_bytes = 0;         ///< Registers (rows) and `.param` storage (32 lanes).
    std::uint32_t local_bytes = 0;         ///< `.local` bytes per thread of this function alone.
    std::vector<std::uint32_t> registers;  ///< Frame offset of each register's row.
    std::vector<LocalPlacement> variables; ///< Parallel to ptx::Function::variables.
    std::vector<LocalPlacement>
        parameters; ///< Device functions: in the frame. Kernels: offset in the parameter block.
    std::vector<LocalPlacement> results;
    std::vector<std::uint32_t> callees; ///< Functions called directly.
};

/// A kernel ready to run, with its own copy of every function it can call: all offsets of shared memory are
/// this kernel's.
class Kernel : public KernelFacts {
  public:
    const Program* program = nullptr;
    std::vector<Op> code;
    std::vector<const ptx::Instruction*> sources;            ///< Parallel to code.
    std::vector<std::uint32_t> function_of;                  ///< Parallel to code: index into `functions`.
    std::vector<std::unique_ptr<DecodedFunction>> functions; ///< [0] is the kernel itself.
    /// Parallel to functions: the one instruction that calls it, if there is only one.
    std::vector<std::optional<std::uint32_t>> only_calls;
    std::unordered_map<std::uint32_t, std::uint32_t>
        by_module_index;              ///< ptx function index -> index into `functions`.
    std::vector<std::byte> constants; ///< Constant rows, 32 copies each.
    /// Of the kernel's own frame: what registers hold of clocks (clock_registers.hpp).
    std::vector<FrameBytes> clock_registers;
    std::vector<std::unique_ptr<OpExtra>> extras;
    std::vector<std::uint32_t>
        module_shared;                       ///< Offset in the block of each module variable in shared space.
    std::uint32_t dynamic_shared_offset = 0; ///< Where `extern .shared` memory begins, reserved KiB included.
    bool has_wgmma = false;
    bool names_dynamic_shared = false; ///< The kernel's code uses such memory.

    /// A row of the warp's specials that this kernel needs beyond the fixed ones: an address that depends on
    /// the block's rank or on the thread's frame.
    struct AddressRow {
        bool shared = true;         ///< Else local.
        std::uint32_t function = 0; ///< local: the function whose frame it is relative to.
        std::uint32_t offset = 0;
        std::uint32_t bytes = 8; ///< Of the row's elements, 4 or 8.
        friend bool operator==(const AddressRow&, const AddressRow&) = default;
    };
    std::vector<AddressRow> address_rows; ///< Row number Special::count_ + i.

    const DecodedFunction& entry() const { return *functions.front(); }
    const ptx::Function& source() const { return *functions.front()->source; }
};

/// Whether the instruction was inlined from a file whose path ends with `file`, at any depth.
bool is_inlined_from(const Kernel& kernel, std::uint32_t pc, std::string_view file);

/// A module placed in a device: its variables have addresses, its kernels are decoded when first launched.
class Program final : public Module {
  public:
    /// Places the module's variables in `memory`. Throws std::runtime_error if memory runs out or a symbol
    /// stays undefined.
    Program(ptx::Module module, GlobalMemory& memory);
    ~Program() override;

    const ptx::Module& module() const { return module_; }
    GlobalMemory& memory() const { return memory_; }
    /// Some kernel of it has griddepcontrol: launches may begin before others have ended.
    bool controls_grids() const { return controls_grids_; }

    /// The types of the module's variables, where the program has debug information. Read when first asked
    /// for. Thread-safe.
    const ptx::DebugTypes& debug_types() const;

    /// Decodes a kernel by its (mangled) name; nullptr if the module has none. Throws DecodeError.
    /// Thread-safe.
    const Kernel* kernel(std::string_view name) override;
    std::string_view target() const override { return module_.target; }
    std::vector<std::string_view> kernel_names() const override;
    bool has_kernel(std::string_view name) const override;
    std::optional<VariableFacts> variable(std::string_view name) const override;
    std::uint64_t constant_bytes() const override;

    /// Address of a module variable in the global or constant space.
    Address variable_address(std::uint32_t index) const { return variable_address_[index]; }

  private:
    ptx::Module module_;
    const bool controls_grids_;
    GlobalMemory& memory_;
    std::vector<Address> variable_address_;
    mutable std::once_flag types_are_read_;
    mutable std::unique_ptr<const ptx::DebugTypes> types_;
    std::unordered_map<std::string, std::unique_ptr<Kernel>> kernels_;
    std::mutex mutex_;
};

} // namespace emu
