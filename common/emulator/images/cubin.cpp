#include "images/cubin.hpp"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>

namespace emu::cuda {
namespace {

/// `.nv.info` is a list of attributes: format, kind, and either a 16-bit value or the size of a value that
/// follows.
struct Attribute {
    std::uint8_t format;
    std::uint8_t kind;
    std::uint16_t size;
};
constexpr std::uint8_t sized_format = 4;
constexpr std::uint8_t register_count = 0x2f; ///< Value: symbol number, registers.

class Elf {
  public:
    explicit Elf(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    std::optional<T> at(std::uint64_t offset) const {
        if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T))
            return std::nullopt;
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }

    std::string text(std::uint64_t offset) const {
        if (offset >= bytes_.size())
            return {};
        const auto* start = reinterpret_cast<const char*>(bytes_.data()) + offset;
        return {start, strnlen(start, bytes_.size() - offset)};
    }

    std::optional<Elf64_Shdr> section(std::uint64_t index) const {
        const auto header = at<Elf64_Ehdr>(0);
        if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || index >= header->e_shnum)
            return std::nullopt;
        return at<Elf64_Shdr>(header->e_shoff + index * sizeof(Elf64_Shdr));
    }

    std::optional<Elf64_Shdr> section(std::string_view name) const {
        const auto header = at<Elf64_Ehdr>(0);
        const auto names = header ? section(header->e_shstrndx) : std::nullopt;
        if (!names)
            return std::nullopt;
        for (std::uint64_t i = 0; i < header->e_shnum; ++i)
            if (const auto each = section(i); each && text(names->sh_offset + each->sh_name) == name)
                return each;
        return std::nullopt;
    }

    std::string symbol_name(std::uint32_t index) const {
        const auto table = section(".symtab");
        const auto names = table ? section(table->sh_link) : std::nullopt;
        if (!names)
            return {};
        const auto symbol = at<Elf64_Sym>(table->sh_offset + std::uint64_t{index} * sizeof(Elf64_Sym));
        return symbol ? text(names->sh_offset + symbol->st_name) : std::string();
    }

  private:
    std::span<const std::byte> bytes_;
};

} // namespace

std::map<std::string, unsigned> registers_of_cubin(std::span<const std::byte> bytes) {
    std::map<std::string, unsigned> registers;
    const Elf elf(bytes);
    const auto info = elf.section(".nv.info");
    if (!info)
        return registers;
    for (std::uint64_t offset = 0; offset < info->sh_size;) {
        const auto attribute = elf.at<Attribute>(info->sh_offset + offset);
        if (!attribute)
            break;
        offset += sizeof(Attribute);
        if (attribute->format != sized_format)
            continue;
        if (attribute->kind == register_count) {
            const auto symbol = elf.at<std::uint32_t>(info->sh_offset + offset);
            const auto count = elf.at<std::uint32_t>(info->sh_offset + offset + 4);
            if (symbol && count)
                registers[elf.symbol_name(*symbol)] = *count;
        }
        offset += attribute->size;
    }
    return registers;
}

} // namespace emu::cuda
