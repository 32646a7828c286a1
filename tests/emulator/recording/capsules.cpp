// Recorded launches: what is written is read again, a replay is the launch once more, and what is damaged is
// refused.

#include "capsule_support.hpp"
#include "recording/capsule_bytes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace emu;
using namespace capsule_tests;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Every launch of the capsule, as it was recorded.
Run replay(const Capsule& capsule) {
    Run run;
    for (std::size_t i = 0; i < capsule.launches.size(); ++i) {
        Settings settings = capsule.launches[i].settings;
        settings.threads = 1;
        Replay again(capsule, i, settings);
        auto counting = std::make_unique<Counters>("");
        const Counters& counters = *counting;
        again.device().add_observer(std::move(counting));
        const auto outcome = again.run();
        CHECK(outcome.error == LaunchError::none);
        CHECK(again.comparable());
        CHECK(again.differing().empty());
        for (const Diagnostic& each : outcome.result.diagnostics)
            run.findings.push_back(format_json(each));
        for (const LaunchCounts& each : counters.launches())
            run.counters.push_back(Counters::json(each));
        for (const auto& piece : capsule.launches[i].memory.pieces)
            if (piece.allocation.size == 512 && piece.allocation.kind == Allocation::Kind::device) {
                run.words.resize(128);
                std::memcpy(run.words.data(), again.device().memory().bytes(piece.allocation.base), 512);
            }
    }
    return run;
}

/// Why the bytes are no capsule; "" if they are one.
std::string refusal(std::span<const std::byte> bytes) {
    try {
        read_capsule(bytes);
        return {};
    } catch (const CapsuleError& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("a replay has the findings, counters and results of the recorded launches") {
    bool broken = false;
    SECTION("a right kernel") { broken = false; }
    SECTION("a kernel with a race") { broken = true; }
    const File file("capsules.replay");
    const Run run = record(file.name(), text(broken ? "" : "bar.sync 0;"));
    CHECK(run.findings.empty() != broken);
    const Capsule capsule = read_capsule(file.bytes());
    REQUIRE(capsule.launches.size() == 2);
    CHECK(capsule.modules.size() == 1);
    CHECK_FALSE(capsule.cut);
    CHECK(capsule.launches[1].serial == 2);
    CHECK(capsule.launches[1].name == "k");
    const Run again = replay(capsule);
    CHECK(again.findings == run.findings);
    CHECK(again.counters == run.counters);
    CHECK(again.words == run.words);
}

TEST_CASE("a replay of closed memory has the addresses of the program") {
    const File file("capsules.closed");
    Settings settings;
    settings.closed_memory = true;
    const Run run = record(file.name(), text(), settings);
    const Run again = replay(read_capsule(file.bytes()));
    CHECK(again.words == run.words);
}

TEST_CASE("variables of the module have the values of the launch, not those of the text") {
    const File file("capsules.variables");
    record(file.name(), text());
    const Capsule capsule = read_capsule(file.bytes());
    for (std::size_t i = 0; i < 2; ++i) {
        Replay again(capsule, i, capsule.launches[i].settings);
        REQUIRE(again.run().error == LaunchError::none);
        for (const auto& piece : capsule.launches[i].memory.pieces)
            if (piece.allocation.name == "calls") {
                std::uint32_t calls = 0;
                std::memcpy(&calls, again.device().memory().bytes(piece.allocation.base), 4);
                CHECK(calls == 8 + i);
            }
    }
}

TEST_CASE("only the launches that are wished for are recorded, by number or name") {
    const File file("capsules.only");
    record(file.name(), text(), {}, "2");
    CHECK(read_capsule(file.bytes()).launches.at(0).serial == 2);
    record(file.name(), text(), {}, "other,k");
    CHECK(read_capsule(file.bytes()).launches.size() == 2);
    record(file.name(), text(), {}, "other");
    CHECK(read_capsule(file.bytes()).launches.empty());
}

TEST_CASE("results that differ from the recorded ones are told") {
    const File file("capsules.results");
    record(file.name(), text());
    Capsule capsule = read_capsule(file.bytes());
    capsule.launches[0].parameters[8] = std::byte{4}; // Another factor.
    Replay again(capsule, 0, capsule.launches[0].settings);
    REQUIRE(again.run().error == LaunchError::none);
    CHECK(again.differing().size() == 1);
}

TEST_CASE("a launch that is not there is refused") {
    const File file("capsules.missing");
    record(file.name(), text());
    const Capsule capsule = read_capsule(file.bytes());
    CHECK_THROWS_AS(Replay(capsule, 2, {}), CapsuleError);
}

TEST_CASE("bytes that are no capsule are refused in one line") {
    const std::string other = "not a capsule at all, but long enough";
    CHECK(refusal(std::as_bytes(std::span(other))) == "it is no recording of launches");
    CHECK_THROWS_AS(read_capsule({}), CapsuleError);
    const File file("capsules.format");
    record(file.name(), text());
    auto bytes = file.bytes();
    bytes[capsule::magic.size()] = std::byte{9};
    CHECK_THAT(refusal(bytes), ContainsSubstring("it is of format 9"));
}

TEST_CASE("a capsule that was cut off has the launches before the cut") {
    const File file("capsules.cut");
    record(file.name(), text());
    const auto bytes = file.bytes();
    const std::size_t head = capsule::magic.size() + 4;
    std::size_t most = 0;
    for (std::size_t size = head; size < bytes.size(); size += 7) {
        const Capsule part = read_capsule(std::span(bytes).first(size));
        CHECK(part.launches.size() >= most);
        most = std::max(most, part.launches.size());
        if (size % 5 == 0 && !part.launches.empty())
            CHECK(Replay(part, 0, {}).run().error == LaunchError::none);
    }
    CHECK(most == 2);
}

TEST_CASE("a flipped bit is told") {
    const File file("capsules.flipped");
    record(file.name(), text());
    const auto good = file.bytes();
    std::mt19937 random(11);
    unsigned refused = 0, tried = 0;
    for (std::size_t at = 0; at < good.size(); at += 1 + random() % 29, ++tried) {
        auto bytes = good;
        bytes[at] ^= std::byte{static_cast<unsigned char>(1u << random() % 8)};
        try {
            // Nothing but the size of a record can be changed so that it seems to be cut off.
            refused += read_capsule(bytes).cut;
        } catch (const CapsuleError& error) {
            ++refused;
            CHECK_THAT(error.what(), !ContainsSubstring("\n"));
        }
    }
    CHECK(refused == tried);
}

TEST_CASE("damage that carries the right digest is refused or runs, and nothing else happens") {
    const File file("capsules.forged");
    record(file.name(), text());
    const auto good = file.bytes();
    std::mt19937 random(17);
    // Where the records begin.
    std::vector<std::size_t> records;
    const auto fixed = [&](std::size_t at) {
        std::uint64_t value = 0;
        std::memcpy(&value, good.data() + at, 8);
        return value;
    };
    for (std::size_t at = capsule::magic.size() + 4; at < good.size(); at += 17 + fixed(at + 1))
        records.push_back(at);
    REQUIRE(records.size() > 5);
    unsigned refused = 0, ran = 0;
    for (unsigned i = 0; i < 3000; ++i) {
        auto bytes = good;
        const std::size_t record = records[random() % records.size()];
        const std::size_t size = fixed(record + 1);
        if (std::to_integer<char>(bytes[record]) == 'P') // Damaged PTX has tests of its own.
            continue;
        for (unsigned flips = 1 + random() % 3; flips > 0; --flips)
            bytes[record + 17 + random() % size] = std::byte{static_cast<unsigned char>(random())};
        const std::uint64_t digest = memory_digest(std::span(bytes).subspan(record + 17, size));
        std::memcpy(bytes.data() + record + 9, &digest, 8);
        try {
            const Capsule capsule = read_capsule(bytes);
            for (std::size_t launch = 0; launch < capsule.launches.size(); ++launch) {
                const LaunchConfig& config = capsule.launches[launch].config;
                if (config.grid.volume() * config.block.volume() > 4096)
                    continue; // It may be a launch that takes hours.
                Settings settings = capsule.launches[launch].settings;
                settings.threads = 1;
                Replay(capsule, launch, settings).run();
                ++ran;
            }
        } catch (const CapsuleError&) {
            ++refused;
        }
    }
    CHECK(refused > 100);
    CHECK(ran > 100);
}
