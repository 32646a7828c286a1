// ld.global.nc may read only what no thread of the launch writes (PTX ISA 9.7.9.9).

#include "rules/check_support.hpp"

using namespace check_test;

namespace {

const std::string meet = "bar.sync 0;\n";

Case program(const std::string& write, const std::string& load) {
    return {tile, addresses(64) + write + meet + load + "%r5, [%rd10];//!\nst.global.u32 [%rd11], %r5;\n"};
}

} // namespace

TEST_CASE("race-global: ld.global.nc of what the launch has written, though a barrier lies between") {
    const std::string store = "add.u32 %r6, %r6, 1;\nst.global.u32 [%rd10], %r6;//!\n";
    require_found("race-global", program(store, "ld.global.nc.u32 "));
    require_silent(program(store, "ld.global.u32 "));
}

TEST_CASE("ld.global.nc of what is written afterwards, or not at all, is silent") {
    require_silent(program("", "ld.global.nc.u32 "));
    // A store that changes nothing.
    require_silent(program("st.global.u32 [%rd10], %r6;\n", "ld.global.nc.u32 "));
    require_silent({tile, addresses(64) + "ld.global.nc.u32 %r5, [%rd10];\nadd.u32 %r5, %r5, 1;\n"
                                          "st.global.u32 [%rd10], %r5;\n"});
}
