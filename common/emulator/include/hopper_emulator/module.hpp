#pragma once
/// \file
/// A module of PTX that a device has loaded: its kernels and variables.

#include "hopper_emulator/address.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace emu {

/// The text is not PTX that can be used. what() is one line "ptx:LINE:COLUMN: message".
class ParseError : public std::runtime_error {
  public:
    /// `message` is what what() says.
    ParseError(std::string message, std::string excerpt)
        : std::runtime_error(std::move(message)), excerpt_(std::move(excerpt)) {}
    /// The line of the text with a caret below the place.
    const std::string& excerpt() const { return excerpt_; }

  private:
    std::string excerpt_;
};

/// An instruction cannot be executed here: unknown opcode, unsupported form. what() is one line that names it
/// and its place.
class DecodeError : public std::runtime_error {
  public:
    /// `message` is what what() says.
    explicit DecodeError(const std::string& message) : std::runtime_error(message) {}
};

/// What a kernel asks of a launch.
struct KernelFacts {
    /// Place of a parameter in the parameter block, in bytes.
    struct Parameter {
        std::uint32_t offset = 0; ///< Of its first byte.
        std::uint32_t size = 0;   ///< Without padding.
    };
    std::string name;                  ///< Demangled.
    std::vector<Parameter> signature;  ///< In the order of the declaration.
    std::uint32_t parameter_bytes = 0; ///< Of the whole parameter block, padding between parameters included.
    std::uint32_t static_shared = 0;   ///< Bytes per block, behind the reserved KiB.
    std::uint32_t local_need = 0;      ///< Bytes of local memory per thread, without recursion.
    std::uint32_t max_threads = 0;     ///< Per block, by `.maxntid` and `.reqntid`; 0: they do not say.
    std::array<std::uint32_t, 3> required_cluster{}; ///< `.reqnctapercluster`; zeros: none.
    bool explicit_cluster = false;                   ///< `.explicitcluster`
};

/// A variable of a module, as it lies in the device's memory. While no launch runs, the host may read and
/// write it through a pointer, `.const` variables too.
struct VariableFacts {
    Address address = 0;    ///< 0 for one that has none, such as a shared variable.
    std::uint64_t size = 0; ///< Bytes.
};

/// A module placed in a device, made by Device::load(): a program derives none of its own. It must outlive
/// its launches, but not the device. Its end frees its variables. Any thread may ask.
class Module {
  public:
    virtual ~Module() = default;
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// What `.target` names first, such as "sm_90a".
    virtual std::string_view target() const = 0;
    /// The mangled names of the kernels that it defines, in the order of the text.
    virtual std::vector<std::string_view> kernel_names() const = 0;
    /// Whether it has a kernel of that (mangled) name; decodes nothing.
    virtual bool has_kernel(std::string_view name) const = 0;
    /// Of a kernel by its (mangled) name; nullptr if there is none. Throws DecodeError for a kernel that
    /// cannot run here. The facts live as long as the module.
    virtual const KernelFacts* kernel(std::string_view name) = 0;
    /// A variable of the module's scope by its (mangled) name; nothing if there is none.
    virtual std::optional<VariableFacts> variable(std::string_view name) const = 0;
    /// Bytes of all its `.const` variables.
    virtual std::uint64_t constant_bytes() const = 0;

  protected:
    Module() = default;
};

/// One module that holds everything of `texts`, as programs of several files need it (`nvcc -rdc=true`):
/// external declarations give way to definitions, weak duplicates to the first, and names of local linkage
/// that occur in several modules become distinct. Throws std::runtime_error if two modules define the same
/// symbol, and ParseError, which says in which module, where a text is damaged. A single text is returned as
/// it is.
std::string link_ptx(std::vector<std::string> texts);

/// An instruction that kernels may use.
struct InstructionFacts {
    std::string_view opcode;  ///< With the modifiers that make it another instruction: "cp.async.bulk".
    std::string_view section; ///< Of the PTX ISA 9.0.
};
/// All of them, in no order.
std::vector<InstructionFacts> known_instructions();

} // namespace emu
#pragma GCC visibility pop
