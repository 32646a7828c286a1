// Loads, stores, address spaces, bounds and alignment (PTX ISA 9.7.9), and atomics (9.7.13.5, 9.7.13.6).

#include "kernel.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

using namespace emu;
using namespace emu::test;

namespace {

const std::string my_address = "  mul.wide.u32 %rd8, %r1, 4;\n  add.s64 %rd9, %rd0, %rd8;\n";

std::vector<std::uint32_t> counted(std::size_t n) {
    std::vector<std::uint32_t> words(n);
    for (std::size_t i = 0; i < n; ++i)
        words[i] = static_cast<std::uint32_t>(i * 2654435761u);
    return words;
}

} // namespace

TEST_CASE("narrow loads widen by their sign and narrow stores truncate") {
    const auto outcome = run(
        kernel_text(
            "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 exit;\n  .reg .b16 %h<4>;\n  ld.global.s8 %r2, [%rd0];\n"
            "  st.global.u32 [%rd0+4], %r2;\n  ld.global.u8 %r3, [%rd0];\n  st.global.u32 [%rd0+8], %r3;\n"
            "  ld.global.s16 %rd1, [%rd0];\n  st.global.u64 [%rd0+16], %rd1;\n  ld.global.s8 %h1, [%rd0];\n"
            "  st.global.u16 [%rd0+24], %h1;\n  st.global.u8 [%rd0+26], %r2;\n  ret;"),
        {0x1234fe80, 0, 0, 0, 0, 0, 0});
    REQUIRE(outcome.message().empty());
    CHECK(outcome.words[1] == 0xffffff80);
    CHECK(outcome.words[2] == 0x80);
    CHECK(outcome.words[4] == 0xfffffe80);
    CHECK(outcome.words[5] == 0xffffffff);
    CHECK(outcome.words[6] == 0x0080ff80);
}

TEST_CASE("vector loads and stores keep the order of elements") {
    const auto outcome =
        run(kernel_text("  shl.b32 %r2, %r1, 4;\n  cvt.u64.u32 %rd1, %r2;\n  add.s64 %rd2, %rd0, %rd1;\n"
                        "  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd2];\n  st.global.v4.u32 [%rd2], {%r7, "
                        "%r6, %r5, %r4};\n  ret;"),
            counted(128));
    REQUIRE(outcome.message().empty());
    const auto before = counted(128);
    for (std::size_t i = 0; i < 128; ++i)
        CHECK(outcome.words[i] == before[i / 4 * 4 + 3 - i % 4]);
}

TEST_CASE("shared memory is private to a block and reachable by generic addresses") {
    const std::string body =
        "  .shared .align 4 .b8 tile[128];\n  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, tile;\n  shl.b32 %r4, "
        "%r1, 2;\n"
        "  add.u32 %r5, %r3, %r4;\n  mad.lo.u32 %r6, %r2, 1000, %r1;\n  st.shared.u32 [%r5], %r6;\n  "
        "bar.sync 0;\n"
        "  xor.b32 %r7, %r4, 124;\n  add.u32 %r8, %r3, %r7;\n  cvt.u64.u32 %rd1, %r8;\n  cvta.shared.u64 "
        "%rd2, %rd1;\n"
        "  ld.u32 %r9, [%rd2];\n  isspacep.shared %p1, %rd2;\n  isspacep.global %p2, %rd2;\n  @!%p1 add.u32 "
        "%r9, %r9, 100000;\n"
        "  @%p2 add.u32 %r9, %r9, 200000;\n  mad.lo.u32 %r10, %r2, 32, %r1;\n  mul.wide.u32 %rd8, %r10, 4;\n"
        "  add.s64 %rd9, %rd0, %rd8;\n  st.global.u32 [%rd9], %r9;\n  ret;";
    const auto outcome = run(kernel_text(body), std::vector<std::uint32_t>(64), {{2, 1, 1}, {32, 1, 1}});
    REQUIRE(outcome.message().empty());
    for (std::uint32_t i = 0; i < 64; ++i)
        CHECK(outcome.words[i] == i / 32 * 1000 + (31 - i % 32));
}

TEST_CASE("local memory belongs to the thread") {
    const std::string body = "  .local .align 8 .b8 room[64];\n  mov.u64 %rd1, room;\n  st.local.u32 "
                             "[room+8], %r1;\n  cvta.local.u64 %rd2, %rd1;\n"
                             "  ld.u32 %r9, [%rd2+8];\n" +
                             my_address + "  st.global.u32 [%rd9], %r9;\n  ret;";
    const auto outcome = run(kernel_text(body), std::vector<std::uint32_t>(32));
    REQUIRE(outcome.message().empty());
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(outcome.words[i] == i);
}

TEST_CASE("the name of a shared or local variable stands for its place where no space is written") {
    const auto value = [](const std::string& body) {
        const auto outcome = run(
            kernel_text("  .shared .align 16 .b32 s[4];\n  .local .align 16 .b32 l[4];\n  mov.u32 %r2, 7;\n" +
                            body + my_address + "  st.global.u32 [%rd9], %r9;\n  ret;",
                        ".shared .align 16 .b32 ms[4];\n.shared .align 8 .b64 bar;\n"),
            std::vector<std::uint32_t>(1), {{1, 1, 1}, {1, 1, 1}});
        INFO(body << outcome.message());
        REQUIRE(outcome.message().empty());
        return outcome.words[0];
    };
    for (const std::string name : {"s", "ms", "l"}) {
        const std::string space = name == "l" ? "local" : "shared";
        CHECK(value("st." + space + ".u32 [" + name + "+4], %r2;\nld.u32 %r9, [" + name + "+4];\n") == 7);
        CHECK(value("st.u32 [" + name + "+8], %r2;\nld." + space + ".u32 %r9, [" + name + "+8];\n") == 7);
        CHECK(value("st.v2.u32 [" + name + "+8], {1, %r2};\nld.v4.u32 {%r3, %r4, %r5, %r9}, [" + name +
                    "];\n") == 7);
        CHECK(value("st.volatile.u32 [" + name + "], %r2+1;\nld.volatile.u32 %r9, [" + name + "];\n") == 8);
        CHECK(value("st.u32 " + name + "[3], %r2;\nld.u32 %r9, " + name + "[1+2];\n") == 7);
    }
    CHECK(
        value("st.u32 [ms], %r2;\natom.add.u32 %r3, [ms], 3;\nred.add.u32 [ms], %r3;\nld.u32 %r9, [ms];\n") ==
        17);
    CHECK(value("mbarrier.init.b64 [bar], 1;\nmbarrier.arrive.b64 %rd5, [bar];\n"
                "mbarrier.test_wait.b64 %p1, [bar], %rd5;\nselp.u32 %r9, 5, 6, %p1;\n") == 5);
    // A register that holds the address without its window is no generic address.
    const auto wrong =
        run(kernel_text("  .shared .b32 s;\n  mov.u64 %rd1, s;\n  ld.u32 %r9, [%rd1];\n  ret;"), {0});
    CHECK(wrong.finding() == "out-of-bounds");
}

TEST_CASE("constants and initialisers with addresses") {
    const std::string module = ".const .align 4 .u32 primes[4] = {2, 3, 5, 7};\n.global .align 8 .u64 "
                               "pointer = generic(primes) + 8;\n";
    const auto outcome =
        run(kernel_text(
                "  ld.const.u32 %r2, [primes+4];\n  ld.global.u64 %rd1, [pointer];\n  ld.u32 %r3, [%rd1];\n"
                "  mad.lo.u32 %r9, %r2, 100, %r3;\n" +
                    my_address + "  st.global.u32 [%rd9], %r9;\n  ret;",
                module),
            std::vector<std::uint32_t>(32));
    REQUIRE(outcome.message().empty());
    CHECK(outcome.words[31] == 305);
}

TEST_CASE("an access past the end of an allocation says how far") {
    const auto outcome = run(kernel_text(my_address + "  st.global.u32 [%rd9+4], %r1;\n  ret;"),
                             std::vector<std::uint32_t>(32));
    CHECK(outcome.finding() == "out-of-bounds");
    CHECK(outcome.launch.result.fault == Fault::illegal_address);
    CHECK(outcome.message().find("128 bytes") != std::string::npos);
    REQUIRE(outcome.launch.result.diagnostics[0].locations.size() == 1);
    CHECK(outcome.launch.result.diagnostics[0].locations[0].role.find("thread (31,0,0)") !=
          std::string::npos);
}

TEST_CASE("a misaligned access is an error of its own") {
    const auto outcome = run(kernel_text("  ld.global.u32 %r2, [%rd0+2];\n  ret;"), {1, 2});
    CHECK(outcome.finding() == "misaligned");
    CHECK(outcome.launch.result.fault == Fault::misaligned_address);
}

TEST_CASE("a null pointer is named") {
    const auto outcome = run(kernel_text("  mov.u64 %rd1, 0;\n  ld.global.u32 %r2, [%rd1+16];\n  ret;"), {1});
    CHECK(outcome.finding() == "out-of-bounds");
    CHECK(outcome.message().find("null pointer") != std::string::npos);
}

TEST_CASE("shared memory ends where the block's does") {
    const auto outcome = run(kernel_text("  .shared .align 4 .b8 tile[128];\n  mov.u32 %r2, tile;\n  "
                                         "st.shared.u32 [%r2+128], %r1;\n  ret;"),
                             {1});
    CHECK(outcome.finding() == "out-of-bounds");
    CHECK(outcome.message().find("128 bytes of shared memory") != std::string::npos);
}

TEST_CASE("an address outside of shared memory is named by what lies before it") {
    const auto store = [](const std::string& declaration, const std::string& address, std::uint32_t dynamic) {
        const auto outcome =
            run(kernel_text("  .shared .align 4 .b8 tile[128];\n  mov.u32 %r2, " + address +
                                ";\n  mov.u32 %r3, tile;\n  st.shared.u32 [%r2], %r1;\n  ret;",
                            declaration),
                {1}, {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, dynamic});
        return outcome.finding() + ": " + outcome.message();
    };
    const std::string dynamic = ".extern .shared .align 16 .b8 more[];\n";
    const auto says = [](const std::string& text, const std::string& part) {
        INFO(text);
        return text.starts_with("out-of-bounds: ") && text.find(part) != std::string::npos;
    };
    CHECK(says(store("", "tile+128", 0), "(right behind tile (128 bytes))"));
    CHECK(says(store("", "tile+132", 0), "(4 bytes past the end of tile (128 bytes))"));
    CHECK(says(store(dynamic, "more+4", 0), "(dynamic shared memory + 4, of which the launch gave none)"));
    CHECK(says(store(dynamic, "more+72", 64), "(8 bytes past the end of 64 bytes of dynamic shared memory)"));
    CHECK(store(dynamic, "more+60", 64) == ": ");
}

TEST_CASE("atomics return the old value and lose nothing across blocks") {
    Settings settings;
    settings.threads = 4;
    const auto outcome = run(
        kernel_text(
            "  atom.global.add.u32 %r2, [%rd0], 1;\n  red.global.max.u32 [%rd0+4], %r2;\n"
            "  red.global.add.f32 [%rd0+8], 0f3F800000;\n  atom.global.inc.u32 %r3, [%rd0+12], 6;\n  ret;"),
        {0, 0, 0, 0}, {{50, 1, 1}, {64, 1, 1}}, settings);
    REQUIRE(outcome.message().empty());
    CHECK(outcome.words[0] == 3200);
    CHECK(outcome.words[1] == 3199);
    CHECK(std::bit_cast<float>(outcome.words[2]) == 3200.0f);
    CHECK(outcome.words[3] == 3200 % 7);
}

TEST_CASE("a sum of f32 in global memory takes subnormal numbers for zero, in shared memory it does not") {
    // PTX ISA 9.7.13.5, atom.add.f32. One thread; the generic addresses are one of each memory.
    const auto outcome =
        run(kernel_text(
                "  .shared .align 4 .b32 s[2];\n  setp.ne.u32 %p1, %r1, 0;\n  @%p1 exit;\n"
                "  atom.global.add.f32 %f1, [%rd0], 0f00000001;\n  atom.add.f32 %f1, [%rd0+4], 0f00000001;\n"
                "  red.global.add.v2.f32 [%rd0+8], {0f80000001, 0f00000001};\n"
                "  st.shared.u32 [s], 0x00800000;\n  st.shared.u32 [s+4], 3;\n"
                "  atom.shared.add.f32 %f1, [s], 0f80000001;\n"
                "  mov.u32 %r2, s;\n  cvt.u64.u32 %rd1, %r2;\n  cvta.shared.u64 %rd1, %rd1;\n"
                "  atom.add.f32 %f1, [%rd1+4], 0f00000002;\n"
                "  ld.shared.u32 %r3, [s];\n  st.global.u32 [%rd0+16], %r3;\n"
                "  ld.shared.u32 %r3, [s+4];\n  st.global.u32 [%rd0+20], %r3;\n  ret;"),
            {0x8a69731c, 3, 0x00800000, 0x007fffff, 0, 0});
    REQUIRE(outcome.message().empty());
    CHECK(outcome.words == std::vector<std::uint32_t>{0x8a69731c, 0, 0x00800000, 0, 0x007fffff, 5});
}

TEST_CASE("min and max of halves in memory order the zeros and prefer numbers") {
    // Low halves: -0 and +0, a NaN and 1; upper halves: +0 and -0, 0 and a NaN.
    const std::vector<std::uint32_t> words{0x00008000, 0x00007fff};
    const auto reduced = [&](const std::string& what, const std::string& one) {
        const auto outcome = run(
            kernel_text("  .reg .b16 %h<4>;\n  setp.ne.u32 %p1, %r1, 0;\n  @%p1 exit;\n  mov.u16 %h0, 0;\n"
                        "  mov.u16 %h1, 0x8000;\n  mov.u16 %h2, " +
                        one +
                        ";\n  mov.u16 %h3, 0xffff;\n"
                        "  red.global." +
                        what +
                        " [%rd0], {%h0, %h1};\n"
                        "  red.global." +
                        what + " [%rd0+4], {%h2, %h3};\n  ret;"),
            words);
        REQUIRE(outcome.message().empty());
        return std::vector<std::uint32_t>{outcome.words[0], outcome.words[1]};
    };
    CHECK(reduced("min.noftz.v2.f16", "0x3c00") == std::vector<std::uint32_t>{0x80008000, 0x00003c00});
    CHECK(reduced("max.noftz.v2.f16", "0x3c00") == std::vector<std::uint32_t>{0x00000000, 0x00003c00});
    CHECK(reduced("min.noftz.v2.bf16", "0x3f80") == std::vector<std::uint32_t>{0x80008000, 0x00003f80});
    CHECK(reduced("max.noftz.v2.bf16", "0x3f80") == std::vector<std::uint32_t>{0x00000000, 0x00003f80});
}

TEST_CASE("compare-and-swap and exchange") {
    const auto outcome = run(
        kernel_text("  setp.ne.u32 %p1, %r1, 0;\n  @%p1 exit;\n  atom.global.cas.b32 %r2, [%rd0], 5, 9;\n"
                    "  atom.global.cas.b32 %r3, [%rd0], 5, 77;\n  atom.global.exch.b32 %r4, [%rd0+4], 8;\n"
                    "  st.global.u32 [%rd0+8], %r2;\n  st.global.u32 [%rd0+12], %r3;\n  st.global.u32 "
                    "[%rd0+16], %r4;\n  ret;"),
        {5, 6, 0, 0, 0});
    CHECK(outcome.words == std::vector<std::uint32_t>{9, 8, 5, 9, 6});
}

TEST_CASE("a kernel without parameters needs no bytes of them") {
    Device device(Settings{}, make_reporter());
    const auto program =
        device.load(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n");
    const LaunchOutcome outcome = device.launch(*program, "k", {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0, false},
                                                std::span<const std::byte>());
    CHECK(outcome.error == LaunchError::none);
    CHECK(outcome.result.diagnostics.empty());
}

TEST_CASE("what was never freed is known, without the emulator's own") {
    Device device(Settings{}, make_reporter());
    GlobalMemory& memory = device.memory();
    const Address kept = memory.allocate(400, Allocation::Kind::device);
    const Address freed = memory.allocate(44, Allocation::Kind::device);
    memory.allocate(8, Allocation::Kind::managed);
    const auto program =
        device.load(".version 8.0\n.target sm_90\n.address_size 64\n.global .align 4 .b8 table[64];\n");
    REQUIRE(memory.release(freed));
    const auto left = memory.unfreed();
    REQUIRE(left.size() == 2);
    CHECK(left[0].base == kept);
    CHECK(left[0].size == 400);
    CHECK(left[1].size == 8);
}

namespace {

using State = AddressFacts::State;

void skip_where_nothing_can_be_closed() {
#if defined(__wasm__)
    SKIP("WebAssembly has one memory, all of which everybody in it may touch, and no signals");
#endif
}

MachineSettings closed_settings() {
    MachineSettings settings;
    settings.closed_memory = true;
    return settings;
}

} // namespace

TEST_CASE("closed memory: the bytes of device memory are elsewhere, those that the host may touch are not") {
    skip_where_nothing_can_be_closed();
    GlobalMemory memory(1u << 30, true);
    const Address device = memory.allocate(400, Allocation::Kind::device);
    const Address variable = memory.allocate(8, Allocation::Kind::module, "shared_number", 256, true);
    CHECK(memory.bytes(device) != reinterpret_cast<std::byte*>(device));
    CHECK(memory.bytes(device + 399) == memory.bytes(device) + 399);
    CHECK(memory.bytes(device)[399] == std::byte{0xff});
    for (const Address open : {variable, memory.allocate(8, Allocation::Kind::managed),
                               memory.allocate(8, Allocation::Kind::host)}) {
        CHECK(memory.bytes(open) == reinterpret_cast<std::byte*>(open));
        CHECK(*reinterpret_cast<std::byte*>(open) == std::byte{0xff});
        CHECK_FALSE(memory.facts_of(open).closed);
    }
    const int own = 0;
    const auto here = reinterpret_cast<Address>(&own);
    CHECK(memory.bytes(here) == reinterpret_cast<const std::byte*>(&own));
    CHECK(memory.facts_of(here).state == State::outside);
    GlobalMemory plain(1u << 30);
    const Address open = plain.allocate(400, Allocation::Kind::device);
    CHECK(plain.bytes(open) == reinterpret_cast<std::byte*>(open));
    CHECK_FALSE(plain.facts_of(open).closed);
}

TEST_CASE("behind an allocation lie zeros, whoever had the memory before") {
    constexpr std::uint64_t capacity = 8u << 20, behind = 512;
    // The first one leaves other bytes behind; where memory comes from malloc(), the second one gets the
    // same.
    for (int round = 0; round < 2; ++round) {
        GlobalMemory memory(capacity);
        Address base = 0;
        for (int i = 0; i < 4; ++i) {
            base = memory.allocate(1001, Allocation::Kind::device);
            REQUIRE(base != 0);
            const std::byte* const end = memory.bytes(base) + 1001;
            CHECK(end[-1] == std::byte{0xff});
            CHECK(std::all_of(end, end + behind, [](std::byte each) { return each == std::byte{}; }));
        }
        std::memset(memory.bytes(base), 0x55, capacity);
    }
}

TEST_CASE("what a signal handler is told of an address") {
    skip_where_nothing_can_be_closed();
    GlobalMemory memory(1u << 30, true);
    const Address device = memory.allocate(400, Allocation::Kind::device);
    const AddressFacts live = memory.facts_of(device + 7);
    CHECK(live.state == State::live);
    CHECK(live.closed);
    CHECK(live.base == device);
    CHECK(live.size == 400);
    CHECK(memory.facts_of(device - 16).state == State::never);
    CHECK(memory.facts_of(device + 400).state == State::never);
    const Address managed = memory.allocate(8, Allocation::Kind::managed);
    REQUIRE(memory.release(managed));
    const AddressFacts freed = memory.facts_of(managed);
    CHECK(freed.state == State::freed);
    CHECK(freed.closed);
    CHECK(freed.kind == Allocation::Kind::managed);
    const Address variable = memory.allocate(8, Allocation::Kind::module, "a_variable");
    CHECK(std::string(memory.facts_of(variable).name.data()) == "a_variable");
}

TEST_CASE("memory that the host may touch is open while it is allocated, in whatever order it is freed") {
    constexpr std::uint64_t page = 4096, capacity = 8u << 20;
    GlobalMemory memory(capacity, true);
    std::vector<Address> kept;
    std::uint32_t random = 1;
    // Much more than there are addresses, so that freed ones come again.
    for (int i = 0; i < 20000; ++i) {
        random = random * 1664525 + 1013904223;
        const Address base = memory.allocate(2 * page, Allocation::Kind::managed);
        REQUIRE(base != 0);
        REQUIRE_FALSE(memory.facts_of(base).closed);
        *reinterpret_cast<volatile char*>(base) = 1;
        kept.push_back(base);
        if (kept.size() < 64)
            continue;
        const std::size_t gone = (random >> 8) % kept.size();
        REQUIRE(memory.release(kept[gone]));
        kept[gone] = kept.back();
        kept.pop_back();
        for (const Address each : kept)
            *reinterpret_cast<volatile char*>(each) = 2;
    }
}

TEST_CASE("kernels do in closed memory what they do in open memory") {
    Device device(closed_settings(), make_reporter());
    const auto program = device.load(kernel_text("  ld.global.u32 %r2, [%rd0];\n  add.u32 %r2, %r2, 1;\n"
                                                 "  st.global.u32 [%rd0+4], %r2;\n  ret;"));
    const Address address = device.memory().allocate(8, Allocation::Kind::device);
    auto* const words = reinterpret_cast<std::uint32_t*>(device.memory().bytes(address));
    words[0] = 41;
    const LaunchOutcome outcome = device.launch(*program, "k", {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0, false},
                                                std::as_bytes(std::span(&address, 1)));
    CHECK(outcome.error == LaunchError::none);
    CHECK(outcome.result.diagnostics.empty());
    CHECK(words[1] == 42);
}
