#pragma once
/// \file
/// Every error text of the PTX front end, in one place. A message says what is wrong and, where it helps,
/// what to write instead; the position is put in front of it by Source::fail.

#include <cstdint>
#include <string>
#include <string_view>

namespace emu::ptx::messages {

/// `text` in quotes, shortened so that damaged input cannot flood a terminal.
inline std::string quoted(std::string_view text) {
    constexpr std::size_t longest = 60;
    std::string result = "'";
    for (char c : text.substr(0, longest))
        result += (c >= 32 && c < 127) ? c : '?';
    return result + (text.size() > longest ? "...'" : "'");
}

// Lexer
inline constexpr std::string_view unterminated_comment = "this comment has no closing */";
inline constexpr std::string_view unterminated_string = "this string has no closing quote on its line";
inline constexpr std::string_view text_too_long = "the PTX text is longer than 2 GiB";
inline std::string unexpected_character(std::string_view text) {
    return "unexpected character " + quoted(text);
}
inline std::string malformed_number(std::string_view text) { return quoted(text) + " is not a number"; }
inline std::string number_too_large(std::string_view text) {
    return quoted(text) + " does not fit in 64 bits";
}
inline std::string float_digits(std::string_view text, unsigned digits) {
    return quoted(text) + " needs exactly " + std::to_string(digits) + " hexadecimal digits after its prefix";
}

// Anywhere
inline std::string expected(std::string_view wanted, std::string_view found) {
    return "expected " + std::string(wanted) + ", found " +
           (found.empty() ? "the end of the text" : quoted(found));
}
inline std::string nested_too_deep(unsigned limit) {
    return "nested deeper than " + std::to_string(limit) + " levels";
}
inline std::string out_of_range(std::string_view what, std::uint64_t limit) {
    return std::string(what) + " must be at most " + std::to_string(limit);
}
inline constexpr std::string_view division_by_zero = "division by zero in a constant expression";
inline constexpr std::string_view integer_needed =
    "a floating-point value cannot stand here; an integer is needed";

// Module
inline constexpr std::string_view unfinished_statement =
    "this statement has neither a ';' nor a closing brace";
inline constexpr std::string_view stray_brace = "this closing brace has no opening one";
inline constexpr std::string_view missing_version =
    "a PTX module begins with .version, such as '.version 9.0'";
inline constexpr std::string_view missing_target = "the module names no .target, such as '.target sm_90'";
inline constexpr std::string_view repeated_version = "a second .version in one module";
inline constexpr std::string_view only_64_bit = "only '.address_size 64' is supported";
inline constexpr std::string_view not_an_alignment = "an alignment must be a power of two of at most 65536";
inline constexpr std::string_view missing_type = "a declaration needs a type, such as .b32";
inline constexpr std::string_view missing_space = "a declaration needs a state space, such as .global";
inline constexpr std::string_view variable_too_large = "this variable is larger than 2^48 bytes";
inline constexpr std::string_view extern_initialised = "an .extern variable cannot have an initialiser";
inline std::string unknown_directive(std::string_view name) { return "unknown directive " + quoted(name); }
inline std::string defined_twice(std::string_view name) { return quoted(name) + " is defined twice"; }
inline std::string declared_differently(std::string_view name, std::size_t before, std::size_t now) {
    return quoted(name) + " was declared with " + std::to_string(before) +
           " parameters and results, here it has " + std::to_string(now);
}
inline std::string other_kind(std::string_view name) {
    return quoted(name) + " is declared both as a variable and as a function";
}
inline std::string undefined_name(std::string_view name) { return quoted(name) + " is not declared"; }
inline std::string no_function_here(std::string_view name) {
    return quoted(name) + " is no function of this module, so it cannot be an alias";
}
inline std::string alias_target(std::string_view name) {
    return quoted(name) + " is no function of this module with a body, so nothing can be its alias";
}

inline constexpr std::string_view not_a_parameter = "a parameter needs the form '.param .b32 name'";
inline constexpr std::string_view register_array =
    "registers have no dimensions; several are declared as 'name<count>'";
inline constexpr std::string_view too_many_names =
    "more than 1048576 names of the form 'name<count>' for variables";

// Initialisers
inline constexpr std::string_view too_many_values = "more values than the variable has elements";
inline constexpr std::string_view no_initialiser_here =
    "only .global and .const variables can have initialisers";
inline constexpr std::string_view unsized_needs_values =
    "an array without a size needs an initialiser or .extern";
inline constexpr std::string_view initialiser_too_large =
    "the initialisers of this module take more than 256 MiB";
inline constexpr std::string_view mask_not_a_byte = "a mask must select one byte, such as 0xFF00";
inline constexpr std::string_view address_width =
    "an address needs an element of 4 or 8 bytes, or a byte mask such as 0xFF(name)";
inline constexpr std::string_view braces_too_deep = "more nested braces than the variable has dimensions";
inline constexpr std::string_view value_type =
    "integers initialise integer types, floating-point values initialise .f32, .f64, .b32 and .b64";
inline std::string no_initial_value(std::string_view type) {
    return "variables of type ." + std::string(type) +
           " take no initialiser; use .b8, .b16, .b32 or .b64 and bits";
}
inline std::string address_not_constant(std::string_view name) {
    return quoted(name) +
           " is neither .global nor .const, so its address is not known before the program runs";
}
inline constexpr std::string_view address_only_in_data =
    "an address can stand only in the initialiser of an integer variable";

// Functions
inline std::string declared_twice(std::string_view name) {
    return quoted(name) + " is declared twice in this scope";
}
inline std::string label_twice(std::string_view name) {
    return "label " + quoted(name) + " stands twice in this scope";
}
inline std::string not_a_label(std::string_view name) {
    return quoted(name) + " is not a label of this function";
}
inline std::string not_a_function(std::string_view name) { return quoted(name) + " is not a function"; }
inline std::string guard_needs_predicate(std::string_view name) {
    return "the guard " + quoted(name) + " is not a declared register of type .pred";
}
inline constexpr std::string_view too_many_registers =
    "too many registers (at most 1048576 in a function, 8388608 in a module)";
inline constexpr std::string_view no_component =
    "only vector registers and special registers have components";
inline constexpr std::string_view label_without_body =
    "a table needs the form 'name: .branchtargets label, ...;'";
inline constexpr std::string_view body_not_closed = "the function's body has no closing brace";
inline constexpr std::string_view entry_with_result = "an .entry function returns nothing";

} // namespace emu::ptx::messages
