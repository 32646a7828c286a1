#pragma once
/// \file
/// Follows values that mean nothing (read from memory that nobody has written, or from behind an array) from
/// register to register and through shared and local memory. To read such bytes is no mistake yet: sorts,
/// scans and reductions of partial tiles move and combine them and then drop the result, and a compiler reads
/// four floats where the program wants three. A mistake is what uses them: see Use.

#include "machine/events.hpp"
#include "machine/warp.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace emu::check {

/// What turns such a value into a mistake.
enum class Use : std::uint8_t {
    stored,    ///< To global memory.
    address,   ///< Says where to read or write.
    decision,  ///< Says which way a branch goes, or whether a store, a barrier or an exit is executed.
    copied,    ///< An asynchronous copy takes it to global memory.
    handed_on, ///< To a function, or an instruction that acts on what it gets.
};

/// Number of an Origin, from 1; 0 is none.
using OriginId = std::uint32_t;

/// An instruction that read such values. All that it reads counts as one, and is told of once.
struct Origin {
    std::uint32_t pc = 0;
    bool used = false;
};

/// Gets the first use of what an origin read.
class UseListener {
  public:
    virtual void on_use(OriginId origin, Use use, const Warp& warp, unsigned lane, std::uint32_t pc) = 0;
    /// Where only registers are followed, instead: a lane uses such a value; told each time.
    virtual void on_lane_uses(OriginId /*origin*/, unsigned /*lane*/) {}
    /// … and a lane makes one value of two: the origin of what it makes.
    virtual OriginId on_lane_joins(OriginId /*one*/, OriginId other, unsigned /*lane*/) { return other; }

  protected:
    ~UseListener() = default;
};

/// The meaningless values in the registers and in the memory of a cluster.
class Values {
  public:
    /// Where values are followed only in the registers of the thread that read them, what neither hands_on()
    /// nor may hide a value uses it, and origins are the caller's own numbers.
    enum class Follow : std::uint8_t { everywhere, registers };
    explicit Values(UseListener& listener, Follow follow = Follow::everywhere)
        : listener_(listener), in_registers_(follow == Follow::registers), origins_(1) {}

    /// Makes another value of the operands, and that cheaply: a move, an addition, a comparison.
    static bool hands_on(const ptx::Instruction& instruction);
    /// Lanes get other results, although all of them have the same operands.
    static bool tells_lanes_apart(const ptx::Instruction& instruction);

    /// Nothing is followed: no call but taint_…() and origin_of() is needed.
    bool empty() const { return tainted_rows_ == 0 && !marked_; }

    /// The origin for what `pc` reads; a new one the first time. `kind`: the caller's own number, where one
    /// instruction may read values that are meaningless for different reasons.
    OriginId origin_of(std::uint32_t pc, unsigned kind = 0);
    const Origin& origin(OriginId id) const { return origins_[id]; }

    /// The load at `pc` gave `lane` a meaningless byte, `offset` bytes behind the lane's address. Call it
    /// while the load executes.
    void taint_register(Warp& warp, std::uint32_t pc, unsigned lane, std::int64_t offset, OriginId origin);
    /// The instruction at `pc`, no load, gives `lane` a meaningless value: its result, or that register of
    /// several.
    void taint_result(Warp& warp, std::uint32_t pc, unsigned lane, unsigned element, OriginId origin);

    /// To be called before each instruction, executed by the lanes of `mask` (none: its guard is false).
    void before_instruction(Warp& warp, std::uint32_t pc, LaneMask mask);
    /// To be called with each access of an instruction, while it executes.
    void access(const AccessEvent& event);

    // -- shared memory, by shared-window address
    void start_block(unsigned rank);
    void mark(std::uint32_t address, std::uint32_t bytes, OriginId origin);
    void clear(std::uint32_t address, std::uint32_t bytes) { mark(address, bytes, 0); }
    /// An origin of bytes in this range, or 0.
    OriginId marked(std::uint32_t address, std::uint32_t bytes) const;
    /// As `marked`, and what `to` holds then is as meaningless as what `from` holds.
    void copy(std::uint32_t from, std::uint32_t to, std::uint32_t bytes);

    /// `origin` is used by the instruction at `pc`.
    void use(OriginId origin, Use use, const Warp& warp, unsigned lane, std::uint32_t pc);

  private:
    /// The lanes of a register row that hold such a value, and where it comes from.
    struct Tainted {
        LaneMask lanes = 0;
        OriginId origin = 0;
    };
    /// The origin in each lane, of the rows that have one: few among many, and each is large.
    class ByLane {
      public:
        std::array<OriginId, warp_size>& operator[](std::size_t row) {
            const std::size_t part = row / part_rows;
            if (parts_.size() <= part)
                parts_.resize(part + 1);
            if (!parts_[part])
                parts_[part] = std::make_unique<Part>();
            return (*parts_[part])[row % part_rows];
        }

      private:
        static constexpr std::size_t part_rows = 8;
        using Part = std::array<std::array<OriginId, warp_size>, part_rows>;
        std::vector<std::unique_ptr<Part>> parts_;
    };
    struct WarpRows {
        std::vector<Tainted> rows; ///< By offset among the warp's frames / 4.
        unsigned tainted = 0;      ///< Rows with any lane.
        ByLane by_lane;            ///< Beside `rows`, where only registers are followed.
    };
    /// What the store or atomic at hand writes, element by element.
    struct Outgoing {
        const Warp* warp = nullptr;
        std::uint32_t pc = 0;
        std::vector<Tainted> elements;
        bool of_matrix = false; ///< stmatrix, wmma.store: a lane may write what others hold.
    };
    struct Flow; ///< One instruction, while it is looked at.
    enum class Rule : std::uint8_t {
        unknown,
        nothing,
        combine,    ///< The result depends on all sources, lane by lane.
        predicates, ///< … but an operand of and, or may decide alone.
        select,     ///< selp
        shuffle,
        collective, ///< The result depends on the sources of all lanes.
        product,    ///< mma: rows of A, columns of B and elements of C.
        sum,        ///< wgmma: its operands, and what the result held before if it is added to.
        load,
        store,
        atomic,
        reduce, ///< red: an atomic without a result.
        branch, ///< The guard decides; operands name places.
        use_all,
    };
    static Rule rule_of(const ptx::Instruction& instruction);

    static bool gives_result(Rule rule) {
        return rule == Rule::atomic || rule == Rule::shuffle || rule == Rule::collective ||
               rule == Rule::combine || rule == Rule::sum;
    }
    Tainted* row(const Warp& warp, std::uint32_t place);
    WarpRows& rows_of(const Warp& warp);
    void set(const Warp& warp, std::uint32_t place, LaneMask lanes, Tainted value,
             const std::array<OriginId, warp_size>& by_lane);
    void access_lane(const AccessEvent& event, unsigned lane);
    void store_of_matrix(const AccessEvent& event, unsigned lane);
    void load_element(const AccessEvent& event, unsigned lane, std::uint32_t offset, OriginId origin);
    void mark_lane(const AccessEvent& event, unsigned lane, std::uint32_t offset, std::uint32_t bytes,
                   OriginId origin);
    OriginId marked_lane(const AccessEvent& event, unsigned lane, std::uint32_t offset,
                         std::uint32_t bytes) const;

    UseListener& listener_;
    const bool in_registers_;     ///< See Follow.
    std::vector<Origin> origins_; ///< [0] is unused.
    std::unordered_map<std::uint64_t, OriginId> by_instruction_;
    std::vector<WarpRows> warps_; ///< By rank * 32 + warp in the block.
    std::vector<Rule> rules_;     ///< By instruction.
    Outgoing outgoing_;
    unsigned tainted_rows_ = 0;
    bool marked_ = false; ///< Some memory is, or was, marked.
    /// Origin << 4 | bytes, of each word of shared memory. By rank; empty where nothing is marked.
    std::vector<std::vector<std::uint32_t>> shared_;
    /// The same of local memory: by warp, lane and word.
    std::unordered_map<std::uint64_t, std::uint32_t> local_;
};

} // namespace emu::check
