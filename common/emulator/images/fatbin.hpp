#pragma once
/// \file
/// Fat binaries: the containers in which nvcc stores PTX and machine code for several targets inside a
/// program. The layout is not documented; it was read from what nvcc 12 and 13 write, and fatbinary_section.h
/// describes the wrapper.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace emu::cuda {

/// A fat binary that is damaged or holds nothing the emulator can execute. what() is one line.
class FatbinError : public std::runtime_error {
  public:
    enum class Kind { damaged, no_ptx };
    FatbinError(Kind kind, const std::string& message) : std::runtime_error(message), kind(kind) {}
    Kind kind;
};

/// One image of a container. The spans point into the container.
struct FatbinEntry {
    enum class Kind : std::uint16_t { ptx = 1, elf = 2 };
    Kind kind = Kind::ptx;
    unsigned target = 0;               ///< 90 for compute_90 and compute_90a.
    bool arch_specific = false;        ///< compute_90a
    bool family_specific = false;      ///< compute_100f
    std::string_view name;             ///< Source name, often empty.
    std::span<const std::byte> stored; ///< As stored.
    enum class Packing : std::uint8_t { none, lz4, zstd } packing = Packing::none;
    std::uint64_t unpacked_size = 0; ///< Bytes after unpacking, when packed.
};

inline constexpr std::uint32_t fatbin_wrapper_magic = 0x466243b1;
inline constexpr std::uint32_t fatbin_container_magic = 0xba55ed50;

/// Reads the entries of one or more containers that follow each other. Never reads outside `data`. Throws
/// FatbinError when the layout is damaged. Entries of unknown kinds are skipped.
std::vector<FatbinEntry> read_fatbin(std::span<const std::byte> data);

/// Size in bytes of the container at `data`, header included; used when only a pointer is known, as in a
/// registered program. Throws FatbinError if there is no container. Reads 16 bytes.
std::size_t container_size(const std::byte* data);

/// The text of a PTX entry, or the bytes of an ELF entry, unpacked. Throws FatbinError.
std::string unpack(const FatbinEntry& entry);

/// The PTX entry that a compute capability 9.0 device runs: compute_90a if there is one, else the highest
/// target up to 90. nullptr if there is none.
const FatbinEntry* choose_ptx(std::span<const FatbinEntry> entries);

/// One line that says why choose_ptx() found nothing and which compiler option helps.
std::string explain_missing_ptx(std::span<const FatbinEntry> entries);

} // namespace emu::cuda
