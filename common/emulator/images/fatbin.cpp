#include "images/fatbin.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <lz4.h>
#include <zstd.h>

namespace emu::cuda {
namespace {

/// Container header: 16 bytes, then `size` bytes of entries.
struct ContainerHeader {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_size;
    std::uint64_t size;
};
static_assert(sizeof(ContainerHeader) == 16);

/// Entry header; nvcc appends names and options, `header_size` says how far they reach.
struct EntryHeader {
    std::uint16_t kind;
    std::uint16_t version;
    std::uint32_t header_size;
    std::uint64_t padded_size; ///< Bytes from the end of the header to the next entry.
    std::uint32_t packed_size; ///< Bytes of compressed data; 0 when not compressed.
    std::uint32_t options_offset;
    std::uint16_t minor;
    std::uint16_t major;
    std::uint32_t target;
    std::uint32_t name_offset;
    std::uint32_t name_size;
    std::uint64_t flags;
    std::uint64_t reserved;
    std::uint64_t unpacked_size;
};
static_assert(sizeof(EntryHeader) == 64);

constexpr std::uint64_t flag_lz4 = 0x2000;
constexpr std::uint64_t flag_zstd = 0x8000;
constexpr std::uint64_t flag_arch_specific = 0x100000;
constexpr std::uint64_t flag_family_specific = 0x200000;
/// A damaged size must not make the reader ask for terabytes; the largest PTX in the wild is far below.
constexpr std::uint64_t largest_text = std::uint64_t{1} << 30;

[[noreturn]] void damaged(const std::string& what) {
    throw FatbinError(FatbinError::Kind::damaged, "the program's fat binary is damaged: " + what);
}

template <class T>
T load(std::span<const std::byte> data, std::size_t offset, const char* what) {
    if (offset > data.size() || data.size() - offset < sizeof(T))
        damaged(std::string("it ends inside ") + what);
    T value;
    std::memcpy(&value, data.data() + offset, sizeof value);
    return value;
}

FatbinEntry read_entry(const EntryHeader& header, std::span<const std::byte> whole) {
    FatbinEntry entry;
    entry.kind = static_cast<FatbinEntry::Kind>(header.kind);
    entry.target = header.target;
    entry.arch_specific = header.flags & flag_arch_specific;
    entry.family_specific = header.flags & flag_family_specific;
    if (header.name_size != 0) {
        if (header.name_offset > header.header_size ||
            header.header_size - header.name_offset < header.name_size)
            damaged("a name lies outside its entry");
        entry.name = {reinterpret_cast<const char*>(whole.data()) + header.name_offset, header.name_size};
    }
    std::span<const std::byte> payload = whole.subspan(header.header_size);
    if (header.flags & (flag_lz4 | flag_zstd)) {
        entry.packing = header.flags & flag_zstd ? FatbinEntry::Packing::zstd : FatbinEntry::Packing::lz4;
        if (header.packed_size > payload.size())
            damaged("compressed data is longer than its entry");
        payload = payload.first(header.packed_size);
        entry.unpacked_size = header.unpacked_size;
    }
    entry.stored = payload;
    return entry;
}

void read_container(std::span<const std::byte> body, std::vector<FatbinEntry>& entries) {
    std::size_t offset = 0;
    while (offset < body.size()) {
        const auto header = load<EntryHeader>(body, offset, "the header of an entry");
        const std::size_t left = body.size() - offset;
        if (header.header_size < sizeof(EntryHeader) || header.header_size > left)
            damaged("an entry's header has an impossible size");
        if (header.padded_size > left - header.header_size)
            damaged("an entry is longer than its container");
        const std::size_t size = header.header_size + static_cast<std::size_t>(header.padded_size);
        const bool known = header.kind == static_cast<std::uint16_t>(FatbinEntry::Kind::ptx) ||
                           header.kind == static_cast<std::uint16_t>(FatbinEntry::Kind::elf);
        if (known)
            entries.push_back(read_entry(header, body.subspan(offset, size)));
        offset += size;
    }
}

/// Decompressed sizes are bounded by what the formats can express, so that a damaged size field of a small
/// entry cannot make the reader allocate a gigabyte.
std::string make_buffer(const FatbinEntry& entry, std::uint64_t largest_ratio) {
    if (entry.unpacked_size > largest_text || entry.unpacked_size > entry.stored.size() * largest_ratio)
        damaged("an entry claims an impossible size");
    return std::string(static_cast<std::size_t>(entry.unpacked_size), '\0');
}

std::string unpack_zstd(const FatbinEntry& entry) {
    std::string text = make_buffer(entry, 1 << 17);
    const std::size_t got =
        ZSTD_decompress(text.data(), text.size(), entry.stored.data(), entry.stored.size());
    if (ZSTD_isError(got))
        damaged(std::string("zstd: ") + ZSTD_getErrorName(got));
    text.resize(got);
    return text;
}

std::string unpack_lz4(const FatbinEntry& entry) {
    // LZ4 counts in int.
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
    if (entry.stored.size() > largest || entry.unpacked_size > largest)
        damaged("an entry is too large for LZ4");
    std::string text = make_buffer(entry, 256);
    const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(entry.stored.data()), text.data(),
                                        static_cast<int>(entry.stored.size()), static_cast<int>(text.size()));
    if (got < 0)
        damaged("LZ4 data cannot be decompressed");
    text.resize(static_cast<std::size_t>(got));
    return text;
}

bool usable(const FatbinEntry& entry) {
    if (entry.kind != FatbinEntry::Kind::ptx || entry.target > 90)
        return false;
    // Architecture- and family-specific PTX runs on its own architecture only.
    return entry.target == 90 || !(entry.arch_specific || entry.family_specific);
}

std::string describe(const FatbinEntry& entry) {
    return (entry.kind == FatbinEntry::Kind::ptx ? "compute_" : "sm_") + std::to_string(entry.target) +
           (entry.arch_specific     ? "a"
            : entry.family_specific ? "f"
                                    : "");
}

} // namespace

std::size_t container_size(const std::byte* data) {
    const auto header = load<ContainerHeader>({data, sizeof(ContainerHeader)}, 0, "a container's header");
    if (header.magic != fatbin_container_magic || header.header_size < sizeof(ContainerHeader))
        damaged("there is no container at the registered address");
    if (header.size > largest_text * 4)
        damaged("a container has an impossible size");
    return header.header_size + static_cast<std::size_t>(header.size);
}

std::vector<FatbinEntry> read_fatbin(std::span<const std::byte> data) {
    std::vector<FatbinEntry> entries;
    std::size_t offset = 0;
    while (data.size() - offset >= sizeof(ContainerHeader)) {
        const auto header = load<ContainerHeader>(data, offset, "a container's header");
        if (header.magic != fatbin_container_magic) {
            if (offset == 0)
                damaged("it does not begin with the container's magic number");
            break; // Padding behind the last container.
        }
        const std::size_t left = data.size() - offset;
        if (header.header_size < sizeof(ContainerHeader) || header.header_size > left ||
            header.size > left - header.header_size)
            damaged("a container is longer than the data");
        read_container(data.subspan(offset + header.header_size, static_cast<std::size_t>(header.size)),
                       entries);
        offset += header.header_size + static_cast<std::size_t>(header.size);
    }
    if (offset == 0)
        damaged("it is shorter than a container's header");
    return entries;
}

std::string unpack(const FatbinEntry& entry) {
    std::string text;
    switch (entry.packing) {
    case FatbinEntry::Packing::none:
        text.assign(reinterpret_cast<const char*>(entry.stored.data()), entry.stored.size());
        break;
    case FatbinEntry::Packing::zstd:
        text = unpack_zstd(entry);
        break;
    case FatbinEntry::Packing::lz4:
        text = unpack_lz4(entry);
        break;
    }
    // PTX text is stored with a terminating zero and padding.
    if (entry.kind == FatbinEntry::Kind::ptx)
        text.resize(std::min(text.size(), text.find('\0')));
    return text;
}

const FatbinEntry* choose_ptx(std::span<const FatbinEntry> entries) {
    const FatbinEntry* best = nullptr;
    const auto rank = [](const FatbinEntry& e) {
        return e.target * 4 + (e.arch_specific ? 2u : e.family_specific ? 1u : 0u);
    };
    for (const FatbinEntry& entry : entries)
        if (usable(entry) && (!best || rank(entry) > rank(*best)))
            best = &entry;
    return best;
}

std::string explain_missing_ptx(std::span<const FatbinEntry> entries) {
    std::string found;
    for (const FatbinEntry& entry : entries) {
        const std::string one = describe(entry);
        if (found.find(one) == std::string::npos)
            found += (found.empty() ? "" : ", ") + one;
    }
    return "the program was built without PTX for compute capability 9.0 (it has " +
           (found.empty() ? "nothing" : found) +
           "); build it with -gencode arch=compute_90,code=[compute_90,sm_90]";
}

} // namespace emu::cuda
