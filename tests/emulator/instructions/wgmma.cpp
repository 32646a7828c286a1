// wgmma.mma_async: small integers, whose sums are exact in every order, against a plain loop on the host; and
// when results are there.

#include "machine/async_support.hpp"

#include <bit>
#include <map>

using namespace async_test;

namespace {

constexpr unsigned rows = 64, depth = 16, threads = 128;
constexpr std::uint32_t room = 20480; ///< Bytes for each of the two operands.

std::uint16_t bf16(int value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

/// An operand, lines by k: rows of A, or columns of B.
int element(bool of_b, unsigned line, unsigned k) {
    return static_cast<int>((line * 7 + k * 5 + (of_b ? 3 : 0)) % 11) - 5;
}

/// How a tile lies in shared memory.
struct Layout {
    unsigned pitch;        ///< Bytes of a line of the pattern: 16 without a swizzle, 32, 64 or 128.
    bool along_lines;      ///< "MN-major".
    std::uint32_t leading; ///< Byte offsets of the descriptor.
    std::uint32_t stride;

    /// Where an element of two bytes lies (PTX ISA 9.0, 9.7.15.5.1).
    std::uint32_t at(unsigned line, unsigned k) const {
        std::uint32_t address = 0;
        if (pitch == 16 && !along_lines)
            address = line / 8 * stride + line % 8 * 16 + k / 8 * leading + k % 8 * 2;
        else if (pitch == 16)
            address = line / 8 * stride + line % 8 * 2 + k / 8 * leading + k % 8 * 16;
        else if (!along_lines)
            address = line / 8 * stride + line % 8 * pitch + k * 2;
        else
            address = line / (pitch / 2) * leading + line % (pitch / 2) * 2 + k / 8 * stride + k % 8 * pitch;
        const std::map<unsigned, std::uint32_t> masks{{16, 0}, {32, 1}, {64, 3}, {128, 7}};
        return address ^ (address >> 7 & masks.at(pitch)) << 4;
    }
    std::uint64_t descriptor() const {
        const std::map<unsigned, std::uint64_t> modes{{16, 0}, {128, 1}, {64, 2}, {32, 3}};
        return std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 | modes.at(pitch) << 62;
    }
};

/// Without a swizzle, by lines of k: what most tests use.
const Layout plain{16, false, 128, 256};

/// The bytes of both operands.
std::vector<std::uint32_t> tiles(const Layout& a, const Layout& b, unsigned n) {
    std::vector<std::uint32_t> words(2 * room / 4);
    const auto put = [&](std::uint32_t byte, int value) {
        words[byte / 4] |= std::uint32_t{bf16(value)} << byte % 4 * 8;
    };
    for (unsigned k = 0; k < depth; ++k) {
        for (unsigned line = 0; line < rows; ++line)
            put(a.at(line, k), element(false, line, k));
        for (unsigned line = 0; line < n; ++line)
            put(room + b.at(line, k), element(true, line, k));
    }
    return words;
}

std::string list(unsigned count, unsigned first = 0) {
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i)
        text += (i ? ", %f" : "%f") + std::to_string(first + i);
    return text + "}";
}

/// Copies the operands from %rd0 to shared memory and makes their descriptors %rd20 and %rd21.
std::string prepared(const Layout& a, const Layout& b) {
    const std::string bytes = std::to_string(2 * room), step = std::to_string(4 * threads);
    return "mov.u32 %r9, tile;\nshl.b32 %r8, %r0, 2;\nCOPY:\ncvt.u64.u32 %rd9, %r8;\nadd.u64 %rd9, %rd0, "
           "%rd9;\n"
           "ld.global.u32 %r7, [%rd9];\nadd.u32 %r6, %r9, %r8;\nst.shared.u32 [%r6], %r7;\nadd.u32 %r8, "
           "%r8, " +
           step + ";\nsetp.lt.u32 %p0, %r8, " + bytes +
           ";\n@%p0 bra COPY;\nfence.proxy.async.shared::cta;\nbar.sync 0;\nshr.u32 %r9, %r9, 4;\n"
           "cvt.u64.u32 %rd19, %r9;\nor.b64 %rd20, %rd19, " +
           std::to_string(a.descriptor()) + ";\nadd.u64 %rd19, %rd19, " + std::to_string(room / 16) +
           ";\nor.b64 %rd21, %rd19, " + std::to_string(b.descriptor()) + ";\nsetp.eq.u32 %p1, %r0, %r0;\n";
}

/// The thread's first `count` registers from `first` on go to its place in part `part` of %rd1.
std::string stored(unsigned count, unsigned part = 0, unsigned first = 0) {
    std::string text = "mad.wide.u32 %rd10, %r0, " + std::to_string(4 * count) + ", %rd1;\n";
    for (unsigned i = 0; i < count; ++i)
        text += "st.global.f32 [%rd10+" + std::to_string(4 * (part * threads * count + i)) + "], %f" +
                std::to_string(first + i) + ";\n";
    return text;
}

std::string set_all(unsigned count, float value, unsigned first = 0) {
    std::string text;
    for (unsigned i = 0; i < count; ++i)
        text += "mov.b32 %f" + std::to_string(first + i) + ", " +
                std::to_string(std::bit_cast<std::uint32_t>(value)) + ";\n";
    return text;
}

/// The instruction without its operands, for n columns.
std::string form(unsigned n) {
    return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k16.f32.bf16.bf16 ";
}
std::string multiply(unsigned n, const std::string& immediates, const std::string& adds = "%p1") {
    return form(n) + list(n / 2) + ", %rd20, %rd21, " + adds + ", " + immediates + ";\n";
}
const std::string fence = "wgmma.fence.sync.aligned;\n", commit = "wgmma.commit_group.sync.aligned;\n";
std::string wait(int pending) { return "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";\n"; }
const std::string end = commit + wait(0);

std::string text_of(const std::string& body) {
    std::string text = kernel(2, ".shared .align 1024 .b8 tile[" + std::to_string(2 * room) + "];", body);
    text.replace(text.find("%f<8>"), 5, "%f<64>");
    return text;
}

/// What `body` leaves of `count` words for each thread.
std::vector<float> results(const std::string& body, std::size_t count, const Layout& a = plain,
                           const Layout& b = plain, unsigned n = 8,
                           const Order& order = all_orders().front()) {
    Machine machine(order);
    const auto in = machine.buffer(tiles(a, b, n)), out = machine.buffer(std::vector<float>(threads * count));
    require_clean(machine.run(text_of(prepared(a, b) + body), {in, out}, threads));
    return machine.read<float>(out, threads * count);
}

/// The product, as a thread's registers have it (PTX ISA 9.0, figure of D of wgmma.m64nNk16), `scale` times.
std::vector<float> expected(unsigned n, float scale = 1, float before = 0) {
    std::vector<float> all;
    for (unsigned thread = 0; thread < threads; ++thread)
        for (unsigned i = 0; i < n / 2; ++i) {
            const unsigned row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
            const unsigned column = i / 4 * 8 + thread % 4 * 2 + i % 2;
            int sum = 0;
            for (unsigned k = 0; k < depth; ++k)
                sum += element(false, row, k) * element(true, column, k);
            all.push_back(before + scale * static_cast<float>(sum));
        }
    return all;
}
std::vector<float> part(const std::vector<float>& all, std::size_t i, std::size_t parts) {
    const auto size = static_cast<std::ptrdiff_t>(all.size() / parts);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i) * size;
    return {begin, begin + size};
}

/// What is said against a kernel with this instruction; empty if it is taken.
std::string refusal(const std::string& instruction) {
    Machine machine;
    const auto buffer = machine.buffer(tiles(plain, plain, 8));
    try {
        return machine
            .run(text_of(prepared(plain, plain) + fence + instruction + end), {buffer, buffer}, threads)
            .message;
    } catch (const std::exception& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("wgmma multiplies tiles in every layout") {
    constexpr unsigned n = 64;
    for (const unsigned pitch : {16u, 32u, 64u, 128u})
        for (const bool along_a : {false, true})
            for (const bool along_b : {false, true}) {
                // Strides that no other layout would have.
                const auto layout = [pitch](bool along, bool b) -> Layout {
                    if (pitch == 16)
                        return along == b ? Layout{16, along, 128, 384} : Layout{16, along, 1280, 144};
                    return {pitch, along, along ? 32 * pitch : 16, along ? 8 * pitch : 16 * pitch};
                };
                const Layout a = layout(along_a, false), b = layout(along_b, true);
                const std::string immediates =
                    "1, 1, " + std::to_string(along_a) + ", " + std::to_string(along_b);
                INFO("rows of " << pitch << " bytes, A and B along their lines: " << along_a << along_b);
                CHECK(results(set_all(n / 2, 0) + fence + multiply(n, immediates) + end + stored(n / 2),
                              n / 2, a, b, n) == expected(n));
            }
}

TEST_CASE("wgmma adds, or overwrites, and takes signs") {
    const auto with = [](const std::string& immediates, const std::string& adds) {
        return results(set_all(4, 2) + "setp.ne.u32 %p2, %r0, %r0;\n" + fence +
                           multiply(8, immediates, adds) + end + stored(4),
                       4);
    };
    CHECK(with("1, 1, 0, 0", "%p1") == expected(8, 1, 2));
    CHECK(with("1, 1, 0, 0", "%p2") == expected(8));
    CHECK(with("1, 1, 0, 0", "!%p2") == expected(8, 1, 2));
    CHECK(with("-1, 1, 0, 0", "%p1") == expected(8, -1, 2));
    CHECK(with("1, -1, 0, 0", "%p1") == expected(8, -1, 2));
    CHECK(with("-1, -1, 0, 0", "%p1") == expected(8, 1, 2));
}

TEST_CASE("wgmma takes A from registers") {
    // A fragment has two elements of a row in each register: rows g and g + 8, k and k + 8.
    std::string body;
    for (unsigned i = 0; i < 4; ++i)
        body +=
            "shr.u32 %r20, %r0, 5;\nshl.b32 %r20, %r20, 4;\nand.b32 %r21, %r0, 31;\nshr.u32 %r22, %r21, 2;\n"
            "add.u32 %r20, %r20, %r22;\nadd.u32 %r20, %r20, " +
            std::to_string(i % 2 * 8) +
            ";\nshr.u32 %r22, %r20, 3;\nmul.lo.u32 %r23, %r22, 256;\n"
            "and.b32 %r22, %r20, 7;\nshl.b32 %r22, %r22, 4;\nadd.u32 %r23, %r23, %r22;\n"
            "and.b32 %r22, %r0, 3;\nshl.b32 %r22, %r22, 2;\nadd.u32 %r23, %r23, %r22;\n"
            "mov.u32 %r22, tile;\nadd.u32 %r23, %r23, %r22;\nld.shared.u32 %r1" +
            std::to_string(i) + ", [%r23+" + std::to_string(i / 2 * 128) + "];\n";
    body += set_all(4, 0) + fence + form(8) + list(4) + ", {%r10, %r11, %r12, %r13}, %rd21, %p1, 1, 1, 0;\n" +
            end + stored(4);
    CHECK(results(body, 4) == expected(8));
}

TEST_CASE("wgmma lands as late as its wait allows") {
    const std::string body = set_all(4, 7) + fence + multiply(8, "1, 1, 0, 0") + stored(4, 0) + commit +
                             stored(4, 1) + wait(0) + stored(4, 2);
    for (const Order& order : all_orders()) {
        INFO(name_of(order));
        const auto all = results(body, 12, plain, plain, 8, order);
        const std::vector<float> before(threads * 4, 7), after = expected(8, 1, 7);
        if (order.order == emu::CompletionOrder::late) {
            CHECK(part(all, 0, 3) == before);
            CHECK(part(all, 1, 3) == before);
        }
        if (order.order == emu::CompletionOrder::early)
            CHECK(part(all, 0, 3) == after);
        CHECK(part(all, 2, 3) == after);
    }
}

TEST_CASE("wgmma.wait_group leaves the newest groups in flight") {
    for (int pending = 0; pending < 8; ++pending) {
        std::string body = set_all(4, 0) + fence;
        for (int group = 0; group < 8; ++group)
            body += multiply(8, "1, 1, 0, 0") + commit;
        body += wait(pending) + stored(4, 0) + wait(0) + stored(4, 1);
        INFO(pending);
        const auto late = results(body, 8);
        CHECK(part(late, 0, 2) == expected(8, static_cast<float>(8 - pending)));
        CHECK(part(late, 1, 2) == expected(8, 8));
        CHECK(part(results(body, 8, plain, plain, 8, {emu::CompletionOrder::early, 1}), 0, 2) ==
              expected(8, 8));
    }
}

TEST_CASE("wgmma.wait_group waits for committed groups alone") {
    const std::string body = set_all(4, 0) + fence + multiply(8, "1, 1, 0, 0") + commit +
                             multiply(8, "1, 1, 0, 0") + wait(0) + stored(4, 0) + end + stored(4, 1);
    const auto late = results(body, 8);
    CHECK(part(late, 0, 2) == expected(8, 1));
    CHECK(part(late, 1, 2) == expected(8, 2));
}

TEST_CASE("copies of accumulators in flight get the results") {
    std::string copies, further;
    for (int i = 0; i < 4; ++i) {
        copies += "mov.f32 %f" + std::to_string(8 + i) + ", %f" + std::to_string(i) + ";\n";
        further += "mov.b32 %f" + std::to_string(16 + i) + ", %f" + std::to_string(8 + i) + ";\n";
    }
    const std::string body = set_all(4, 1) + fence + multiply(8, "1, 1, 0, 0") + copies + further + end +
                             stored(4, 0, 8) + stored(4, 1, 16) + stored(4, 2, 0);
    for (const Order& order : all_orders()) {
        INFO(name_of(order));
        const auto all = results(body, 12, plain, plain, 8, order);
        for (std::size_t i = 0; i < 3; ++i)
            CHECK(part(all, i, 3) == expected(8, 1, 1));
    }
}

TEST_CASE("a descriptor that leads out of shared memory is told") {
    for (const std::string reg : {"%rd20", "%rd21"}) {
        Machine machine;
        const auto buffer = machine.buffer(tiles(plain, plain, 8));
        const std::string outside =
            "or.b64 " + reg + ", " + reg + ", 16320;\n"; // Its start is 0x3fc00 at least.
        const auto outcome = machine.run(text_of(prepared(plain, plain) + outside + set_all(4, 0) + fence +
                                                 multiply(8, "1, 1, 0, 0") + end),
                                         {buffer, buffer}, threads);
        require_finding(outcome, "out-of-bounds", reg == "%rd20" ? "matrix A of wgmma" : "matrix B of wgmma");
    }
}

TEST_CASE("forms of wgmma that do not exist are refused") {
    const std::string four = list(4) + ", %rd20, %rd21, %p1, ";
    const std::string name = "wgmma.mma_async.sync.aligned.";
    CHECK(refusal(name + "m64n8k16.f32.bf16.bf16 " + four + "1, 1, 0, 0;\n").empty());
    for (const std::string& wrong : {
             name + "m64n12k16.f32.bf16.bf16 " + list(6) + ", %rd20, %rd21, %p1, 1, 1, 0, 0;\n",
             name + "m64n264k16.f32.bf16.bf16 " + four + "1, 1, 0, 0;\n",
             name + "m64n8k8.f32.bf16.bf16 " + four + "1, 1, 0, 0;\n",
             name + "m64n8k16.f32.bf16.f16 " + four + "1, 1, 0, 0;\n",
             name + "m64n8k16.bf16.bf16.bf16 " + four + "1, 1, 0, 0;\n",
             name + "m64n8k16.satfinite.f32.bf16.bf16 " + four + "1, 1, 0, 0;\n",
             name + "m64n8k16.f32.bf16.bf16 " + four + "1, 2, 0, 0;\n",
             name + "m64n8k16.f32.bf16.bf16 " + four + "1, 1, 0, 2;\n",
             name + "m64n8k16.f32.bf16.bf16 " + four + "1, 1, 0;\n",
             name + "m64n8k16.f32.bf16.bf16 " + list(8) + ", %rd20, %rd21, %p1, 1, 1, 0, 0;\n",
             name + "m64n8k8.f32.tf32.tf32 " + four + "1, 1, 0, 0;\n", // Tiles of 32 bits lie along k alone.
             std::string("wgmma.mma_async.aligned.m64n8k16.f32.bf16.bf16 ") + four + "1, 1, 0, 0;\n",
             std::string("wgmma.wait_group.sync.aligned -1;\n"),
         }) {
        INFO(wrong);
        CHECK_FALSE(refusal(wrong).empty());
    }
    CHECK(refusal(name + "m64n8k8.f32.tf32.tf32 " + four + "1, 1;\n").empty());
}
