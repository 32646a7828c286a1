// Which array of shared memory an address was computed from: what nvcc makes of indices, and what must stay
// unknown.
#include "rules/analysis/array_of.hpp"

#include "ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>

using emu::check::BaseArrays;
using namespace ptx_text;

namespace {

/// The array of the last instruction's address: "a", "b", "m", or "" if it is not known.
std::string array_of(const std::string& body, unsigned which = 0) {
    const std::string text =
        header +
        ".shared .align 16 .b8 m[64];\n.extern .shared .align 16 .b8 d[];\n.global .u32 g[4];\n"
        ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.shared .align 16 .b8 a[64];\n"
        ".shared .align 16 .b8 b[64];\n.reg .b32 %r<30>; .reg .b64 %rd<30>; .reg .pred %p<4>; .reg .b16 "
        "%h<4>;\nld.param.u64 %rd0, [p];\nld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, a;\n"
        "mov.u32 %r3, b;\nld.global.u32 %r4, [%rd0];\nsetp.eq.u32 %p0, %r0, 0;\n" +
        body + "\nret;\n}\n";
    const emu::ptx::Module module = emu::ptx::parse(text);
    const emu::ptx::Function& function = module.functions.at(0);
    const BaseArrays bases(module, function);
    const auto found = bases.of_address(static_cast<std::uint32_t>(function.body.size() - 2), which);
    if (!found)
        return {};
    const bool in_module = found->kind == emu::ptx::SymbolKind::module_variable;
    return std::string((in_module ? module.variables : function.variables).at(found->index).name);
}

const std::string store = "st.shared.u32 [%r9], %r1;";

} // namespace

TEST_CASE("an index is added to an array") {
    CHECK(array_of("st.shared.u32 [a+8], %r1;") == "a");
    CHECK(array_of("add.s32 %r9, %r2, 4;" + store) == "a");
    CHECK(array_of("shl.b32 %r5, %r1, 2; add.s32 %r9, %r5, %r3;" + store) == "b");
    CHECK(array_of("mad.lo.s32 %r9, %r1, 132, %r2;" + store) == "a");
    CHECK(array_of("mov.u32 %r5, m; sub.s32 %r9, %r5, %r1;" + store) == "m");
    CHECK(array_of("mov.u32 %r5, d; add.s32 %r9, %r5, %r1;" + store) == "d");
    CHECK(array_of("add.s32 %r9, %r2, %r4;" + store) == "a"); // the index was read from memory
    CHECK(array_of("add.s32 %r9, %r2, %r0;" + store) == "a"); // … or is a parameter
}

TEST_CASE("addresses become generic, wide, aligned, swizzled and remote") {
    CHECK(array_of("cvt.u64.u32 %rd1, %r2; cvta.shared.u64 %rd2, %rd1; mul.wide.u32 %rd3, %r1, 4;"
                   "add.s64 %rd4, %rd2, %rd3; st.u32 [%rd4], %r1;") == "a");
    CHECK(array_of("cvta.shared.u64 %rd2, a; cvta.to.shared.u64 %rd3, %rd2; cvt.u32.u64 %r9, %rd3;" +
                   store) == "a");
    CHECK(array_of("and.b32 %r9, %r2, -16;" + store) == "a");
    CHECK(array_of("and.b32 %r9, %r2, 0xFEFFFFFF;" + store) == "a");
    CHECK(array_of("or.b32 %r9, %r2, %r1;" + store) == "a");
    CHECK(array_of("xor.b32 %r9, %r1, %r2;" + store) == "a");
    CHECK(array_of("mapa.shared::cluster.u32 %r9, %r3, %r1; st.shared::cluster.u32 [%r9], %r1;") == "b");
}

TEST_CASE("a pointer that moves stays in its array, also in a loop") {
    CHECK(array_of("mov.u32 %r9, %r2;\n$L1: add.s32 %r9, %r9, 16; @%p0 bra $L1;" + store) == "a");
    CHECK(array_of("mov.u32 %r8, %r2;\n$L1: mov.u32 %r9, %r8; add.s32 %r8, %r9, 16; @%p0 bra $L1;" + store) ==
          "a");
    CHECK(array_of("selp.b32 %r9, %r2, %r2, %p0;" + store) == "a");
}

TEST_CASE("what may be in two arrays is in none") {
    CHECK(array_of("selp.b32 %r9, %r2, %r3, %p0;" + store).empty());
    CHECK(array_of("mov.u32 %r9, %r2; @%p0 mov.u32 %r9, %r3;" + store).empty());
    CHECK(array_of("mov.u32 %r9, %r2; @%p0 mov.u32 %r9, %r4;" + store).empty()); // or a pointer from memory
    CHECK(array_of("mov.u32 %r9, %r2; mov.u32 %r8, %r3;\n$L1: mov.u32 %r7, %r9; mov.u32 %r9, %r8;"
                   "mov.u32 %r8, %r7; @%p0 bra $L1;" +
                   store)
              .empty()); // two buffers in turn
}

TEST_CASE("the distance of two arrays is no index") {
    CHECK(array_of("sub.s32 %r5, %r3, %r2; add.s32 %r9, %r2, %r5;" + store).empty());
    CHECK(array_of("sub.s32 %r5, %r4, %r2; add.s32 %r9, %r3, %r5;" + store).empty());
    CHECK(array_of("add.s32 %r9, %r3, %r2;" + store).empty());
    CHECK(array_of("neg.s32 %r5, %r2; add.s32 %r5, %r5, %r3; add.s32 %r9, %r2, %r5;" + store).empty());
    CHECK(array_of("mul.lo.s32 %r5, %r2, -1; add.s32 %r9, %r3, %r5;" + store).empty());
    CHECK(array_of("mad.lo.s32 %r9, %r2, -1, %r3;" + store).empty());
}

TEST_CASE("low bits, parts and descriptors of an address are no address") {
    CHECK(array_of("and.b32 %r5, %r2, 127; add.s32 %r9, %r3, %r5;" + store).empty());
    CHECK(array_of("and.b32 %r9, %r2, %r1;" + store).empty());
    CHECK(array_of("shr.u32 %r9, %r2, 4;" + store).empty());
    CHECK(array_of("cvt.u16.u32 %h0, %r2; cvt.u32.u16 %r9, %h0;" + store).empty());
    CHECK(array_of("shfl.sync.idx.b32 %r9, %r2, 0, 31, -1;" + store).empty());
}

TEST_CASE("pointers from elsewhere, and other memory, have no array") {
    CHECK(array_of("mov.u32 %r9, %r4;" + store).empty());
    CHECK(array_of("add.s32 %r9, %r0, %r1;" + store).empty());
    CHECK(array_of("mov.u64 %rd1, g; add.s64 %rd2, %rd1, 4; st.global.u32 [%rd2], %r1;").empty());
    CHECK(array_of("add.s32 %r9, %r20, 4;" + store).empty()); // never set
}

TEST_CASE("copies have several addresses") {
    const std::string copy =
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd0], 16, [b];";
    CHECK(array_of("add.s32 %r9, %r2, 16;" + copy, 0) == "a");
    CHECK(array_of("add.s32 %r9, %r2, 16;" + copy, 1).empty());
    CHECK(array_of("add.s32 %r9, %r2, 16;" + copy, 2) == "b");
    CHECK(array_of("add.s32 %r9, %r2, 16;" + copy, 3).empty());
}
