#pragma once
/// \file
/// What the text of a function tells about its values, without executing it: where registers are set and
/// used, which branches an instruction depends on, and which memory an address means.

#include "ptx/module.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace emu::check {

/// Instructions are numbered as in ptx::Function::body, registers as in ptx::Function::registers.
class Dataflow {
  public:
    explicit Dataflow(const ptx::Function& function);

    /// What a value was computed from. Loads end the search: what stands behind their address does not count.
    struct Origins {
        bool position = false; ///< The thread's or the block's number.
        bool memory = false;   ///< A value from memory, or from elsewhere: a call, a clock.
        bool data = false;     ///< Such a value from an address that depends on the thread's position.
        bool counter = false;  ///< A register that steps by a constant: of a loop.

        /// The same for all threads of the launch.
        bool uniform() const { return !position && !memory && !counter; }
    };
    Origins origins(const ptx::Operand& operand) const;

    /// An array, or a member of each element of one: a parameter or variable and bytes behind it, whatever
    /// the index is.
    struct Place {
        enum class Base : std::uint8_t { parameter, variable, local_variable };
        Base base = Base::parameter;
        std::uint32_t index = 0;
        std::int64_t offset = 0;
        friend bool operator==(const Place&, const Place&) = default;
    };
    /// Of a load or store; nothing if the address comes from memory or may mean several arrays.
    std::optional<Place> place(std::uint32_t at) const;
    static const ptx::Operand& address_of(const ptx::Instruction& instruction);

    /// What `operand` holds if that is the same for all threads, as a formula of constants and parameters.
    /// Equal formulas have equal values.
    std::optional<std::string> formula(const ptx::Operand& operand, unsigned depth = 8) const;

    /// The predicates that `at` depends on, directly: each names its instruction too.
    struct Condition {
        std::uint32_t at = 0; ///< A branch, or the guarded instruction itself.
        std::uint32_t predicate = 0;
        bool taken = true;
        friend bool operator==(const Condition&, const Condition&) = default;
    };
    std::vector<Condition> conditions(std::uint32_t at) const;
    /// … and those that these depend on.
    std::vector<Condition> all_conditions(std::uint32_t at) const;
    /// The comparisons (setp) from which a predicate is made.
    std::vector<std::uint32_t> comparisons(std::uint32_t predicate) const;

    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    /// A path of at least one step leads from one instruction to the other, and not through `avoided`.
    bool reaches(std::uint32_t from, std::uint32_t to, bool past_barriers,
                 std::uint32_t avoided = nowhere) const;

    const ptx::Function& function() const { return function_; }
    const ptx::Instruction& operator[](std::uint32_t at) const { return function_.body[at]; }
    const std::vector<std::uint32_t>& definitions(std::uint32_t reg) const { return definitions_[reg]; }
    const std::vector<std::uint32_t>& uses(std::uint32_t reg) const { return uses_[reg]; }

    /// Instructions whose first operand is no destination.
    static bool has_result(const ptx::Instruction& instruction);
    /// Of a block or a cluster.
    static bool is_barrier(const ptx::Instruction& instruction);
    /// Reads memory that threads share.
    static bool is_load(const ptx::Instruction& instruction);
    /// An ordinary store to such memory.
    static bool is_store(const ptx::Instruction& instruction);

  private:
    struct Walk; ///< One search for origins.
    void note(const ptx::Operand& operand, std::uint32_t at, std::vector<std::vector<std::uint32_t>>& table);
    std::optional<Place> base(const ptx::Operand& operand, std::vector<std::uint32_t>& on_path) const;
    std::optional<Place> base_of_definition(std::uint32_t at, std::vector<std::uint32_t>& on_path) const;

    const ptx::Function& function_;
    std::vector<std::vector<std::uint32_t>> definitions_, uses_; ///< By register.
    std::vector<std::vector<std::uint32_t>> successors_, predecessors_;
};

} // namespace emu::check
