// Damaged and forged capsules: read and replayed, or refused in one line, never a crash, an endless loop or a
// byte outside. Built with -fsanitize=address,undefined this test is worth most. EMULATOR_FUZZ_SECONDS makes
// it run longer, EMULATOR_SEED makes other injuries, EMULATOR_FUZZ_LAST names a file for the seed that was
// tried last.
#include "capsule_support.hpp"
#include "recording/capsule_launch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <chrono>
#include <cstdlib>
#include <limits>

using namespace emu;
using namespace capsule_tests;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A whole number from the environment, or `otherwise`.
unsigned number_from(const char* variable, unsigned otherwise) {
    const char* text = std::getenv(variable);
    return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

/// Two blocks of a cluster: the first thread of each fills its tile by a bulk copy, all wait for it and store
/// what they find there, and what the other block has.
constexpr const char* cluster_text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 factor)
{
    .reg .pred %p<3>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    .shared .align 16 .b8 tile[256];
    .shared .align 8 .b64 full;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %cluster_ctarank;
    mul.wide.u32 %rd2, %r2, 256;
    add.s64 %rd1, %rd1, %rd2;
    mov.u32 %r3, full;
    mov.u32 %r4, tile;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra ALL;
    mbarrier.init.shared.b64 [%r3], 1;
    fence.proxy.async;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], 256, [%r3];
ALL:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;
    @!%p2 bra WAIT;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    shl.b32 %r5, %r1, 2;
    add.u32 %r4, %r4, %r5;
    xor.b32 %r6, %r2, 1;
    mapa.shared::cluster.u32 %r7, %r4, %r6;
    ld.shared::cluster.u32 %r8, [%r7];
    cvt.u64.u32 %rd3, %r5;
    add.s64 %rd3, %rd1, %rd3;
    st.global.u32 [%rd3], %r8;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;
}
)";

/// One record of a capsule.
struct Piece {
    std::byte kind{};
    std::vector<std::byte> bytes;
};

constexpr std::size_t file_head = capsule::magic.size() + 4, record_head = 1 + 8 + 8;

/// A file as its records.
std::vector<Piece> take_apart(std::span<const std::byte> file) {
    std::vector<Piece> pieces;
    for (file = file.subspan(file_head); !file.empty();) {
        std::uint64_t size = 0;
        std::memcpy(&size, file.data() + 1, 8);
        const auto bytes = file.subspan(record_head, static_cast<std::size_t>(size));
        pieces.push_back({file[0], {bytes.begin(), bytes.end()}});
        file = file.subspan(record_head + bytes.size());
    }
    return pieces;
}

/// The records as a file with the right sizes and digests.
std::vector<std::byte> put_together(const std::vector<Piece>& pieces) {
    capsule::Writer out;
    out.plain(std::as_bytes(std::span(capsule::magic)));
    out.fixed(capsule::format, 4);
    for (const Piece& piece : pieces) {
        out.plain({&piece.kind, 1});
        out.fixed(piece.bytes.size(), 8);
        out.fixed(memory_digest(piece.bytes), 8);
        out.plain(piece.bytes);
    }
    return {out.bytes().begin(), out.bytes().end()};
}

/// Capsules with every kind of record.
const std::vector<std::vector<std::byte>>& originals() {
    static const std::vector<std::vector<std::byte>> all = [] {
        std::vector<std::vector<std::byte>> files;
        Settings closed;
        closed.closed_memory = true;
        for (const auto& [ptx, settings] : {std::pair(text(), Settings()), std::pair(text(""), closed),
                                            std::pair(std::string(cluster_text), Settings())}) {
            const File file("capsules.damage");
            record(file.name(), ptx, settings, {}, ptx == cluster_text ? 2 : 1);
            files.push_back(file.bytes());
        }
        return files;
    }();
    return all;
}

class Damage {
  public:
    explicit Damage(std::uint32_t seed) : random_(seed) {}

    /// One of the originals with an injury, some with several; most have right sizes and digests.
    std::vector<std::byte> injured() {
        std::vector<std::byte> file = originals()[below(originals().size())];
        if (below(8) == 0) {
            injure(file);
            return file;
        }
        std::vector<Piece> pieces = take_apart(file);
        for (std::size_t count = below(3) ? 1 : 1 + below(6); count > 0; --count)
            if (below(10) == 0)
                injure_order(pieces);
            else if (!pieces.empty())
                injure(pieces[below(pieces.size())].bytes);
        return put_together(pieces);
    }

  private:
    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
    }

    void injure_order(std::vector<Piece>& pieces) {
        if (pieces.empty())
            return;
        const auto one = pieces.begin() + static_cast<std::ptrdiff_t>(below(pieces.size()));
        switch (below(4)) {
        case 0:
            pieces.erase(one);
            break;
        case 1:
            pieces.push_back(*one);
            break;
        case 2:
            std::swap(*one, pieces[below(pieces.size())]);
            break;
        default:
            one->kind = pieces[below(pieces.size())].kind;
        }
    }

    /// A number as a record has it: of all sizes, and at their ends.
    std::vector<std::byte> number() {
        constexpr std::uint64_t ends[] = {
            0,          1,          31,         32,         33,
            1023,       1024,       4096,       1u << 20,   0x7fffffff,
            0xffffffff, 1ull << 32, 1ull << 47, 1ull << 63, std::numeric_limits<std::uint64_t>::max()};
        capsule::Writer out;
        out.number(ends[below(std::size(ends))] + below(3) - 1);
        return {out.bytes().begin(), out.bytes().end()};
    }

    void injure(std::vector<std::byte>& bytes) {
        if (bytes.empty())
            bytes.push_back(std::byte{0});
        const std::size_t at = below(bytes.size());
        const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        const auto some =
            static_cast<std::ptrdiff_t>(1 + below(std::min<std::size_t>(16, bytes.size() - at)));
        switch (below(14)) { // Most leave the rest where it was, or few would be read to their ends.
        case 0:
        case 1:
            *place = static_cast<std::byte>(below(256));
            break;
        case 5:
        case 6:
        case 7:
        case 8:
            *place ^= std::byte{1} << below(8);
            break;
        case 2:
            bytes.erase(place, place + some);
            break;
        case 3: { // A stretch twice.
            const std::vector<std::byte> copy(place, place + some);
            bytes.insert(place, copy.begin(), copy.end());
            break;
        }
        case 4:
            bytes.resize(at);
            break;
        default: { // Another number: in place of this one, most often.
            auto end = place;
            while (end != bytes.end() && std::to_integer<unsigned>(*end) >= 0x80)
                ++end;
            const auto next = bytes.erase(place, end == bytes.end() ? end : end + 1);
            const auto put = number();
            bytes.insert(next, put.begin(), put.end());
        }
        }
    }

    std::mt19937 random_;
};

void require_one_line(const std::string& text) {
    if (text.empty() || text.find('\n') != std::string::npos)
        throw std::logic_error("no single line: " + text);
}

struct Outcomes {
    unsigned unread = 0, refused = 0, ran = 0;
};

/// Reads and replays; whatever is thrown beside a CapsuleError of one line leaves it.
void try_all(std::span<const std::byte> bytes, Outcomes& outcomes) {
    Capsule capsule;
    try {
        capsule = read_capsule(bytes);
    } catch (const CapsuleError& error) {
        require_one_line(error.what());
        ++outcomes.unread;
        return;
    }
    for (std::size_t launch = 0; launch < capsule.launches.size(); ++launch)
        try {
            Settings settings = capsule.launches[launch].settings;
            settings.threads = 1;
            settings.most_instructions = 200'000;
            Replay replay(capsule, launch, settings);
            const LaunchOutcome outcome = replay.run();
            if (outcome.error != LaunchError::none)
                require_one_line(outcome.message);
            for (const Diagnostic& each : outcome.result.diagnostics)
                require_one_line(format_json(each));
            if (replay.comparable())
                static_cast<void>(replay.differing());
            ++(outcome.error == LaunchError::none ? outcomes.ran : outcomes.refused);
        } catch (const CapsuleError& error) {
            require_one_line(error.what());
            ++outcomes.refused;
        }
}

/// A file with this launch of the first of the originals, whose every allocation holds the same bytes.
std::vector<std::byte> forged(const CapsuleLaunch& launch, const std::vector<std::byte>& bytes) {
    capsule::Writer shared, body;
    shared.runs(bytes);
    capsule::write_launch(body, launch, [](std::span<const std::byte>) { return std::uint64_t{0}; });
    const auto piece = [](capsule::Record kind, const capsule::Writer& from) {
        return Piece{static_cast<std::byte>(kind), {from.bytes().begin(), from.bytes().end()}};
    };
    return put_together({take_apart(originals()[0])[0], piece(capsule::Record::bytes, shared),
                         piece(capsule::Record::launch, body)});
}

/// Why the launch cannot be read, or not replayed.
std::string refusal(std::span<const std::byte> file) {
    try {
        const Capsule capsule = read_capsule(file);
        Replay(capsule, 0, {}).run();
        return {};
    } catch (const CapsuleError& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("a small file cannot ask for much memory, nor for addresses that were never given") {
    CapsuleLaunch launch = read_capsule(originals()[0]).launches[0];
    const std::vector<std::byte> bytes(std::size_t{1} << 20);
    const auto shared = std::make_shared<const std::vector<std::byte>>(bytes);
    REQUIRE(static_cast<char>(take_apart(originals()[0])[0].kind) == 'P');
    const MemoryImage::Piece first = launch.memory.pieces.at(0);
    launch.awaited.clear();
    const auto pieces = [&](std::size_t count) {
        launch.memory.pieces.clear();
        for (std::size_t i = 0; i < count; ++i) {
            MemoryImage::Piece piece = first;
            piece.allocation.base = launch.memory.device.begin + i * bytes.size();
            piece.allocation.size = bytes.size();
            piece.bytes = shared;
            piece.written_words = nullptr;
            launch.memory.pieces.push_back(piece);
        }
        launch.memory.device.next = count * bytes.size();
    };
    SECTION("more bytes than a recorder takes") {
        pieces(257);
        CHECK_THAT(refusal(forged(launch, bytes)), ContainsSubstring("more memory than a recorder takes"));
    }
    SECTION("written words of another size") {
        pieces(1);
        launch.memory.pieces[0].written_words = std::make_shared<const std::vector<std::uint64_t>>(4);
        CHECK_THAT(refusal(forged(launch, bytes)), ContainsSubstring("other written words"));
    }
    SECTION("an allocation behind the last that was given") {
        pieces(2);
        launch.memory.device.next = bytes.size();
        CHECK_THAT(refusal(forged(launch, bytes)), ContainsSubstring("never given"));
    }
    SECTION("addresses that no process has") {
        pieces(1);
        launch.memory.device.size = ~std::uint64_t{0};
        CHECK_THAT(refusal(forged(launch, bytes)), ContainsSubstring("addresses without sense"));
    }
    SECTION("a capacity that leaves no room for the module's variables") {
        pieces(1);
        launch.memory.capacity = bytes.size();
        CHECK_THAT(refusal(forged(launch, bytes)), ContainsSubstring("do not fit in device memory: table"));
    }
    SECTION("a capacity that would let a module take all memory") {
        pieces(1);
        launch.memory.capacity = std::uint64_t{1} << 56;
        launch.memory.device.size = std::uint64_t{1} << 56;
        const auto file = forged(launch, bytes);
        const Capsule capsule = read_capsule(file);
        Replay replay(capsule, 0, {});
        CHECK(replay.device().memory().capacity() < std::uint64_t{2} << 30);
    }
}

TEST_CASE("injured capsules are refused in one line or run") {
    const std::uint32_t first = number_from("EMULATOR_SEED", 20260101);
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::seconds(number_from("EMULATOR_FUZZ_SECONDS", 0));
    const char* const last = std::getenv("EMULATOR_FUZZ_LAST");
    Outcomes outcomes;
    constexpr std::uint32_t at_least = 2000;
    for (std::uint32_t i = 0; i < at_least || std::chrono::steady_clock::now() < end; ++i) {
        INFO("EMULATOR_SEED=" << first + i);
        if (last)
            std::ofstream(last) << first + i << '\n';
        try_all(Damage(first + i).injured(), outcomes);
    }
    INFO(outcomes.unread << " not read, " << outcomes.refused << " refused, " << outcomes.ran << " ran");
    CHECK(outcomes.unread > at_least / 10);
    CHECK(outcomes.refused > at_least / 20);
    CHECK(outcomes.ran > at_least / 10);
}

TEST_CASE("records that are taken apart and put together again are the file") {
    for (const auto& file : originals())
        CHECK(put_together(take_apart(file)) == file);
}
