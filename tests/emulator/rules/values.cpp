// Values read from memory that nobody has written: silent while they are only moved, combined and dropped, a
// finding where something uses them.

#include "findings/log.hpp"
#include "hopper_emulator/settings.hpp"
#include "rules/check_support.hpp"

using namespace check_test;

namespace {

const std::string meet = "bar.sync 0;\n";
const std::string name = "uninitialised-shared";

/// All but the last thread have written their word of the tile; %p1 tells them.
const std::string partly_filled =
    addresses(64) + "setp.lt.u32 %p1, %r0, 63;\n@%p1 st.shared.u32 [%r10], %r6;\n" + meet;
const std::string load = "ld.shared.u32 %r5, [%r10];\n";
const std::string wrong = "ld.shared.u32 %r5, [%r10];//!\n";
const std::string store = "st.global.u32 [%rd11], %r3;\n";
const std::string use = "st.global.u32 [%rd11], %r3;//!\n";

} // namespace

TEST_CASE("uninitialised-shared: exact to the byte") {
    const std::string start = addresses(64) + "setp.lt.u32 %p1, %r0, 63;\n";
    require_found(name, {tile, start + "@%p1 st.shared.u32 [%r10], %r6;\n" + meet +
                                   "ld.shared.u32 %r5, [%r11];//!\nst.global.u32 [%rd11], %r5;//!\n"});
    require_silent(
        {tile, start + "@%p1 st.shared.u32 [%r10], %r6;\n" + meet + "@%p1 ld.shared.u32 %r5, [%r10];\n"});
    require_found(name, {tile, start + "cvt.u16.u32 %h0, %r0;\nst.shared.u16 [%r10], %h0;\n"
                                       "ld.shared.u8 %h1, [%r10+1];\nld.shared.u8 %h1, [%r10+2];//!\n"
                                       "st.global.u8 [%rd11], %h1;//!\n"});
    // Four lanes read the bytes of one word; two of the bytes were written.
    const std::string bytes = "mov.u32 %r12, tile;\nadd.u32 %r12, %r12, %r0;\nand.b32 %r13, %r0, 3;\n"
                              "setp.lt.u32 %p2, %r13, 2;\nmov.u16 %h0, 7;\n@%p2 st.shared.u8 [%r12], %h0;\n" +
                              meet;
    require_silent(
        {tile, addresses(64) + bytes + "ld.shared.u8 %h1, [%r12];\n@%p2 st.global.u8 [%rd11], %h1;\n"});
    require_found(name, {tile, addresses(64) + bytes +
                                   "ld.shared.u8 %h1, [%r12];//!\n@!%p2 st.global.u8 [%rd11], %h1;//!\n"});
}

TEST_CASE("uninitialised-shared: only a value that is used is a mistake") {
    // Sorting networks on partial tiles read past the end and drop the value.
    require_silent({tile, partly_filled + load});
    require_silent({tile, partly_filled + load + "mov.u32 %r5, 0;\nst.global.u32 [%rd11], %r5;\n"});
    require_silent(
        {tile, partly_filled + load + "add.u32 %r4, %r5, 1;\nselp.u32 %r3, %r4, %r6, %p1;\n" + store});
    require_silent({tile, partly_filled + load +
                              "setp.lt.u32 %p2, %r5, %r6;\nand.pred %p2, %p2, %p1;\n"
                              "selp.u32 %r3, 1, 2, %p2;\n" +
                              store});
    require_silent(
        {tile, partly_filled + load + "setp.lt.and.u32 %p2, %r5, %r6, %p1;\n@%p2 bra NEXT;\nNEXT:\n"});
    require_silent({tile, partly_filled + load + "@%p1 st.global.u32 [%rd11], %r5;\n"});
    require_found(name, {tile, partly_filled + wrong + "add.u32 %r3, %r5, 1;\n" + use});
    require_found(name, {tile, partly_filled + wrong +
                                   "setp.lt.or.u32 %p2, %r5, %r6, %p1;\nselp.u32 %r3, 1, 2, %p2;\n" + use});
    require_found(name, {tile, partly_filled + "ld.shared.v2.u32 {%r4, %r3}, [tile+248];//!\n@%p0 " + use});
    require_silent({tile, partly_filled + "ld.shared.v2.u32 {%r3, %r4}, [tile+248];\n@%p0 " + store});
}

TEST_CASE("uninitialised-shared: what counts as a use") {
    const std::string decide = wrong + "setp.gt.u32 %p2, %r5, 7;\n";
    require_found(name, {tile, partly_filled + decide + "@%p2 bra NEXT;//!\nNEXT:\n"});
    require_found(name, {tile, partly_filled + decide + "@%p2 st.global.u32 [%rd11], %r0;//!\n"});
    require_found(name, {tile, partly_filled + decide + "@%p2 exit;//!\n"});
    // A guarded move is a choice between two values, which may itself be dropped.
    const std::string choose = "mov.u32 %r3, 0;\n@%p2 mov.u32 %r3, 1;\n";
    require_found(name, {tile, partly_filled + decide + choose + use});
    require_silent({tile, partly_filled + load + "setp.gt.u32 %p2, %r5, 7;\n" + choose + "@%p1 " + store});
    const std::string as_index = "and.b32 %r4, %r5, 60;\nadd.u32 %r4, %r4, %r9;\n";
    require_found(name, {tile, partly_filled + wrong + as_index + "ld.shared.u32 %r3, [%r4];//!\n"});
    require_found(name, {tile, partly_filled + wrong +
                                   "and.b32 %r4, %r5, 60;\ncvt.u64.u32 %rd12, %r4;\n"
                                   "add.u64 %rd12, %rd12, %rd1;\n"
                                   "red.global.add.u32 [%rd12], 1;//!\n"});
    require_found(name, {tile, partly_filled + wrong + "red.global.add.u32 [%rd1+4096], %r5;//!\n"});
}

TEST_CASE("uninitialised-shared: values go from lane to lane") {
    require_found(name, {tile, partly_filled + wrong + "shfl.sync.bfly.b32 %r3, %r5, 1, 31, -1;\n" + use});
    // A sum over a warp whose last lane has nothing: only lanes behind a lane see its value.
    const std::string scan = "mov.u32 %r3, %r5;\n"
                             "shfl.sync.up.b32 %r4|%p2, %r3, 1, 0, -1;\n@%p2 add.u32 %r3, %r3, %r4;\n"
                             "shfl.sync.up.b32 %r4|%p2, %r3, 2, 0, -1;\n@%p2 add.u32 %r3, %r3, %r4;\n";
    require_silent({tile, partly_filled + load + scan + "@%p1 " + store});
    require_found(name, {tile, partly_filled + wrong + scan + use});
    // In segments of 16 lanes the first lane of the second segment gets nothing from the first.
    const std::string half =
        addresses(64) + "setp.ne.u32 %p1, %r0, 15;\n@%p1 st.shared.u32 [%r10], %r6;\n" + meet;
    const std::string next = "shfl.sync.up.b32 %r3, %r5, 1, 0x1000, -1;\n";
    require_silent({tile, half + load + next + "@%p1 " + store});
    require_found(name, {tile, half + wrong + "shfl.sync.up.b32 %r3, %r5, 1, 0, -1;\n@%p1 " + use});
    // A vote depends on all lanes.
    const std::string vote = "setp.gt.u32 %p2, %r5, 7;\nvote.sync.ballot.b32 %r3, %p2, -1;\n";
    require_silent({tile, partly_filled + load + vote});
    require_found(name, {tile, partly_filled + wrong + vote + "setp.lt.u32 %p3, %r0, 33;\n@%p3 " +
                                   "setp.gt.u32 %p3, %r0, 31;\n@%p3 " + use});
}

TEST_CASE("uninitialised-shared: a matrix is transposed between lanes") {
    // Rows 4 to 7 were not written: after that they are columns, in lanes 2 and 3 of each four.
    const std::string half_a_matrix = addresses(64) +
                                      "setp.lt.u32 %p1, %r0, 16;\n@%p1 st.shared.u32 [%r10], %r6;\n" + meet +
                                      "and.b32 %r12, %r0, 3;\nsetp.lt.u32 %p2, %r12, 2;\n";
    const std::string transpose = "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r5;\n";
    const auto with = [&](const std::string& first, const std::string& rest) {
        return Case{tile, half_a_matrix + first + transpose + rest, 32};
    };
    require_silent(with(load, "@%p2 " + store));
    require_found(name, with(wrong, "@!%p2 " + use));
    require_found(name, with(wrong, "@%p1 " + use)); // Written, but by another lane's value.
}

TEST_CASE("uninitialised-shared: values copied from shared to shared memory") {
    // A rolling plane: the whole tile moves, its border is never read.
    const std::string roll = load + "st.shared.u32 [%r10+256], %r5;\n" + meet;
    const std::string back = "ld.shared.u32 %r3, [%r10+256];\n";
    require_silent({tile, partly_filled + roll + back + "add.u32 %r3, %r3, 1;\n@%p1 " + store});
    const std::string wrong_roll = wrong + "st.shared.u32 [%r10+256], %r5;\n" + meet;
    require_found(name, {tile, partly_filled + wrong_roll + back + use});
    // What is overwritten is forgotten.
    require_silent({tile, partly_filled + roll + "st.shared.u32 [%r10+256], %r6;\n" + back + store});
    require_found(name, {tile, partly_filled + wrong_roll +
                                   "cvt.u16.u32 %h0, %r0;\n"
                                   "st.shared.u16 [%r10+256], %h0;\n" +
                                   back + use});
    require_silent({tile, partly_filled + roll +
                              "cvt.u16.u32 %h0, %r0;\nst.shared.u16 [%r10+256], %h0;\n"
                              "ld.shared.u16 %h1, [%r10+256];\n"
                              "st.global.u16 [%rd11], %h1;\n"});
    // Vectors, element by element.
    const std::string pair = "ld.shared.v2.u32 {%r3, %r4}, [tile+248];\n"
                             "@%p0 st.shared.v2.u32 [tile+512], {%r4, %r3};\n" +
                             meet;
    require_silent({tile, partly_filled + pair + "ld.shared.u32 %r3, [tile+516];\n" + store});
}

TEST_CASE("uninitialised-shared: a reduction over a partly filled tile") {
    // 48 of 64 words are there; each step adds the upper half, and only the sum of what is there is kept.
    const auto step = [](unsigned distance, const std::string& read) {
        return "setp.lt.u32 %p2, %r0, " + std::to_string(distance) + ";\n@%p2 " + read + "[%r10+" +
               std::to_string(4 * distance) +
               "];\n@%p2 ld.shared.u32 %r4, [%r10];\n@%p2 add.u32 %r4, %r4, %r5;\n"
               "@%p2 st.shared.u32 [%r10], %r4;\n" +
               meet;
    };
    const std::string filled = addresses(64) +
                               "setp.lt.u32 %p1, %r0, 48;\n@%p1 st.shared.u32 [%r10], %r6;\n" + meet +
                               step(32, "ld.shared.u32 %r5, ");
    const std::string out = "ld.shared.u32 %r3, [%r10];\nsetp.lt.u32 %p3, %r0, 16;\n@%p3 ";
    require_silent({tile, filled + out + store});
    const std::string bad = addresses(64) + "setp.lt.u32 %p1, %r0, 48;\n@%p1 st.shared.u32 [%r10], %r6;\n" +
                            meet +
                            "setp.lt.u32 %p2, %r0, 32;\n@%p2 ld.shared.u32 %r5, [%r10+128];//!\n"
                            "@%p2 ld.shared.u32 %r4, [%r10];\n@%p2 add.u32 %r4, %r4, %r5;\n"
                            "@%p2 st.shared.u32 [%r10], %r4;\n" +
                            meet + step(16, "ld.shared.u32 %r5, ");
    require_found(name, {tile, bad + out + use});
}

TEST_CASE("uninitialised-shared: atomics combine, exchanges replace") {
    const std::string start = addresses(64);
    const auto add = [&](const std::string& mark) {
        return start + "@%p0 atom.shared.add.u32 %r5, [tile+512], 1;" + mark + "\n" + meet;
    };
    const std::string read = "ld.shared.u32 %r3, [tile+512];\n";
    require_silent({tile, add("") + read});
    require_found(name, {tile, add("//!") + read + use});
    require_found(name, {tile, add("//!") + "mov.u32 %r3, %r5;\n@%p0 " + use});
    require_silent({tile, add("") + "@%p0 atom.shared.exch.b32 %r4, [tile+512], 5;\n" + meet + read + store});
    require_found(name, {tile, partly_filled +
                                   "ld.shared.u32 %r5, [tile+252];//!\n"
                                   "@%p0 st.shared.u32 [tile+512], %r0;\n" +
                                   meet + "@%p0 red.shared.add.u32 [tile+512], %r5;\n" + meet + read + use});
    require_found(name, {tile, start +
                                   "AGAIN:\nmov.u32 %r4, 0;\n"
                                   "@%p0 atom.shared.cas.b32 %r5, [tile+512], 0, 1;//!\n"
                                   "@%p0 mov.u32 %r4, %r5;\nsetp.ne.u32 %p2, %r4, 0;\n"
                                   "setp.eq.u32 %p3, %r0, 99;\nand.pred %p2, %p2, %p3;\n@%p2 bra AGAIN;\n"
                                   "mov.u32 %r3, %r4;\n@%p0 " +
                                   use});
}

TEST_CASE("uninitialised-shared: local memory carries values too") {
    const std::string local = tile + ".local .align 16 .b8 mine[64];\n";
    const std::string spill = "st.local.u32 [mine+16], %r5;\nst.local.u32 [mine+20], %r6;\n";
    require_silent({local, partly_filled + load + spill + "ld.local.u32 %r3, [mine+20];\n" + store});
    require_silent({local, partly_filled + load + spill + "ld.local.u32 %r3, [mine+16];\n@%p1 " + store});
    require_found(name, {local, partly_filled + wrong + spill + "ld.local.u32 %r3, [mine+16];\n" + use});
    require_silent({local, partly_filled + load + spill +
                               "st.local.u32 [mine+16], %r6;\nld.local.u32 %r3, [mine+16];\n" + store});
}

TEST_CASE("uninitialised-shared: a copy to global memory takes bytes that nobody wrote") {
    const auto copy = [](const std::string& from, const std::string& bytes) {
        return "fence.proxy.async.shared::cta;\nbar.sync 0;\n@%p0 "
               "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [" +
               from + "], " + bytes + ";//!\n" + commit_and_wait_read;
    };
    const std::string filled = addresses(64) + "setp.lt.u32 %p1, %r0, 60;\n@%p1 st.shared.u32 [%r10], %r6;\n";
    require_found(name, {tile, filled + copy("tile", "256")}, emu::Fault::none);
    require_silent({tile, filled + copy("tile", "240")});
    // A value that a thread computed with is an error.
    const std::string moved =
        filled + meet + "ld.shared.u32 %r5, [%r10];//!\nst.shared.u32 [%r10+256], %r5;\n" + meet;
    require_found(name, {tile, moved + copy("tile+256", "256")});
    require_silent({tile, moved + copy("tile+256", "240")});
}

TEST_CASE("out-of-bounds: an aligned vector may end behind its array, if what lies there is dropped") {
    // Three floats that are read as four.
    const auto outcome_of = [](const std::string& body, std::uint32_t size) {
        emu::Device device(emu::Settings{}, emu::make_reporter());
        device.add_observer(emu::make_checks());
        const auto out = device.memory().allocate(64, emu::Allocation::Kind::device);
        const std::array<std::uint64_t, 2> parameters{out, out};
        emu::LaunchConfig config;
        config.dynamic_shared = size;
        const auto program = device.load(
            ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 tile[];\n" +
            kernel(2, "", "st.shared.u32 [tile], %r0;\nst.shared.u32 [tile+4], %r0;\n" + body)
                .substr(std::string(".version 9.0\n.target sm_90a\n.address_size 64\n").size()));
        const auto outcome = device.launch(*program, "k", config, std::as_bytes(std::span(parameters)));
        REQUIRE(outcome.result.diagnostics.size() < 2);
        return outcome.result.diagnostics.empty() ? "" : outcome.result.diagnostics.front().name();
    };
    const auto three = [](const std::string& last) {
        return "st.shared.u32 [tile+8], %r0;\nld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [tile];\n"
               "add.u32 %r5, %r1, %r2;\nadd.u32 %r5, %r5, " +
               last + ";\nst.global.u32 [%rd1], %r5;\n";
    };
    REQUIRE(outcome_of(three("%r3"), 12).empty());
    REQUIRE(outcome_of(three("%r4"), 12) == "out-of-bounds");
    // A store is a use of its own, and so is a scalar load that is not whole.
    REQUIRE(outcome_of("st.shared.v4.u32 [tile], {%r0, %r0, %r0, %r0};\n", 12) == "out-of-bounds");
    REQUIRE(outcome_of("ld.shared.u64 %rd9, [tile+8];\n", 12) == "out-of-bounds");
    REQUIRE(outcome_of("ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [tile+16];\n", 12) == "out-of-bounds");
}

TEST_CASE("out-of-bounds: the same in global memory") {
    const auto outcome_of = [](const std::string& last, std::size_t size) {
        emu::Device device(emu::Settings{}, emu::make_reporter());
        device.add_observer(emu::make_checks());
        const auto in = device.memory().allocate(size, emu::Allocation::Kind::device);
        const auto out = device.memory().allocate(64, emu::Allocation::Kind::device);
        std::memset(reinterpret_cast<void*>(in), 0, size);
        const std::array<std::uint64_t, 2> parameters{in, out};
        emu::LaunchConfig config;
        const auto program = device.load(kernel(2, "",
                                                "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd0+16];\n"
                                                "add.f32 %f5, %f1, %f2;\nadd.f32 %f5, %f5, " +
                                                    last + ";\nst.global.f32 [%rd1], %f5;\n"));
        return device.launch(*program, "k", config, std::as_bytes(std::span(parameters)));
    };
    REQUIRE(outcome_of("%f3", 28).result.diagnostics.empty());
    REQUIRE(outcome_of("%f4", 32).result.diagnostics.empty());
    const auto used = outcome_of("%f4", 28);
    REQUIRE(used.result.diagnostics.size() == 1);
    REQUIRE(used.result.diagnostics.front().name() == "out-of-bounds");
    REQUIRE(used.result.diagnostics.front().message.find(
                "4 bytes past the end of an allocation of 28 bytes") != std::string::npos);
    REQUIRE(outcome_of("%f1", 16).result.diagnostics.front().name() == "out-of-bounds");
}

TEST_CASE("atomics of a byte go through the aligned word around it, as libcu++'s do") {
    // cuda::atomic<char>: load the word, put the byte into it, compare and swap; the allocation is one byte.
    const auto update = [](const std::string& space, const std::string& place) {
        return "ld.relaxed.gpu." + space + ".u32 %r1, [" + place + "];\nAGAIN:\nadd.u32 %r2, %r1, 1;\n" +
               "and.b32 %r2, %r2, 255;\nand.b32 %r3, %r1, 0xffffff00;\nor.b32 %r2, %r2, %r3;\n" +
               "atom.relaxed.gpu." + space + ".cas.b32 %r4, [" + place + "], %r1, %r2;\n" +
               "setp.ne.u32 %p1, %r4, %r1;\nmov.u32 %r1, %r4;\n@%p1 bra AGAIN;\n"
               "ld.relaxed.gpu." +
               space + ".u8 %h1, [" + place + "];\nst.global.u8 [%rd1], %h1;\n";
    };
    const std::string byte = ".shared .align 4 .b8 byte[1];\n";
    require_silent({byte, "mov.u16 %h0, 7;\nst.shared.u8 [byte], %h0;\n" + update("shared", "byte"), 1});
    emu::Device device(emu::Settings{}, emu::make_reporter());
    device.add_observer(emu::make_checks());
    const auto in = device.memory().allocate(1, emu::Allocation::Kind::device);
    const auto out = device.memory().allocate(64, emu::Allocation::Kind::device);
    *reinterpret_cast<unsigned char*>(in) = 7;
    const std::array<std::uint64_t, 2> parameters{in, out};
    const auto program = device.load(kernel(2, "", update("global", "%rd0")));
    const auto outcome = device.launch(*program, "k", {}, std::as_bytes(std::span(parameters)));
    REQUIRE(outcome.result.diagnostics.empty());
    REQUIRE(*reinterpret_cast<unsigned char*>(in) == 8);
}

namespace {

/// Runs `body` with `in`, of which the first 64 of 128 bytes have been written, and `out`, of which none; as
/// often as asked, on the same memory.
std::vector<emu::Diagnostic> with_fresh_memory(const std::string& body, unsigned times = 1) {
    emu::Device device(emu::Settings{}, emu::make_reporter());
    device.add_observer(emu::make_checks());
    emu::GlobalMemory& memory = device.memory();
    const auto in = memory.allocate(128, emu::Allocation::Kind::device);
    const auto out = memory.allocate(4096, emu::Allocation::Kind::device);
    memory.track_writes(in);
    memory.track_writes(out);
    std::memset(reinterpret_cast<void*>(in), 0, 64);
    memory.note_written(in, 64);
    const std::array<std::uint64_t, 2> parameters{in, out};
    emu::LaunchConfig config;
    config.block = {32, 1, 1};
    config.grid = {2, 1, 1};
    const auto program = device.load(
        kernel(2, "",
               "mov.u32 %r8, %ctaid.x;\nmad.lo.u32 %r9, %r8, 32, %r0;\nmul.wide.u32 %rd9, %r9, 4;\n"
               "add.u64 %rd11, %rd1, %rd9;\nand.b32 %r7, %r0, 15;\nmul.wide.u32 %rd8, %r7, 4;\n"
               "add.u64 %rd10, %rd0, %rd8;\n" +
                   body));
    std::vector<emu::Diagnostic> all;
    for (unsigned i = 0; i < times; ++i) {
        const auto outcome = device.launch(*program, "k", config, std::as_bytes(std::span(parameters)));
        REQUIRE(outcome.result.fault == emu::Fault::none);
        all.insert(all.end(), outcome.result.diagnostics.begin(), outcome.result.diagnostics.end());
    }
    return all;
}

} // namespace

TEST_CASE("uninitialised-global: a warning where a value from memory that nobody wrote is used") {
    const std::string add_to =
        "ld.global.u32 %r3, [%rd11];\nadd.u32 %r3, %r3, 1;\nst.global.u32 [%rd11], %r3;\n";
    const auto found = with_fresh_memory(add_to);
    REQUIRE(found.size() == 1);
    REQUIRE(found.front().name() == "uninitialised-global");
    REQUIRE(found.front().fault == emu::Fault::none);
    REQUIRE(found.front().locations.size() == 2);
    // The first launch has written the words: the second reads them in order.
    REQUIRE(with_fresh_memory(add_to, 3).size() == 1);
    REQUIRE(with_fresh_memory("red.global.add.u32 [%rd11], 1;\n").size() == 1);
    REQUIRE(with_fresh_memory("atom.global.exch.b32 %r3, [%rd11], 1;\n").empty());
    // Read, and not used.
    REQUIRE(with_fresh_memory("ld.global.u32 %r3, [%rd11];\nadd.u32 %r3, %r3, 1;\n").empty());
    REQUIRE(with_fresh_memory("st.global.u32 [%rd11], %r0;\n" + add_to).empty());
    const std::string copy = "ld.global.u32 %r3, [%rd10];\nst.global.u32 [%rd11], %r3;\n";
    REQUIRE(with_fresh_memory(copy).empty());
    std::string behind = copy;
    behind.insert(behind.find("%rd10") + 5, "+4");
    REQUIRE(with_fresh_memory(behind).size() == 1);
    REQUIRE(with_fresh_memory("setp.lt.u32 %p1, %r7, 15;\n@%p1 " + behind.substr(0, behind.find('\n') + 1) +
                              "@%p1 " + behind.substr(behind.find('\n') + 1))
                .empty());
}

TEST_CASE("uninitialised-shared: a copy that ends before the place is named") {
    const auto message = [](const std::string& bytes, const std::string& from) {
        const auto outcome =
            run({tile_and_bar, addresses(64) + initialised_barrier() +
                                   "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + bytes + ";\n" +
                                   "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                                   "[tile], [%rd0], " +
                                   bytes + ", [bar];\n" + wait_parity("bar", "0", "W") + from},
                {emu::CompletionOrder::late, 1});
        return outcome.result.diagnostics.empty() ? std::string()
                                                  : outcome.result.diagnostics.front().message + " " +
                                                        outcome.result.diagnostics.front().advice;
    };
    const std::string read = "ld.shared.u32 %r5, [%r10];\nst.global.u32 [%rd11], %r5;\n";
    const std::string told = message("64", read);
    CHECK(told.find("the copy ends at tile + 64") != std::string::npos);
    CHECK(told.find("size in bytes") != std::string::npos);
    CHECK(message("256", read).empty());
    // What lies before was written by a thread.
    const std::string own = message("64", "@%p0 st.shared.u32 [tile+64], %r6;\nbar.sync 0;\n" + read);
    CHECK(own.find("the copy ends") == std::string::npos);
}
