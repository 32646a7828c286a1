// Whole files as nvcc 13.0 wrote them.
#include "ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace emu::ptx;
using namespace ptx_text;

namespace {

const Function& function_of(const Module& module, std::string_view name) {
    const std::int64_t index = module.find_function(name);
    REQUIRE(index >= 0);
    return module.functions[static_cast<std::size_t>(index)];
}

/// The first instruction with this opcode and modifier.
const Instruction& instruction_of(const Function& function, std::string_view opcode,
                                  std::string_view modifier) {
    const auto found = std::find_if(function.body.begin(), function.body.end(), [&](const Instruction& each) {
        return each.opcode == opcode && (modifier.empty() || each.has(modifier));
    });
    REQUIRE(found != function.body.end());
    return *found;
}

/// The line of the CUDA source that a reader sees for the instruction.
unsigned seen_line(const Module& module, const Instruction& instruction) {
    const Location& at = module.reader_location(instruction.location);
    CHECK(module.files.at(at.file).starts_with("/home/reader/samples/"));
    return at.line;
}

} // namespace

TEST_CASE("asynchrony.ptx: kernels, clusters and shared variables") {
    const Module module = parse(data_file("asynchrony.ptx"));
    CHECK(module.version_major == 9);
    REQUIRE(module.functions.size() == 4);
    CHECK(module.files.size() == 15);
    const Function& bulk = function_of(module, "_Z9bulk_copyPfPKf");
    CHECK(bulk.is_entry);
    CHECK(bulk.variables.size() == 2);
    CHECK(bulk.variables.at(0).size == 1024);
    const Function& neighbours = function_of(module, "_Z10neighboursPi");
    CHECK(neighbours.required_cluster == std::array<std::uint32_t, 3>{2, 1, 1});
    CHECK(neighbours.max_threads == std::array<std::uint32_t, 3>{128, 1, 1});
    CHECK(neighbours.min_blocks_per_sm == 2);
    CHECK(neighbours.explicit_cluster);
}

TEST_CASE("asynchrony.ptx: what libcu++ inlines is seen on the reader's line") {
    const std::string source = data_file("asynchrony.cu");
    const Module module = parse(data_file("asynchrony.ptx"));
    const Function& bulk = function_of(module, "_Z9bulk_copyPfPKf");
    CHECK(seen_line(module, instruction_of(bulk, "mbarrier", "init")) == line_with(source, "// init"));
    CHECK(seen_line(module, instruction_of(bulk, "cp", "bulk")) == line_with(source, "// copy"));
    CHECK(seen_line(module, instruction_of(bulk, "mbarrier", "try_wait")) == line_with(source, "// wait"));
}

TEST_CASE("asynchrony.ptx: operands of the bulk copy") {
    const Module module = parse(data_file("asynchrony.ptx"));
    const Instruction& copy = instruction_of(function_of(module, "_Z9bulk_copyPfPKf"), "cp", "bulk");
    CHECK(copy.has("shared::cluster"));
    CHECK(copy.has("mbarrier::complete_tx::bytes"));
    REQUIRE(copy.operands.size() == 4);
    CHECK(copy.operands[0].kind == Operand::Kind::address);
    CHECK(copy.operands[2].kind == Operand::Kind::reg);
}

TEST_CASE("asynchrony.ptx: two blocks of inline assembly with the same names") {
    const Module module = parse(data_file("asynchrony.ptx"));
    const Function& spin = function_of(module, "_Z4spinPi");
    std::vector<std::int32_t> guards;
    std::vector<std::uint32_t> targets;
    for (const Instruction& each : spin.body) {
        if (each.opcode != "bra")
            continue;
        if (each.guard >= 0)
            guards.push_back(each.guard);
        targets.push_back(each.operands.at(0).index);
    }
    REQUIRE(guards.size() == 2);
    CHECK(guards[0] != guards[1]);
    CHECK(spin.register_name(static_cast<std::uint32_t>(guards[0])) == "p");
    CHECK(spin.register_name(static_cast<std::uint32_t>(guards[1])) == "p");
    REQUIRE(targets.size() == 3);
    CHECK(spin.body.at(targets[0]).opcode == "ld");
    CHECK(spin.body.at(targets[2]).opcode == "ld");
    CHECK(targets[0] < targets[2]);
    CHECK(targets[1] > targets[2]);
}

TEST_CASE("calls.ptx: functions and variables") {
    const Module module = parse(data_file("calls.ptx"));
    REQUIRE(module.functions.size() == 5);
    CHECK(function_of(module, "vprintf").linkage == Linkage::external);
    CHECK_FALSE(function_of(module, "__assertfail").has_body);
    CHECK(function_of(module, "_Z6sum_toi").has_body);
    const Variable& choices = module.variables.at(static_cast<std::size_t>(module.find_variable("choices")));
    REQUIRE(choices.relocations.size() == 2);
    CHECK(choices.relocations[1].kind == SymbolKind::function);
    CHECK(module.functions.at(choices.relocations[1].index).name == "_Z6sum_toi");
    const Variable& mixed = module.variables.at(static_cast<std::size_t>(module.find_variable("mixed")));
    CHECK(mixed.size == 24);
    CHECK(mixed.initial.at(0) == std::byte{'a'});
    CHECK(mixed.relocations.at(0).addend == 4);
}

TEST_CASE("calls.ptx: recursion and the call through a pointer") {
    const Module module = parse(data_file("calls.ptx"));
    const Function& kernel = function_of(module, "_Z5callsPii");
    REQUIRE(kernel.tables.size() == 1);
    CHECK(kernel.tables[0].kind == Table::Kind::prototype);
    const auto indirect = std::find_if(kernel.body.begin(), kernel.body.end(), [](const Instruction& each) {
        return each.opcode == "call" && each.operands.size() == 4;
    });
    REQUIRE(indirect != kernel.body.end());
    CHECK(indirect->operands[1].kind == Operand::Kind::reg);
    const Function& sum_to = function_of(module, "_Z6sum_toi");
    CHECK(instruction_of(sum_to, "call", "uni").operands.at(1).symbol_kind == SymbolKind::function);
}

TEST_CASE("calls.ptx: the reader's innermost line, and the place of the assertion") {
    const std::string source = data_file("calls.cu");
    const Module module = parse(data_file("calls.ptx"));
    const Function& kernel = function_of(module, "_Z5callsPii");
    const Instruction& shuffle = instruction_of(kernel, "shfl", "");
    CHECK(seen_line(module, shuffle) == line_with(source, "// innermost"));
    const Location* at = &module.reader_location(shuffle.location);
    at = &module.locations.at(at->inlined_at);
    CHECK(at->line == line_with(source, "// middle"));
    at = &module.locations.at(at->inlined_at);
    CHECK(at->line == line_with(source, "// call site"));
    CHECK(at->inlined_at == 0);
    CHECK(seen_line(module, instruction_of(kernel, "call", "uni")) == line_with(source, "// assertion"));
}

TEST_CASE("arithmetic.ptx: no source lines, every operand resolved") {
    const Module module = parse(data_file("arithmetic.ptx"));
    REQUIRE(module.functions.size() == 3);
    CHECK(module.locations.size() == 1);
    std::size_t operands = 0;
    const auto count = [&](const auto& self, const Operand& operand) -> void {
        CHECK(operand.kind != Operand::Kind::none);
        ++operands;
        for (const Operand& element : operand.elements)
            self(self, element);
    };
    for (const Function& function : module.functions)
        for (const Instruction& instruction : function.body)
            for (const Operand& operand : instruction.operands)
                count(count, operand);
    CHECK(operands > 250);
}

TEST_CASE("grammar.ptx: one of everything") {
    const Module module = parse(data_file("grammar.ptx"));
    CHECK(module.functions.size() == 11);
    CHECK(module.variables.size() == 18);
    const Function& kernel = function_of(module, "k");
    CHECK(kernel.registers.size() == 4 + 9 + 5 + 1 + 4 + 1 + 1 + 2);
    CHECK(kernel.variables.size() == 4);
    CHECK(kernel.tables.size() == 3);
    CHECK(kernel.tables.at(2).targets.size() == 3);
    CHECK(kernel.body.at(kernel.tables.at(2).targets.at(2)).opcode == "ret");
    CHECK(module.reader_location(kernel.body.at(2).location).line == 5);
}

TEST_CASE("a module survives being moved") {
    Module first = parse(data_file("calls.ptx"));
    const Module second = std::move(first);
    CHECK(function_of(second, "_Z6triplei").body.at(0).opcode == "ld");
    CHECK(second.target == "sm_90");
}
