#include "happens_before/footprint.hpp"

#include "findings/lines.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace emu::check {
namespace {

struct Touched {
    Touch touch;
    std::uint32_t pc;
};

/// What a cell remembers; nothing where the records ran out.
std::optional<Touched> touched(const Region& region, const Cell& cell, const RecordStore& records) {
    const auto is_strong = [](const Record& r) { return r.is(Record::strong) && !r.is(Record::narrow); };
    if (cell.write) {
        if (record_of(cell.write) == RecordStore::forgotten)
            return std::nullopt;
        const Record& write = records[record_of(cell.write)];
        const Touch touch = is_strong(write)               ? Touch::strong_write
                            : write.is(Record::same_value) ? Touch::same_value
                                                           : Touch::write;
        return Touched{touch, write.pc};
    }
    std::optional<Touched> found;
    const ReadPair readers = region.readers(cell);
    for (const Ref ref : {readers.first, readers.second}) {
        if (ref == 0 || record_of(ref) == RecordStore::forgotten)
            continue;
        const Record& read = records[record_of(ref)];
        if (!found || !is_strong(read))
            found = Touched{is_strong(read) ? Touch::strong_read : Touch::read, read.pc};
    }
    return found;
}

/// Memory that the program cannot mean when it says which array an operation uses.
bool is_own(const Allocation& allocation) {
    return allocation.kind == Allocation::Kind::parameters || allocation.kind == Allocation::Kind::heap ||
           allocation.name.starts_with('$');
}

/// Collects runs of bytes that were touched in the same way. With `exact` by the same instruction, too.
class Collector {
  public:
    Collector(const RecordStore& records, bool exact, std::size_t most)
        : records_(records), exact_(exact), most_(most) {}

    void add(Address page, const Region& region) {
        region.each_touched([&](std::size_t word, unsigned k, unsigned n, const Cell& cell) {
            const auto found = touched(region, cell, records_);
            if (!found)
                return;
            const Address begin = page + 4 * word + k;
            if (!pieces_.empty() && pieces_.back().end == begin && joins(pieces_.back(), *found))
                pieces_.back().end += n;
            else
                pieces_.push_back({begin, begin + n, found->touch, found->pc});
        });
    }
    bool overflows() const { return pieces_.size() > most_; }

    /// In ascending order; `line` is still a program counter.
    std::vector<FootprintPiece> take() {
        std::ranges::sort(pieces_, {}, &FootprintPiece::begin);
        std::size_t last = 0;
        for (std::size_t i = 1; i < pieces_.size(); ++i)
            if (pieces_[last].end == pieces_[i].begin &&
                joins(pieces_[last], {pieces_[i].touch, pieces_[i].line}))
                pieces_[last].end = pieces_[i].end;
            else
                pieces_[++last] = pieces_[i];
        if (!pieces_.empty())
            pieces_.resize(last + 1);
        return std::move(pieces_);
    }

  private:
    bool joins(const FootprintPiece& piece, const Touched& next) const {
        return piece.touch == next.touch && (!exact_ || piece.line == next.pc);
    }

    const RecordStore& records_;
    bool exact_;
    std::size_t most_;
    std::vector<FootprintPiece> pieces_;
};

std::optional<std::vector<FootprintPiece>> collect(const GlobalShadow& shadow, const RecordStore& records,
                                                   const std::vector<Allocation>* within, bool exact,
                                                   std::size_t most) {
    Collector collector(records, exact, most);
    const auto is_wanted = [&](Address begin) {
        return !within || std::ranges::any_of(*within, [&](const Allocation& each) {
            return begin < each.base + each.size && each.base < begin + GlobalShadow::page_bytes;
        });
    };
    shadow.each_page([&](Address number, const GlobalShadow::Page& page) {
        const Address begin = number << GlobalShadow::page_bits;
        if (!collector.overflows() && is_wanted(begin))
            collector.add(begin, page.region);
    });
    if (collector.overflows())
        return std::nullopt;
    return collector.take();
}

/// Drops what is not the program's memory, and turns program counters into lines.
void finish(Footprint& footprint, const Kernel& kernel, const GlobalMemory& memory, FootprintWish wish) {
    std::optional<Allocation> inside;
    std::erase_if(footprint.pieces, [&](const FootprintPiece& piece) {
        if (!inside || piece.begin - inside->base >= inside->size)
            inside = memory.find(piece.begin);
        return !inside || is_own(*inside) ||
               (wish == FootprintWish::host_memory && !is_host_visible(inside->kind));
    });
    std::map<std::uint32_t, std::uint32_t> lines;
    for (FootprintPiece& piece : footprint.pieces) {
        const auto [known, fresh] =
            lines.emplace(piece.line, static_cast<std::uint32_t>(footprint.lines.size()));
        if (fresh)
            footprint.lines.push_back(source_line(kernel, piece.line, {}));
        piece.line = known->second;
    }
}

bool has_fences(const Kernel& kernel) {
    return std::ranges::any_of(kernel.sources, [](const ptx::Instruction* each) {
        return each && (each->opcode == "membar" || (each->opcode == "fence" && !each->has("proxy")) ||
                        ((each->opcode == "ld" || each->opcode == "st" || each->opcode == "atom" ||
                          each->opcode == "red") &&
                         (each->has("acquire") || each->has("release") || each->has("acq_rel"))));
    });
}

} // namespace

std::shared_ptr<const Footprint> footprint_of(const GlobalShadow& shadow, const RecordStore& records,
                                              const Kernel& kernel, const GlobalMemory& memory,
                                              FootprintWish wish) {
    constexpr std::size_t most_exact = 1u << 16, most = 1u << 20;
    const std::vector<Allocation> of_host =
        wish == FootprintWish::host_memory ? memory.host_visible() : std::vector<Allocation>();
    const auto* const within = wish == FootprintWish::host_memory ? &of_host : nullptr;
    auto pieces = collect(shadow, records, within, true, most_exact);
    if (!pieces) // An array of structures, say: which instruction touched which field matters less.
        pieces = collect(shadow, records, within, false, most);
    if (!pieces)
        return nullptr;
    auto footprint = std::make_shared<Footprint>();
    footprint->pieces = std::move(*pieces);
    footprint->fences = has_fences(kernel);
    finish(*footprint, kernel, memory, wish);
    return footprint;
}

std::vector<FootprintPiece> disjoint(std::vector<FootprintPiece> pieces) {
    std::vector<Address> edges;
    for (const FootprintPiece& each : pieces)
        edges.insert(edges.end(), {each.begin, each.end});
    std::ranges::sort(edges);
    edges.erase(std::ranges::unique(edges).begin(), edges.end());
    std::ranges::sort(pieces, {}, &FootprintPiece::begin);
    const auto disturbs_less = [](const FootprintPiece* a, const FootprintPiece* b) {
        return a->touch < b->touch;
    };
    std::vector<FootprintPiece> result;
    std::vector<const FootprintPiece*> open;
    auto next = pieces.begin();
    for (const Address edge : edges) {
        std::erase_if(open, [&](const FootprintPiece* each) { return each->end <= edge; });
        for (; next != pieces.end() && next->begin == edge; ++next)
            open.push_back(&*next);
        if (!result.empty() && result.back().end > edge) // Opened with the edge before it.
            result.back().end = edge;
        if (open.empty())
            continue;
        const FootprintPiece& most = **std::ranges::max_element(open, disturbs_less);
        if (!result.empty() && result.back().end == edge && result.back().touch == most.touch &&
            result.back().line == most.line)
            result.back().end = most.end;
        else
            result.push_back({edge, most.end, most.touch, most.line});
    }
    return result;
}

std::shared_ptr<const Footprint> footprint_of(std::vector<FootprintPiece> pieces, const Kernel& kernel,
                                              const GlobalMemory& memory) {
    auto footprint = std::make_shared<Footprint>();
    footprint->pieces = std::move(pieces);
    footprint->fences = has_fences(kernel);
    finish(*footprint, kernel, memory, FootprintWish::all);
    return footprint;
}

} // namespace emu::check
