#include "hopper_emulator/capsule.hpp"

#include "recording/capsule_launch.hpp"

#include <utility>

namespace emu {
namespace {

using capsule::Reader;
using capsule::Record;
using capsule::refuse;

/// A record: what it is, and its bytes, which are as they were written.
struct Framed {
    Record record{};
    std::span<const std::byte> bytes;
};

std::uint64_t fixed(std::span<const std::byte> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i > 0; --i)
        value = value << 8 | std::to_integer<std::uint64_t>(bytes[i - 1]);
    return value;
}

/// The next record; nothing if it was cut off.
std::optional<Framed> next_record(std::span<const std::byte>& rest) {
    constexpr std::size_t head = 1 + 8 + 8; // Name, size, digest.
    if (rest.size() < head)
        return std::nullopt;
    const std::uint64_t size = fixed(rest.subspan(1, 8)), digest = fixed(rest.subspan(9, 8));
    const auto record = static_cast<Record>(rest[0]);
    if (size > rest.size() - head)
        return std::nullopt;
    const auto bytes = rest.subspan(head, size);
    if (memory_digest(bytes) != digest)
        refuse("it is damaged: a record's bytes are not those that were written");
    rest = rest.subspan(head + size);
    return Framed{record, bytes};
}

/// Takes a capsule together, record by record.
class Collector {
  public:
    void add(const Framed& framed) {
        Reader in(framed.bytes);
        switch (framed.record) {
        case Record::module:
            capsule_.modules.push_back(in.text());
            break;
        case Record::source:
            add_source(in);
            break;
        case Record::bytes:
            add_bytes(in);
            break;
        case Record::launch:
            capsule_.launches.push_back(capsule::read_launch(in, shared_, capsule_.modules.size()));
            break;
        case Record::end:
            add_end(in);
            break;
        default:
            refuse("it is damaged: there is no such record");
        }
        if (!in.at_end())
            refuse("it is damaged: a record is too long");
    }
    Capsule take() { return std::move(capsule_); }

  private:
    void add_source(Reader& in) {
        std::string file = in.text();
        capsule_.sources.push_back({std::move(file), in.text()});
    }

    /// Few bytes of a file stand for many, so that their sum is limited.
    void add_bytes(Reader& in) {
        constexpr std::uint64_t most = std::uint64_t{4} << 30;
        shared_.push_back(std::make_shared<const std::vector<std::byte>>(in.runs(capsule_memory)));
        sum_ += shared_.back()->size();
        if (sum_ > most)
            refuse("it is damaged: too many bytes");
    }

    void add_end(Reader& in) {
        const std::uint64_t serial = in.number();
        for (CapsuleLaunch& launch : capsule_.launches)
            if (launch.serial == serial) {
                launch.ended = true;
                launch.alone = in.flag();
                for (std::uint64_t left = in.number_to(launch.memory.pieces.size()); left > 0; --left)
                    launch.results.push_back(fixed(in.plain(8)));
                return;
            }
        refuse("it is damaged: the end of a launch that never began");
    }

    Capsule capsule_;
    std::vector<MemoryImage::Shared<std::byte>> shared_;
    std::uint64_t sum_ = 0;
};

} // namespace

Capsule read_capsule(std::span<const std::byte> bytes) {
    const auto magic = std::as_bytes(std::span(capsule::magic));
    if (bytes.size() < magic.size() + 4 || !std::ranges::equal(bytes.first(magic.size()), magic))
        refuse("it is no recording of launches");
    const std::uint64_t format = fixed(bytes.subspan(magic.size(), 4));
    if (format != capsule::format)
        refuse("it is of format " + std::to_string(format) + ", and this emulator reads format " +
               std::to_string(capsule::format) + ": record it anew");
    bytes = bytes.subspan(magic.size() + 4);
    Collector collector;
    while (!bytes.empty()) {
        const auto record = next_record(bytes);
        if (!record) {
            Capsule capsule = collector.take();
            capsule.cut = true;
            return capsule;
        }
        collector.add(*record);
    }
    return collector.take();
}

} // namespace emu
