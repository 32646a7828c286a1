// Accesses and copies that leave the array of shared memory whose address they were computed from.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "machine/variable_names.hpp"
#include "rules/analysis/array_of.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <string>

namespace emu::check {
namespace {

using Array = ArraysOfKernel::Array;

/// Bytes of a block's shared memory.
struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t bytes() const { return end - begin; }
};

bool is_inside(const Range& range, const Array& array) {
    return range.begin >= array.start && range.end <= array.end;
}
bool touches(const Range& range, const Array& array) {
    return range.begin < array.end && range.end > array.start;
}

class SharedArrayOverrun final : public Rule {
  public:
    explicit SharedArrayOverrun(const Desk& desk)
        : Rule(desk), arrays_(launch_.shelf.get<ArraysOfKernel>([this] {
              return std::make_shared<ArraysOfKernel>(kernel(), cluster_.info().shared_size);
          })) {
        if (arrays_.any())
            engine_.watch(*this, Watch::accesses);
    }
    void on_access(const AccessEvent& event) override;
    void on_async_issue(const AsyncOperation& operation) override;
    void on_mbarrier_init(const MbarrierEvent& event) override { check_barrier(event, "initialises"); }
    void on_mbarrier_arrive(const MbarrierEvent& event) override { check_barrier(event, "arrives at"); }
    void on_mbarrier_observed(const MbarrierEvent& event) override { check_barrier(event, "waits for"); }
    void on_mbarrier_passed_fresh(const MbarrierEvent& event) override { check_barrier(event, "waits for"); }
    bool on_conflict(const Meeting& meeting) override;

  private:
    void check_barrier(const MbarrierEvent& event, const char* verb);
    void check_copy(const AsyncOperation& operation, const std::vector<AsyncPiece>& pieces, unsigned operand,
                    bool writes);
    bool is_harmless(const Range& range, const Array& meant) const;
    void tell(const Array& meant, const Range& range, const std::string& does, const std::string& advice,
              SourceLine at, bool warning);
    bool has_left(std::uint32_t pc, std::uint32_t offset) const;

    const ArraysOfKernel& arrays_;
};

std::string array_name(const Array& array) {
    return array.symbol.empty() ? "the dynamic shared memory" : plain_name(array.symbol);
}

std::string check_index(const Array& meant) {
    return "Check the index against the size of " + array_name(meant) +
           "; if the index is meant, the array is too small.";
}

std::string size_of(const Array& array) { return count_of(array.end - array.start, "byte"); }

/// A read, and an atomic operation on the aligned word around a byte, may reach over the end: compilers make
/// them of smaller ones and do not use the rest. A read is a warning, since its value may be of no use too.
void SharedArrayOverrun::on_access(const AccessEvent& event) {
    if (event.space != ptx::Space::shared)
        return;
    const Array* const meant = arrays_.of_address(event.pc, 0);
    if (!meant)
        return;
    const bool writes = event.kind == AccessKind::write;
    for_lanes(event.mask, [&](unsigned lane) {
        const std::uint32_t offset = shared_offset(static_cast<std::uint32_t>(event.addresses[lane]));
        const Range range{offset, offset + event.bytes};
        if (writes ? is_inside(range, *meant) : touches(range, *meant)) [[likely]]
            return;
        if (!first_time(Finding::shared_array_overrun, event.pc, event.pc))
            return;
        const bool reads = event.kind == AccessKind::read;
        const std::string thread = thread_name(*event.warp, lane);
        tell(*meant, range, thread + (reads ? " reads " : " writes ") + count_of(event.bytes, "byte"),
             check_index(*meant),
             source_line(*event.warp, lane, event.pc, (reads ? "read by " : "write by ") + thread), reads);
    });
}

void SharedArrayOverrun::check_barrier(const MbarrierEvent& event, const char* verb) {
    if (!event.warp || event.operation)
        return;
    const Array* const meant = arrays_.of_address(event.pc, 0);
    const std::uint32_t offset = shared_offset(event.address);
    const Range range{offset, offset + 8};
    if (!meant || is_inside(range, *meant) || !first_time(Finding::shared_array_overrun, event.pc, event.pc))
        return;
    const std::string thread = thread_name(*event.warp, event.lane);
    tell(*meant, range, thread + " " + verb + " an mbarrier",
         "Check the index against the size of " + array_name(*meant) + ".",
         source_line(*event.warp, event.lane, event.pc, "by " + thread), false);
}

/// A copy moves 16 bytes at a time: what it takes along behind an array is nobody's, unless another array
/// lies there.
bool SharedArrayOverrun::is_harmless(const Range& range, const Array& meant) const {
    constexpr std::uint32_t chunk = 16;
    if (range.begin < meant.start || range.begin >= meant.end)
        return false;
    if (range.end <= meant.end)
        return true;
    if (range.end > (meant.end + chunk - 1) / chunk * chunk)
        return false;
    for (std::uint32_t offset = meant.end; offset < range.end; ++offset)
        if (arrays_.at(offset))
            return false;
    return true;
}

void SharedArrayOverrun::check_copy(const AsyncOperation& operation, const std::vector<AsyncPiece>& pieces,
                                    unsigned operand, bool writes) {
    if (pieces.empty())
        return;
    Range range{~0u, 0};
    for (const AsyncPiece& piece : pieces) {
        range.begin = std::min(range.begin, shared_offset(piece.shared));
        range.end = std::max(range.end, shared_offset(piece.shared) + piece.bytes - piece.padding);
    }
    // Whatever the address was computed from, no copy is meant for two arrays.
    const Array* meant = arrays_.of_address(operation.pc, operand);
    meant = meant ? meant : arrays_.at(range.begin);
    if (!meant || is_harmless(range, *meant) ||
        !first_time(Finding::shared_array_overrun, operation.pc, operation.pc))
        return;
    const bool product = operation.kind == AsyncKind::wgmma;
    const std::string thread = (product ? "the warp of " : "") + thread_name(*operation.warp, operation.lane);
    const std::string what = check::name_of(operation.kind);
    const std::uint32_t begin = std::clamp(range.begin, meant->start, meant->end);
    tell(*meant, range,
         "The " + what + " of " + thread + (writes ? " writes " : " reads ") +
             count_of(range.bytes(), "byte"),
         "From " + shared_name(cluster_.info(), begin) + " on, " + array_name(*meant) + " has " +
             count_of(meant->end - begin, "byte") +
             (product
                  ? ". Check the start address of the descriptor, its strides, and what each step of k adds "
                    "to it (in units of 16 bytes)."
                  : ". Make the array larger, or the box or the size of the copy smaller."),
         source_line(*operation.warp, operation.lane, operation.pc, what + " issued by " + thread), !writes);
}

void SharedArrayOverrun::on_async_issue(const AsyncOperation& operation) {
    if (!arrays_.any() || operation.kind == AsyncKind::cp_async_arrive)
        return;
    if (operation.writes_shared)
        check_copy(operation, operation.pieces, 0, true);
    if (operation.kind == AsyncKind::wgmma)
        check_copy(operation, operation.pieces, 2, false);
    if (operation.reads_shared)
        check_copy(operation, operation.source_pieces.empty() ? operation.pieces : operation.source_pieces, 1,
                   false);
}

void SharedArrayOverrun::tell(const Array& meant, const Range& range, const std::string& does,
                              const std::string& advice, SourceLine at, bool warning) {
    const std::string name = array_name(meant) + " (" + size_of(meant) + ")";
    std::string where;
    if (range.begin >= meant.start && range.begin < meant.end)
        where = " from " + shared_name(cluster_.info(), range.begin) + " on: the last " +
                count_of(range.end - meant.end, "byte") + " lie past the end of " + name;
    else if (range.begin < meant.start)
        where = " that begin " + count_of(meant.start - range.begin, "byte") + " before " + name;
    else if (range.begin == meant.end)
        where = " right behind " + name;
    else
        where = " " + count_of(range.begin - meant.end, "byte") + " past the end of " + name;
    const std::uint32_t first_outside =
        range.begin >= meant.start && range.begin < meant.end ? meant.end : range.begin;
    if (const Array* const hit = arrays_.at(first_outside); hit && hit != &meant)
        where += ", in " + shared_name(cluster_.info(), first_outside);
    publish(Finding::shared_array_overrun,
            does + where + ". The address was computed from " + array_name(meant) + ".", advice,
            {std::move(at)}, warning);
}

/// The instruction has the address of an array that does not contain this byte.
bool SharedArrayOverrun::has_left(std::uint32_t pc, std::uint32_t offset) const {
    bool outside = false;
    for (unsigned operand = 0; const Array* const meant = arrays_.of_address(pc, operand); ++operand) {
        if (offset >= meant->start && offset < meant->end)
            return false;
        outside = true;
    }
    return outside;
}

/// What happens behind the end of an array is a consequence.
bool SharedArrayOverrun::on_conflict(const Meeting& meeting) {
    if (!meeting.actor.shared || !arrays_.any())
        return false;
    const std::uint32_t offset = shared_offset(static_cast<std::uint32_t>(meeting.actor.word)) + meeting.k;
    for (const std::uint32_t pc : {meeting.old.pc, meeting.actor.record->pc})
        if (findings_.was_told(Finding::shared_array_overrun, pc, pc) && has_left(pc, offset))
            return true;
    return false;
}

} // namespace

std::unique_ptr<Rule> make_shared_array_overrun(const Desk& desk) {
    return std::make_unique<SharedArrayOverrun>(desk);
}

} // namespace emu::check
