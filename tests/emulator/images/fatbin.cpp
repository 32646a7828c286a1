// The fat-binary reader: what nvcc writes, and damaged input.

#include "images/fatbin.hpp"
#include "images/cubin.hpp"

#include <catch2/catch_test_macros.hpp>
#include <lz4.h>
#include <zstd.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace emu::cuda;

namespace {

using Bytes = std::vector<std::byte>;

template <class T>
void append(Bytes& bytes, T value) {
    const auto* raw = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
}

struct Part {
    FatbinEntry::Kind kind = FatbinEntry::Kind::ptx;
    std::uint32_t target = 90;
    std::uint64_t flags = 0x11;
    std::string text;
    enum Packing { none, lz4, zstd } packing = none;
};

std::string pack(const Part& part) {
    if (part.packing == Part::zstd) {
        std::string out(ZSTD_compressBound(part.text.size()), '\0');
        out.resize(ZSTD_compress(out.data(), out.size(), part.text.data(), part.text.size(), 3));
        return out;
    }
    if (part.packing == Part::lz4) {
        const int size = static_cast<int>(part.text.size());
        std::string out(static_cast<std::size_t>(LZ4_compressBound(size)), '\0');
        out.resize(static_cast<std::size_t>(
            LZ4_compress_default(part.text.data(), out.data(), size, static_cast<int>(out.size()))));
        return out;
    }
    return part.text + '\0';
}

/// A container as nvcc 13 lays it out (seen with and without compression).
Bytes container(const std::vector<Part>& parts) {
    Bytes body;
    for (const Part& part : parts) {
        const std::string stored = pack(part);
        const std::size_t padded = (stored.size() + 7) / 8 * 8;
        append<std::uint16_t>(body, static_cast<std::uint16_t>(part.kind));
        append<std::uint16_t>(body, 0x101);
        append<std::uint32_t>(body, 64);
        append<std::uint64_t>(body, padded);
        append<std::uint32_t>(body, part.packing ? static_cast<std::uint32_t>(stored.size()) : 0);
        append<std::uint32_t>(body, 0);
        append<std::uint32_t>(body, 0x90000);
        append<std::uint32_t>(body, part.target);
        append<std::uint64_t>(body, 0);
        append<std::uint64_t>(body, part.flags | (part.packing == Part::zstd  ? 0x8000u
                                                  : part.packing == Part::lz4 ? 0x2000u
                                                                              : 0u));
        append<std::uint64_t>(body, 0);
        append<std::uint64_t>(body, part.packing ? part.text.size() : 0);
        for (const char c : stored)
            body.push_back(static_cast<std::byte>(c));
        body.resize(body.size() + padded - stored.size());
    }
    Bytes whole;
    append<std::uint32_t>(whole, fatbin_container_magic);
    append<std::uint16_t>(whole, 1);
    append<std::uint16_t>(whole, 16);
    append<std::uint64_t>(whole, body.size());
    whole.insert(whole.end(), body.begin(), body.end());
    return whole;
}

const std::string sample = ".version 9.0\n.target sm_90\n" + std::string(500, 'x');

Part ptx(std::uint32_t target, std::uint64_t flags = 0x11) {
    return {FatbinEntry::Kind::ptx, target, flags, "compute_" + std::to_string(target), Part::none};
}

} // namespace

TEST_CASE("text comes out as it went in, however it is packed") {
    for (const auto packing : {Part::none, Part::lz4, Part::zstd}) {
        const Bytes data = container({{FatbinEntry::Kind::ptx, 90, 0x11, sample, packing}});
        const auto entries = read_fatbin(data);
        REQUIRE(entries.size() == 1);
        CHECK(unpack(entries[0]) == sample);
        CHECK(container_size(data.data()) == data.size());
    }
}

TEST_CASE("the best PTX for compute capability 9.0 is chosen") {
    const auto choice = [](const std::vector<Part>& parts) {
        const Bytes data = container(parts);
        const auto entries = read_fatbin(data);
        const FatbinEntry* best = choose_ptx(entries);
        return best ? std::to_string(best->target) + (best->arch_specific ? "a" : "") : std::string("none");
    };
    constexpr std::uint64_t specific = 0x100011, family = 0x200011;
    CHECK(choice({ptx(80), ptx(90), ptx(100)}) == "90");
    CHECK(choice({ptx(90), ptx(90, specific), ptx(80)}) == "90a");
    CHECK(choice({ptx(80), ptx(100)}) == "80");
    CHECK(choice({ptx(100), ptx(103, family)}) == "none");
    CHECK(choice({{FatbinEntry::Kind::elf, 90, 0x11, "machine code", Part::none}}) == "none");
}

TEST_CASE("a missing PTX is explained") {
    const Bytes data =
        container({{FatbinEntry::Kind::elf, 90, 0x100011, "machine code", Part::none}, ptx(100)});
    const std::string text = explain_missing_ptx(read_fatbin(data));
    CHECK(text.find("sm_90a, compute_100") != std::string::npos);
    CHECK(text.find("code=[compute_90,sm_90]") != std::string::npos);
}

TEST_CASE("several containers in one piece of memory") {
    Bytes data = container({ptx(80)});
    const Bytes second = container({ptx(90)});
    data.insert(data.end(), second.begin(), second.end());
    CHECK(read_fatbin(data).size() == 2);
}

TEST_CASE("every cut-off container is refused") {
    const Bytes data = container({{FatbinEntry::Kind::ptx, 90, 0x11, sample, Part::zstd}, ptx(80)});
    for (std::size_t size = 0; size < data.size(); ++size)
        // A copy of exactly that size, so that a read behind its end is found by AddressSanitizer.
        REQUIRE_THROWS_AS(read_fatbin(Bytes(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(size))),
                          FatbinError);
}

TEST_CASE("damaged containers give an error or a text, never a crash") {
    std::mt19937 random(20240607);
    std::size_t refused = 0;
    for (int round = 0; round < 4000; ++round) {
        Bytes data = container({{FatbinEntry::Kind::ptx, 90, 0x11, sample, Part::zstd},
                                {FatbinEntry::Kind::ptx, 80, 0x11, sample, Part::lz4},
                                ptx(75)});
        const int hits = 1 + static_cast<int>(random() % 6);
        for (int i = 0; i < hits; ++i)
            data[random() % data.size()] = static_cast<std::byte>(random());
        try {
            for (const FatbinEntry& entry : read_fatbin(data))
                static_cast<void>(unpack(entry));
        } catch (const FatbinError&) {
            ++refused;
        }
    }
    CHECK(refused > 1000);
}

TEST_CASE("a claimed size that the format cannot reach is refused before memory is taken") {
    Bytes data = container({{FatbinEntry::Kind::ptx, 90, 0x11, sample, Part::lz4}});
    const std::uint64_t huge = std::uint64_t{1} << 29;
    std::memcpy(data.data() + 16 + 56, &huge, sizeof huge);
    const auto entries = read_fatbin(data);
    CHECK_THROWS_AS(unpack(entries.at(0)), FatbinError);
}

TEST_CASE("what LZ4 cannot count is refused") {
    const Bytes data = container({{FatbinEntry::Kind::ptx, 90, 0x11, sample, Part::lz4}});
    FatbinEntry entry = read_fatbin(data).at(0);
    const auto refused = [&] {
        try {
            static_cast<void>(unpack(entry));
        } catch (const FatbinError& error) {
            return std::string(error.what());
        }
        return std::string("unpacked");
    };
    CHECK(refused() == "unpacked");
    // LZ4 counts in int: as one of its sizes, these are negative, or small again.
    for (const std::uint64_t size : {std::uint64_t{1} << 31, (std::uint64_t{1} << 32) + 64}) {
        entry.unpacked_size = size;
        CHECK(refused().find("too large for LZ4") != std::string::npos);
    }
}

TEST_CASE("machine code that is no ELF image tells no registers") {
    CHECK(registers_of_cubin({}).empty());
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        Bytes data(64 + random() % 400);
        for (auto& byte : data)
            byte = static_cast<std::byte>(random());
        std::memcpy(data.data(), "\177ELF", 4);
        const std::uint64_t table = random() % data.size();
        std::memcpy(data.data() + 40, &table, sizeof table); // Section headers inside the data.
        CHECK(registers_of_cubin(data).empty());
    }
}
