#include "recording/capsule_launch.hpp"

#include <limits>
#include <utility>

namespace emu::capsule {
namespace {

constexpr auto any = std::numeric_limits<std::uint64_t>::max();
constexpr auto any32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t most_entries = 1u << 20; ///< Allocations of a launch.

template <class Enum>
Enum read_enum(Reader& in, Enum last) {
    return static_cast<Enum>(in.number_to(static_cast<std::uint64_t>(last)));
}
std::uint32_t read32(Reader& in) { return static_cast<std::uint32_t>(in.number_to(any32)); }

void write(Writer& out, Dim3 d) {
    out.number(d.x);
    out.number(d.y);
    out.number(d.z);
}
Dim3 read_dim3(Reader& in) {
    Dim3 d;
    d.x = read32(in);
    d.y = read32(in);
    d.z = read32(in);
    return d;
}

void write(Writer& out, const LaunchConfig& config) {
    write(out, config.grid);
    write(out, config.block);
    write(out, config.cluster);
    out.number(config.dynamic_shared);
    out.flag(config.cooperative);
    out.flag(config.cluster_launch);
}
LaunchConfig read_config(Reader& in) {
    LaunchConfig config;
    config.grid = read_dim3(in);
    config.block = read_dim3(in);
    config.cluster = read_dim3(in);
    config.dynamic_shared = read32(in);
    config.cooperative = in.flag();
    config.cluster_launch = in.flag();
    return config;
}

void write(Writer& out, const Settings& settings) {
    out.number(static_cast<std::uint64_t>(settings.order));
    out.number(settings.seed);
    out.number(settings.watchdog);
    out.flag(settings.checks);
    out.flag(settings.strict);
    out.number(static_cast<std::uint64_t>(settings.uninitialised_global));
}
Settings read_settings(Reader& in) {
    Settings settings;
    settings.order = read_enum(in, CompletionOrder::random);
    settings.seed = in.number();
    settings.watchdog = in.number();
    settings.checks = in.flag();
    settings.strict = in.flag();
    settings.uninitialised_global = read_enum(in, CheckSettings::Severity::error);
    return settings;
}

void write(Writer& out, const MemoryImage::Part& part) {
    out.number(part.begin);
    out.number(part.size);
    out.number(part.next);
}
MemoryImage::Part read_part(Reader& in) {
    MemoryImage::Part part;
    part.begin = in.number();
    part.size = in.number();
    part.next = in.number();
    return part;
}

void write(Writer& out, const MemoryImage::Piece& piece, const PutBytes& put) {
    const Allocation& a = piece.allocation;
    out.number(a.base);
    out.number(a.size);
    out.number(static_cast<std::uint64_t>(a.kind));
    out.text(a.name);
    out.number(a.serial);
    out.flag(a.kept);
    out.flag(piece.freed);
    if (piece.freed)
        return;
    out.number(put(*piece.bytes));
    out.flag(piece.written_words != nullptr);
    if (piece.written_words)
        out.number(put(std::as_bytes(std::span(*piece.written_words))));
}

MemoryImage::Shared<std::byte> shared_bytes(Reader& in,
                                            const std::vector<MemoryImage::Shared<std::byte>>& shared) {
    const std::uint64_t number = in.number();
    if (number >= shared.size())
        refuse("it is damaged: bytes are missing");
    return shared[number];
}

/// A bit for each word of an allocation with so many bytes, as WrittenWords has them.
MemoryImage::Shared<std::uint64_t> read_written_words(std::span<const std::byte> bits, std::uint64_t size) {
    std::vector<std::uint64_t> words((size + 3) / 4 / 64 + 1);
    if (bits.size() != words.size() * sizeof(std::uint64_t))
        refuse("it is damaged: other written words than there are");
    std::memcpy(words.data(), bits.data(), bits.size());
    return std::make_shared<const std::vector<std::uint64_t>>(std::move(words));
}

MemoryImage::Piece read_piece(Reader& in, const std::vector<MemoryImage::Shared<std::byte>>& shared) {
    MemoryImage::Piece piece;
    Allocation& a = piece.allocation;
    a.base = in.number();
    a.size = in.number();
    a.kind = read_enum(in, Allocation::Kind::heap);
    a.name = in.text();
    a.serial = in.number();
    a.kept = in.flag();
    piece.freed = in.flag();
    if (piece.freed)
        return piece;
    piece.bytes = shared_bytes(in, shared);
    if (piece.bytes->size() != a.size)
        refuse("it is damaged: an allocation without its bytes");
    if (in.flag())
        piece.written_words = read_written_words(*shared_bytes(in, shared), a.size);
    return piece;
}

void write(Writer& out, const MemoryImage& image, const PutBytes& put) {
    write(out, image.device);
    write(out, image.host);
    out.flag(image.closed);
    out.number(image.capacity);
    out.number(image.serial);
    out.number(image.pieces.size());
    for (const MemoryImage::Piece& piece : image.pieces)
        write(out, piece, put);
}
MemoryImage read_image(Reader& in, const std::vector<MemoryImage::Shared<std::byte>>& shared) {
    MemoryImage image;
    image.device = read_part(in);
    image.host = read_part(in);
    image.closed = in.flag();
    image.capacity = in.number();
    image.serial = in.number();
    std::uint64_t sum = 0; // Of a few bytes in the file, each piece may have a copy.
    for (std::uint64_t left = in.number_to(most_entries); left > 0; --left) {
        image.pieces.push_back(read_piece(in, shared));
        sum += image.pieces.back().freed ? 0 : image.pieces.back().allocation.size;
        if (sum > capsule_memory)
            refuse("it is damaged: more memory than a recorder takes");
    }
    return image;
}

} // namespace

void write_launch(Writer& out, const CapsuleLaunch& launch, const PutBytes& put) {
    out.number(launch.module);
    out.text(launch.kernel);
    out.text(launch.name);
    write(out, launch.config);
    out.runs(launch.parameters);
    write(out, launch.settings);
    out.number(launch.serial);
    out.number(launch.awaited.size());
    for (const Address each : launch.awaited)
        out.number(each);
    write(out, launch.memory, put);
}

CapsuleLaunch read_launch(Reader& in, const std::vector<MemoryImage::Shared<std::byte>>& shared,
                          std::size_t modules) {
    CapsuleLaunch launch;
    launch.module = in.number();
    if (launch.module >= modules)
        refuse("it is damaged: a module is missing");
    launch.kernel = in.text();
    launch.name = in.text();
    launch.config = read_config(in);
    launch.parameters = in.runs(1u << 20);
    launch.settings = read_settings(in);
    launch.serial = in.number_to(any - 1);
    for (std::uint64_t left = in.number_to(most_entries); left > 0; --left)
        launch.awaited.push_back(in.number());
    launch.memory = read_image(in, shared);
    if (launch.serial == 0)
        refuse("it is damaged: a launch without a number");
    return launch;
}

} // namespace emu::capsule
