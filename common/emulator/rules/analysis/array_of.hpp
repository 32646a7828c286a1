#pragma once
/// \file
/// Which array of shared memory an address was computed from, as the text of a function tells it.

#include "machine/program.hpp"
#include "ptx/module.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace emu::check {

/// The array that a value is an address in: known if exactly one variable of shared memory went into it, as a
/// summand that was not subtracted, and only numbers beside it, wherever these come from. A register that is
/// set in several places must have the same array from each. What memory, calls and parameters hold counts
/// as a number, so a pointer from there has no array. Bits that are cut off below (alignment) or exchanged
/// (swizzling) leave an address in its array.
class BaseArrays {
  public:
    /// A variable in shared memory.
    struct Base {
        ptx::SymbolKind kind = ptx::SymbolKind::none; ///< module_variable or function_variable.
        std::uint32_t index = 0;
        friend bool operator==(const Base&, const Base&) = default;
    };

    BaseArrays(const ptx::Module& module, const ptx::Function& function);

    /// Of the `which`-th operand of an instruction that is an address: of `cp.async.bulk [a], [b], size, [c]`
    /// 2 means c.
    std::optional<Base> of_address(std::uint32_t instruction, unsigned which) const;

  private:
    /// What is known of a value; grows in this order and never back.
    struct Value {
        enum class Kind : std::uint8_t { unset, number, array, unknown };
        Kind kind = Kind::unset;
        Base base{};
        friend bool operator==(const Value&, const Value&) = default;
    };
    static Value number() { return {Value::Kind::number, {}}; }
    static Value unknown() { return {Value::Kind::unknown, {}}; }

    static Value joined(const Value& a, const Value& b);
    static Value sum(const Value& a, const Value& b);
    static Value of_numbers(std::initializer_list<Value> sources);
    bool pass();
    bool set(const ptx::Operand& destination, const Value& value);
    Value of(const ptx::Operand& operand) const;
    Value result(const ptx::Instruction& instruction) const;
    Value arithmetic(const ptx::Instruction& instruction) const;
    Value masked(const ptx::Instruction& instruction) const;
    Value otherwise(const ptx::Instruction& instruction) const;

    const ptx::Module& module_;
    const ptx::Function& function_;
    std::vector<Value> values_; ///< By register.
};

/// The same for all code of a kernel, with the places of the arrays.
class ArraysOfKernel {
  public:
    /// An array's bytes among a block's shared memory.
    struct Array {
        std::string_view symbol; ///< Empty for dynamic memory, which is one array, whatever its names.
        std::uint32_t start = 0;
        std::uint32_t end = 0;
    };

    /// `shared_size`: of a block, with its dynamic memory.
    ArraysOfKernel(const Kernel& kernel, std::uint32_t shared_size);

    /// The array of an address operand, or nullptr. Where a kernel has one array only, nothing is known: an
    /// access outside is then outside of everything.
    const Array* of_address(std::uint32_t pc, unsigned which) const {
        if (known_.empty() || which >= most_addresses || known_[pc][which] == 0)
            return nullptr;
        return &arrays_[known_[pc][which] - 1];
    }
    /// The array that has this byte, or nullptr.
    const Array* at(std::uint32_t offset) const;
    /// There is anything to know.
    bool any() const { return !known_.empty(); }

  private:
    static constexpr unsigned most_addresses = 3;
    void find_arrays(const Kernel& kernel, std::uint32_t shared_size);
    std::uint16_t number_of(const Kernel& kernel, const DecodedFunction& function,
                            const BaseArrays::Base& base) const;

    std::vector<Array> arrays_;
    std::vector<std::array<std::uint16_t, most_addresses>> known_; ///< By pc: number of the array, 0: none.
};

} // namespace emu::check
