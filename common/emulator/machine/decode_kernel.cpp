#include "machine/clock_registers.hpp"
#include "machine/decoder.hpp"

#include <algorithm>
#include <deque>

namespace emu {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::SymbolKind;

constexpr std::uint32_t align_up(std::uint32_t value, std::uint32_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

/// What an instruction without a row belongs to.
const char* why_unknown(std::string_view opcode) {
    struct Family {
        std::initializer_list<std::string_view> opcodes;
        const char* why;
    };
    static const Family families[] = {
        {{"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"},
         "textures and surfaces are outside of what this emulator executes; use ordinary loads, or run the "
         "kernel on a "
         "GPU"},
        {{"multimem"}, "multicast memory of several GPUs is outside of what this emulator executes"},
        {{"tcgen05", "clusterlaunchcontrol"},
         "it belongs to a later architecture than this emulator's, sm_90"},
    };
    for (const Family& family : families)
        if (std::ranges::find(family.opcodes, opcode) != family.opcodes.end())
            return family.why;
    return "this emulator does not know it";
}

/// Builds one kernel: finds the functions it can reach, lays out frames and shared memory, decodes
/// instruction by instruction.
class KernelBuilder {
  public:
    KernelBuilder(const Program& program, std::uint32_t index)
        : module_(program.module()), kernel_(std::make_unique<Kernel>()) {
        kernel_->program = &program;
        reach(index);
    }

    std::unique_ptr<Kernel> build() {
        for (const auto& function : kernel_->functions)
            lay_out_frame(*function);
        lay_out_shared();
        place_code();
        kernel_->has_wgmma = has_wgmma();
        for (const auto& function : kernel_->functions)
            decode(*function);
        find_only_calls();
        kernel_->clock_registers = find_clock_registers(kernel_->entry());
        needs_.assign(kernel_->functions.size(), unknown_need);
        kernel_->local_need = local_need(0);
        return std::move(kernel_);
    }

  private:
    /// Adds a function and everything its text names.
    void reach(std::uint32_t root) {
        std::deque<std::uint32_t> queue{root};
        while (!queue.empty()) {
            const std::uint32_t index = queue.front();
            queue.pop_front();
            const ptx::Function& source = module_.functions[index];
            if (kernel_->by_module_index.contains(index) || !source.has_body)
                continue;
            kernel_->by_module_index[index] = static_cast<std::uint32_t>(kernel_->functions.size());
            auto function = std::make_unique<DecodedFunction>();
            function->source = &source;
            function->index = index;
            bool indirect = false;
            for (const ptx::Instruction& instruction : source.body)
                collect(instruction, *function, indirect);
            queue.insert(queue.end(), function->callees.begin(), function->callees.end());
            if (indirect)
                collect_addressed(queue);
            kernel_->functions.push_back(std::move(function));
        }
    }

    /// Every function whose address the module takes, in an initialiser or in any body: a pointer to it may
    /// come from memory that another kernel wrote.
    void collect_addressed(std::deque<std::uint32_t>& queue) const {
        for (const ptx::Variable& v : module_.variables)
            for (const ptx::Relocation& r : v.relocations)
                if (r.kind == SymbolKind::function)
                    queue.push_back(r.index);
        for (const ptx::Function& function : module_.functions)
            for (const ptx::Instruction& instruction : function.body)
                if (instruction.opcode != "call")
                    for (const Operand& operand : instruction.operands)
                        if (operand.kind == Operand::Kind::symbol &&
                            operand.symbol_kind == SymbolKind::function)
                            queue.push_back(operand.index);
    }

    static void collect(const ptx::Instruction& instruction, DecodedFunction& function, bool& indirect) {
        bool direct = false;
        for (const Operand& operand : instruction.operands)
            if (operand.kind == Operand::Kind::symbol && operand.symbol_kind == SymbolKind::function) {
                function.callees.push_back(operand.index);
                direct = true;
            }
        indirect |= instruction.opcode == "call" && !direct;
    }

    void lay_out_frame(DecodedFunction& f) {
        std::uint32_t offset = 0;
        for (const ptx::Register& r : f.source->registers) {
            f.registers.push_back(offset);
            offset = align_up(offset + register_bytes(r.type), 64);
        }
        const auto in_frame = [&](const ptx::Variable& v) {
            if (v.in_register)
                return LocalPlacement{Space::param, f.registers[v.register_index],
                                      static_cast<std::uint32_t>(v.size)};
            const LocalPlacement placed{Space::param, offset, static_cast<std::uint32_t>(v.size)};
            offset = align_up(offset + warp_size * static_cast<std::uint32_t>(v.size), 64);
            return placed;
        };
        std::uint32_t parameter_offset = 0;
        for (const ptx::Variable& v : f.source->parameters) {
            if (!f.source->is_entry) {
                f.parameters.push_back(in_frame(v));
                continue;
            }
            parameter_offset = align_up(parameter_offset, v.alignment);
            f.parameters.push_back({Space::param, parameter_offset, static_cast<std::uint32_t>(v.size)});
            parameter_offset += static_cast<std::uint32_t>(v.size);
        }
        if (f.source->is_entry)
            kernel_->parameter_bytes = parameter_offset;
        for (const ptx::Variable& v : f.source->results)
            f.results.push_back(in_frame(v));
        for (const ptx::Variable& v : f.source->variables) {
            if (v.space == Space::local) {
                f.local_bytes = align_up(f.local_bytes, std::max(1u, v.alignment));
                f.variables.push_back({Space::local, f.local_bytes, static_cast<std::uint32_t>(v.size)});
                f.local_bytes += static_cast<std::uint32_t>(v.size);
            } else {
                f.variables.push_back(v.space == Space::param ? in_frame(v) : LocalPlacement{v.space, 0, 0});
            }
        }
        f.local_bytes = align_up(f.local_bytes, 16);
        f.frame_bytes = offset;
    }

    /// Static shared memory: module variables the kernel's functions name, then each function's own. Dynamic
    /// memory follows.
    void lay_out_shared() {
        std::uint32_t offset = shared_reserved;
        std::uint32_t dynamic_alignment = 16;
        kernel_->module_shared.assign(module_.variables.size(), 0);
        std::vector<bool> used(module_.variables.size());
        for (const auto& function : kernel_->functions)
            for (const ptx::Instruction& instruction : function->source->body)
                for (const Operand& operand : instruction.operands)
                    mark(operand, used);
        const auto place = [&](const ptx::Variable& v) {
            if (v.unsized) {
                dynamic_alignment = std::max(dynamic_alignment, v.alignment);
                kernel_->names_dynamic_shared = true;
                return std::uint32_t{0};
            }
            offset = align_up(offset, std::max(1u, v.alignment));
            const std::uint32_t at = offset;
            offset += static_cast<std::uint32_t>(v.size);
            return at;
        };
        for (std::size_t i = 0; i < module_.variables.size(); ++i)
            if (used[i] && module_.variables[i].space == Space::shared)
                kernel_->module_shared[i] = place(module_.variables[i]);
        for (const auto& function : kernel_->functions)
            for (std::size_t i = 0; i < function->variables.size(); ++i)
                if (const ptx::Variable& v = function->source->variables[i]; v.space == Space::shared)
                    function->variables[i] = {Space::shared, place(v), static_cast<std::uint32_t>(v.size)};
        kernel_->static_shared = offset - shared_reserved;
        kernel_->dynamic_shared_offset = align_up(offset, dynamic_alignment);
        for (std::size_t i = 0; i < module_.variables.size(); ++i)
            if (module_.variables[i].unsized)
                kernel_->module_shared[i] = kernel_->dynamic_shared_offset;
    }

    static void mark(const Operand& operand, std::vector<bool>& used) {
        if (operand.kind == Operand::Kind::symbol && operand.symbol_kind == SymbolKind::module_variable)
            used[operand.index] = true;
        for (const Operand& element : operand.elements)
            mark(element, used);
    }

    /// One Op per instruction and one behind each body: falling off the end returns.
    void place_code() {
        std::uint32_t pc = 0;
        for (const auto& function : kernel_->functions) {
            function->first = pc;
            pc += static_cast<std::uint32_t>(function->source->body.size()) + 1;
        }
        kernel_->code.resize(pc);
        kernel_->sources.resize(pc);
        kernel_->function_of.resize(pc);
    }

    bool has_wgmma() const {
        return std::ranges::any_of(kernel_->functions, [](const auto& function) {
            return std::ranges::find(function->source->body, "wgmma", &ptx::Instruction::opcode) !=
                   function->source->body.end();
        });
    }

    /// A call through a register may call any function.
    void find_only_calls() {
        std::vector<std::vector<std::uint32_t>> calls(kernel_->functions.size());
        for (std::uint32_t pc = 0; pc < kernel_->sources.size(); ++pc) {
            if (kernel_->sources[pc]->opcode != "call")
                continue;
            const auto& operands = kernel_->sources[pc]->operands;
            const auto named =
                std::ranges::find(operands, ptx::SymbolKind::function, &ptx::Operand::symbol_kind);
            if (named == operands.end())
                for (auto& each : calls)
                    each.push_back(pc);
            else if (const auto callee = kernel_->by_module_index.find(named->index);
                     callee != kernel_->by_module_index.end())
                calls[callee->second].push_back(pc);
        }
        for (const auto& each : calls)
            kernel_->only_calls.push_back(each.size() == 1 ? std::optional(each.front()) : std::nullopt);
        kernel_->only_calls.front().reset(); // Nobody calls the kernel itself.
    }

    void decode(DecodedFunction& f) {
        DecodeContext context(*kernel_, f, constants_);
        const std::uint32_t number = kernel_->by_module_index.at(f.index);
        std::uint32_t pc = f.first;
        // Never destroyed: a thread may launch until the process ends.
        static const ptx::Instruction& implicit_return = *[] {
            auto* const instruction = new ptx::Instruction;
            instruction->opcode = "ret";
            return instruction;
        }();
        for (std::size_t i = 0; i <= f.source->body.size(); ++i, ++pc) {
            const ptx::Instruction& instruction =
                i < f.source->body.size() ? f.source->body[i] : implicit_return;
            kernel_->sources[pc] = &instruction;
            kernel_->function_of[pc] = number;
            context.begin(instruction);
            Op& op = kernel_->code[pc];
            if (instruction.guard >= 0) {
                op.guarded = true;
                op.guard_negated = instruction.guard_negated;
                op.guard = Row{f.registers[static_cast<std::size_t>(instruction.guard)], Row::Base::frame};
            }
            const InstructionRow* row = find_instruction(instruction);
            if (!row)
                context.unsupported(why_unknown(instruction.opcode));
            row->decode(context, op);
        }
    }

    /// Deepest sum of local memory along the calls, recursion counted once. Each function is looked at once:
    /// with recursion there are more paths than anybody could walk.
    std::uint32_t local_need(std::uint32_t number) {
        std::uint32_t& known = needs_[number];
        if (known != unknown_need)
            return known;
        known = 0; // What a recursive call adds.
        const DecodedFunction& f = *kernel_->functions[number];
        std::uint32_t most = 0;
        for (const std::uint32_t callee : f.callees)
            if (const auto it = kernel_->by_module_index.find(callee); it != kernel_->by_module_index.end())
                most = std::max(most, local_need(it->second));
        return needs_[number] = f.local_bytes + most;
    }

    static constexpr std::uint32_t unknown_need = 0xffffffffu;

    const ptx::Module& module_;
    std::unique_ptr<Kernel> kernel_;
    DecodeContext::ConstantIndex constants_;
    std::vector<std::uint32_t> needs_; ///< By function; see local_need.
};

/// Opcode with modifiers, as the tables spell it.
const std::unordered_map<std::string_view, const InstructionRow*>& instruction_index() {
    // Never destroyed: a thread may launch until the process ends.
    static const auto& index = *[] {
        auto* const rows = new std::unordered_map<std::string_view, const InstructionRow*>;
        for (const auto table : all_instruction_tables())
            for (const InstructionRow& row : table)
                (*rows)[row.opcode] = &row;
        return rows;
    }();
    return index;
}

} // namespace

const InstructionRow* find_instruction(const ptx::Instruction& instruction) {
    const auto& index = instruction_index();
    std::string name(instruction.opcode);
    const auto at = index.find(name);
    const InstructionRow* best = at == index.end() ? nullptr : at->second;
    for (const auto modifier : instruction.modifiers) {
        name += '.';
        name += modifier;
        if (const auto it = index.find(name); it != index.end())
            best = it->second;
    }
    return best;
}

std::unique_ptr<Kernel> decode_kernel(const Program& program, std::uint32_t function_index) {
    return KernelBuilder(program, function_index).build();
}

} // namespace emu
