// A tile that a tensor copy brought in one swizzle mode, and of which the descriptor of a wgmma says another.

#include "findings/places.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

namespace emu::check {
namespace {

class TileSwizzle final : public Rule {
  public:
    using Rule::Rule;
    void after_issue(const AsyncOperation& operation) override;

  private:
    const Operation* load_of(std::uint32_t address);
    void compare(const AsyncOperation& product, std::int16_t swizzle, const std::vector<AsyncPiece>& pieces,
                 const std::string& matrix);
};

std::string mode_of(std::int16_t swizzle) {
    return swizzle ? "a swizzle of " + std::to_string(swizzle) + " bytes" : "no swizzle";
}

/// The tensor load that wrote a word of shared memory last, if that is what wrote it.
const Operation* TileSwizzle::load_of(std::uint32_t address) {
    std::uint32_t end = 0;
    const Ref ref = engine_.written_below(address + 4, address, end);
    if (!ref)
        return nullptr;
    const Record& writer = engine_.store(true)[record_of(ref)];
    if (!writer.is(Record::async))
        return nullptr;
    const Operation& operation = operations_[writer.operation];
    return operation.kind == AsyncKind::tensor_load ? &operation : nullptr;
}

void TileSwizzle::compare(const AsyncOperation& product, std::int16_t swizzle,
                          const std::vector<AsyncPiece>& pieces, const std::string& matrix) {
    if (pieces.empty())
        return;
    const Operation* const load = load_of(pieces.front().shared & ~3u);
    if (!load || load->swizzle == swizzle || !first_time(Finding::swizzle_mismatch, product.pc, load->pc))
        return;
    publish(Finding::swizzle_mismatch,
            "The descriptor of " + matrix + " says that the tile has " + mode_of(swizzle) +
                ", but the tensor copy that wrote the tile did so with " + mode_of(load->swizzle) +
                ". So wgmma takes elements from where others lie.",
            "Give both the same mode: swizzle of the tensor map (cuTensorMapEncodeTiled), and bits 62 and 63 "
            "of the "
            "descriptor (0: none, 1: 128 bytes, 2: 64 bytes, 3: 32 bytes).",
            {line(product.pc, "wgmma"), line(load->pc, "tensor copy that wrote the tile")}, true);
}

void TileSwizzle::after_issue(const AsyncOperation& operation) {
    if (operation.kind != AsyncKind::wgmma || cluster_.stopped())
        return;
    compare(operation, operation.swizzle[0], operation.source_pieces, "A");
    compare(operation, operation.swizzle[1], operation.pieces, "B");
}

} // namespace

std::unique_ptr<Rule> make_tile_swizzle(const Desk& desk) { return std::make_unique<TileSwizzle>(desk); }

} // namespace emu::check
