// Vector clocks and shadow memory by themselves.

#include "happens_before/records.hpp"
#include "happens_before/shadow.hpp"
#include "happens_before/vector_clock.hpp"

#include <catch2/catch_test_macros.hpp>

#include <set>
#include <vector>

using namespace emu::check;

namespace {

ClockRef clock_with(ClockSpace& space, Component c, Epoch e) {
    Accumulator a;
    a.raise(order, c, e);
    return space.freeze(a);
}

} // namespace

TEST_CASE("a join is the greatest of each component") {
    Clock a, b;
    a.raise(order, 0, 3);
    a.raise(order, 5, 1);
    b.raise(order, 0, 2);
    b.raise(order, 9, 7);
    a.join(b);
    REQUIRE(a.get(order, 0) == 3);
    REQUIRE(a.get(order, 5) == 1);
    REQUIRE(a.get(order, 9) == 7);
    REQUIRE(a.get(order, 100) == 0);
    REQUIRE(a.get(shared_proxy, 0) == 0);
}

TEST_CASE("a fence copies what is ordered into its own part only") {
    Clock a;
    a.raise(order, 2, 4);
    a.fence(true, false);
    REQUIRE(a.get(shared_proxy, 2) == 4);
    REQUIRE(a.get(global_proxy, 2) == 0);
    a.raise(order, 2, 5);
    REQUIRE(a.get(shared_proxy, 2) == 4);
}

TEST_CASE("joins of shared clocks are computed once") {
    ClockSpace space;
    const ClockRef a = clock_with(space, 0, 1);
    const ClockRef b = clock_with(space, 1, 2);
    const ClockRef first = space.join(a, b);
    const auto computed = space.computed();
    for (int thread = 0; thread < 1024; ++thread)
        REQUIRE(space.join(a, b) == first);
    REQUIRE(space.computed() == computed);
    REQUIRE(first->clock.get(order, 0) == 1);
    REQUIRE(first->clock.get(order, 1) == 2);
    REQUIRE(space.join(first, a) == first);
    REQUIRE(space.join(a, first) == first);
    REQUIRE(space.join(space.bottom(), a) == a);
}

TEST_CASE("clocks that nobody refers to are used again, without their old contents") {
    ClockSpace space;
    for (Epoch e = 1; e < 1000; ++e) {
        const ClockRef a = clock_with(space, e % 7, e);
        for (Component c = 0; c < 7; ++c)
            REQUIRE(a->clock.get(order, c) == (c == e % 7 ? e : 0));
    }
}

TEST_CASE("an accumulator remembers what it holds") {
    ClockSpace space;
    Accumulator a;
    const ClockRef base = clock_with(space, 3, 9);
    REQUIRE(a.empty());
    for (int i = 0; i < 100; ++i)
        a.join(base);
    a.raise(order, 4, 2);
    const ClockRef frozen = space.freeze(a);
    REQUIRE(frozen->clock.get(order, 3) == 9);
    REQUIRE(frozen->clock.get(order, 4) == 2);
    REQUIRE(space.join(base, frozen) == frozen);
}

TEST_CASE("knowledge of other clusters joins by cluster") {
    const auto of = [](std::uint32_t cluster, Component c, Epoch e) {
        auto clock = std::make_shared<Clock>();
        clock->raise(order, c, e);
        auto foreign = std::make_shared<Foreign>();
        (*foreign)[cluster] = std::move(clock);
        return std::shared_ptr<const Foreign>(std::move(foreign));
    };
    const auto both = join_foreign(join_foreign(of(1, 0, 5), of(2, 0, 6)), of(1, 3, 7));
    REQUIRE(both->size() == 2);
    REQUIRE(both->at(1)->get(order, 0) == 5);
    REQUIRE(both->at(1)->get(order, 3) == 7);
    REQUIRE(both->at(2)->get(order, 0) == 6);
}

TEST_CASE("a split word keeps its bytes apart and is whole again after a whole write") {
    Region region(4);
    std::vector<std::pair<unsigned, unsigned>> seen;
    const auto note = [&](Cell&, unsigned k, unsigned n) { seen.emplace_back(k, n); };
    region.visit(1, 15, [](Cell& cell, unsigned, unsigned) { cell.write = 64; });
    region.visit(1, 2, [](Cell& cell, unsigned k, unsigned) {
        REQUIRE(k == 1);
        REQUIRE(cell.write == 64);
        cell.write = 96;
    });
    region.visit(1, 15, [&](Cell& cell, unsigned k, unsigned n) {
        note(cell, k, n);
        REQUIRE(cell.write == (k == 1 ? 96u : 64u));
    });
    REQUIRE(seen.size() == 4);
    region.visit(1, 15, [](Cell& cell, unsigned, unsigned) { cell = {128, 0}; });
    seen.clear();
    region.visit(1, 15, note);
    REQUIRE(seen == std::vector<std::pair<unsigned, unsigned>>{{0, 4}});
}

TEST_CASE("a cell holds two readers, and gives the room back") {
    Region region(2);
    region.visit(0, 15, [&](Cell& cell, unsigned, unsigned) {
        region.set_readers(cell, {32, 64});
        REQUIRE(region.pair_count() == 1);
        REQUIRE(region.readers(cell).first == 32);
        REQUIRE(region.readers(cell).second == 64);
        region.set_readers(cell, {96, 0});
        REQUIRE(region.pair_count() == 0);
        REQUIRE(region.readers(cell).first == 96);
    });
}

TEST_CASE("records of several sources never share a number") {
    RecordStore store;
    RecordSource a(store), b(store);
    std::set<std::uint32_t> ids;
    for (int i = 0; i < 1000; ++i) {
        Record r;
        r.pc = static_cast<std::uint32_t>(i);
        const std::uint32_t id = (i % 3 ? a : b).add(r);
        REQUIRE(ids.insert(id).second);
        REQUIRE(store[id].pc == r.pc);
    }
}

TEST_CASE("a full store of records forgets new ones and keeps the old") {
    RecordStore store(2 * RecordStore::batch);
    RecordSource source(store);
    for (std::uint32_t i = 0; i < RecordStore::batch; ++i)
        REQUIRE(source.add({.pc = i}) == RecordStore::batch + i);
    for (unsigned i = 0; i < 2 * RecordStore::batch; ++i)
        REQUIRE(source.add({.pc = 7777}) == RecordStore::forgotten);
    REQUIRE(store[RecordStore::forgotten].epoch == 0);
    REQUIRE(store[RecordStore::forgotten].pc == 0);
    for (std::uint32_t i = 0; i < RecordStore::batch; ++i)
        REQUIRE(store[RecordStore::batch + i].pc == i);
}
