#include "im2col_cases.hpp"

#include "tensor_records.hpp"

#include <algorithm>
#include <array>

namespace hardware {

namespace {

/// SplitMix64.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t bits() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        return z ^ z >> 31;
    }
    /// Of both ends and what lies between.
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool one_in(std::uint64_t n) { return bits() % n == 0; }

  private:
    std::uint64_t state_;
};

using List = std::vector<std::int64_t>;

std::string text(const List& list) {
    std::string out;
    for (const std::int64_t value : list)
        out += (out.empty() ? "" : ",") + std::to_string(value);
    return out;
}

/// A case while it is made.
struct Case {
    std::string operation;
    int type = 7, interleave = 0, swizzle = 0, fill = 0;
    std::int64_t channels = 0, pixels = 0, at = 0;
    List dims, strides, low, high, steps, start, offsets;

    std::size_t spatial() const { return dims.size() - 2; }
    /// The dimension of the tensor that belongs to the first of the box.
    std::size_t first() const { return interleave ? 0 : 1; }
    bool writes() const { return operation != "load"; }
    unsigned element() const { return element_bytes(type); }
    std::int64_t row_bytes() const { return interleave ? 16 * interleave : channels * element(); }

    std::string line() const {
        std::string out = operation;
        const auto add = [&](const char* key, const std::string& value) {
            out += std::string(" ") + key + "=" + value;
        };
        const auto add_if = [&](const char* key, std::int64_t value) {
            if (value != 0)
                add(key, std::to_string(value));
        };
        if (type != 7)
            add("type", std::to_string(type));
        add("dims", text(dims));
        add("strides", text(strides));
        add("lo", text(low));
        add("hi", text(high));
        add("ch", std::to_string(channels));
        add("px", std::to_string(pixels));
        if (std::ranges::any_of(steps, [](std::int64_t step) { return step != 1; }))
            add("es", text(steps));
        add_if("il", interleave);
        add_if("sw", swizzle);
        add_if("oob", fill);
        if (operation != "map")
            add("start", text(start));
        if (operation == "load")
            add("off", text(offsets));
        add_if("at", at);
        return out;
    }
};

bool is_float(int type) { return type >= 6; }
std::int64_t swizzle_width(int swizzle) { return swizzle == 0 ? 256 : 16 << swizzle; }

/// Where a random case begins.
enum class Start { in_box, aligned_in_box, anywhere };

/// A tensor of images that consist of slices, which hold 16 or 32 bytes of each pixel.
void choose_interleaved_tensor(Random& r, Case& c, std::size_t rank) {
    const std::int64_t group = 16 * c.interleave;
    c.dims.clear();
    for (std::size_t i = 0; i + 2 < rank; ++i)
        c.dims.push_back(r.between(2, i == 0 ? 14 : 16 / static_cast<std::int64_t>(rank)));
    c.dims.push_back(r.between(1, 4));
    c.dims.push_back(r.between(1, 3));
    std::int64_t stride = group;
    c.strides.clear();
    for (std::size_t i = 0; i + 1 < rank; ++i) {
        stride = stride * c.dims[i] + (r.one_in(4) ? group * r.between(1, 3) : 0);
        c.strides.push_back(stride);
    }
}

/// A tensor, packed or padded.
void choose_tensor(Random& r, Case& c, std::size_t rank) {
    constexpr std::array<std::array<std::int64_t, 2>, 3> most{{{24, 0}, {14, 10}, {9, 6}}};
    const std::int64_t unit = 16 / std::min(16u, c.element());
    c.dims = {r.between(1, 4 * c.channels)};
    c.dims[0] = r.one_in(3) ? c.dims[0] : (c.dims[0] + unit - 1) / unit * unit;
    c.dims.push_back(r.between(2, most[rank - 3][0]));
    if (rank > 3)
        c.dims.push_back(r.between(2, most[rank - 3][1]));
    if (rank > 4)
        c.dims.push_back(r.between(2, 5));
    c.dims.push_back(r.between(1, 4));
    std::int64_t stride = (c.dims[0] * c.element() + 15) / 16 * 16;
    c.strides.clear();
    for (std::size_t i = 1; i < rank; ++i) {
        if (r.one_in(4))
            stride += 16 * r.between(1, 3);
        c.strides.push_back(stride);
        stride *= c.dims[i];
    }
}

std::int64_t bytes_of_tensor(const Case& c) { return c.strides.back() * c.dims.back(); }

/// Corners of a box that holds at least one pixel; of what writes, inside the tensor.
void choose_corners(Random& r, Case& c) {
    const bool inside = c.writes() && !r.one_in(16);
    c.low.clear();
    c.high.clear();
    for (std::size_t i = 0; i < c.spatial(); ++i) {
        const std::int64_t size = c.dims[c.first() + i];
        const std::int64_t low = r.between(inside ? 0 : -4, std::min<std::int64_t>(3, size - 1));
        c.low.push_back(low);
        c.high.push_back(std::max(low - size + 1, r.between(-5, inside ? 0 : 4)));
    }
}

void choose_steps(Random& r, Case& c) {
    c.steps.assign(c.dims.size(), 1);
    const int manner = static_cast<int>(r.between(0, 3));
    for (std::size_t i = 0; i < c.steps.size() && manner > 0; ++i)
        if (const bool spatial = i >= c.first() && i < c.first() + c.spatial(); spatial || manner == 3)
            c.steps[i] = r.between(1, manner == 1 ? 2 : 8);
}

void choose_start(Random& r, Case& c, Start start) {
    const std::int64_t unit = std::max<std::int64_t>(1, 16 / c.element());
    const auto units = (c.dims[0] + unit - 1) / unit;
    c.start.clear();
    if (!c.interleave)
        c.start.push_back(unit * (r.one_in(2) ? 0 : r.between(start == Start::anywhere ? -2 : 0, units)));
    c.offsets.clear();
    for (std::size_t i = 0; i < c.spatial(); ++i) {
        const std::size_t dimension = c.first() + i;
        const std::int64_t low = c.low[i], high = c.dims[dimension] - 1 + c.high[i],
                           step = c.steps[dimension];
        c.start.push_back(start == Start::aligned_in_box ? low + step * r.between(0, (high - low) / step)
                          : start == Start::in_box       ? r.between(low, high)
                                                         : r.between(low - 4, high + 4));
        c.offsets.push_back(r.one_in(12) ? r.between(0, 31) : r.between(0, 4));
    }
    if (c.interleave)
        c.start.push_back(r.between(start == Start::anywhere ? -1 : 0, c.dims[c.spatial()]));
    const std::int64_t images = c.dims.back();
    c.start.push_back(start == Start::anywhere ? r.between(-1, images + 1) : r.between(0, images - 1));
}

Case random_case(Random& r, const std::string& operation, Start start, bool interleaved) {
    Case c;
    c.operation = operation;
    c.interleave = interleaved ? static_cast<int>(r.between(1, 2)) : 0;
    for (;;) {
        c.type = r.one_in(3) ? 7 : static_cast<int>(r.between(0, 12));
        if (operation == "add" && c.type > 10)
            continue;
        c.swizzle = static_cast<int>(r.between(0, 3));
        const std::int64_t most = std::min<std::int64_t>(swizzle_width(c.swizzle), 256 * c.element());
        c.channels = 16 * r.between(1, most / 16) / c.element();
        const std::int64_t pitch = c.swizzle == 0 || c.interleave ? c.row_bytes() : swizzle_width(c.swizzle);
        c.at = r.one_in(3) ? 128 * r.between(1, 9) : 0;
        const std::int64_t fits = (im2col_area_bytes - c.at) / pitch;
        c.pixels = std::min(fits, r.one_in(8) ? r.between(1, 256) : r.between(1, 48));
        c.fill = is_float(c.type) && operation == "load" && r.one_in(3) ? 1 : 0;
        const auto rank = static_cast<std::size_t>(r.between(3, 5));
        if (c.interleave)
            choose_interleaved_tensor(r, c, rank);
        else
            choose_tensor(r, c, rank);
        if (bytes_of_tensor(c) + 65536 >
            static_cast<std::int64_t>(im2col_memory_bytes - im2col_tensor_offset))
            continue;
        choose_corners(r, c);
        choose_steps(r, c);
        choose_start(r, c, start);
        return c;
    }
}

/// Every argument wrong by a little in turn, then arguments drawn from what is right and wrong.
void random_maps(Random& r, std::vector<std::string>& lines) {
    const auto pick = [&](const std::vector<std::string>& values) {
        return values[r.bits() % values.size()];
    };
    const std::array<std::array<std::string, 3>, 3> tensors{{
        {"64,48,5", "256,0x3000", "1,1,1"},
        {"64,20,12,5", "256,0x1400,0xf000", "1,1,1,1"},
        {"64,20,12,6,5", "256,0x1400,0xf000,0x5a000", "1,1,1,1,1"},
    }};
    const std::vector<std::string> corners[3] = {
        {"0", "-1", "1", "-47", "-48", "-49", "47", "48", "32767", "-32768", "32768", "-32769", "65535"},
        {"0,0", "-1,-1", "1,2", "-19,0", "-20,0", "0,-12", "0,-11", "127,127", "-128,-128", "128,0",
         "0,-129"},
        {"0,0,0", "-1,-1,-1", "1,2,3", "0,0,-5", "0,0,-6", "15,15,15", "-16,-16,-16", "16,0,0", "0,-17,0"}};
    for (int i = 0; i < 420; ++i) {
        const std::size_t k = r.bits() % 3;
        const bool wild = i % 3 == 0;
        std::string line = "map type=" + std::to_string(wild ? r.between(0, 16) : r.between(0, 12));
        line += " dims=" + tensors[k][0] + " strides=" + tensors[k][1];
        line += " lo=" + (r.one_in(2) ? corners[k][r.bits() % 3] : pick(corners[k]));
        line += " hi=" + (r.one_in(2) ? corners[k][r.bits() % 3] : pick(corners[k]));
        line += " ch=" +
                pick({"4", "8", "16", "16", "32", "64", "128", "256", wild ? "257" : "1", wild ? "0" : "2"});
        line += " px=" + pick({"1", "16", "64", "256", "1024", wild ? "1025" : "1023", wild ? "0" : "300"});
        if (r.one_in(2)) {
            List steps;
            for (std::size_t d = 0; d < k + 3; ++d)
                steps.push_back(wild && r.one_in(12) ? r.between(0, 1) * 9 : r.between(1, 8));
            line += " es=" + text(steps);
        }
        line += " il=" + std::to_string(r.one_in(3) ? r.between(0, wild ? 3 : 2) : 0);
        line += " sw=" + std::to_string(r.between(0, wild ? 6 : 3));
        line += " l2=" + std::to_string(r.between(0, wild ? 4 : 3));
        line += " oob=" + std::to_string(r.one_in(3) ? r.between(0, wild ? 2 : 1) : 0);
        line += " base=" + pick({"0x7f1234567800", "0x7f1234567800", "0x7f1234567810",
                                 wild ? "0x7f1234567808" : "0x10"});
        lines.push_back(line);
    }
}

} // namespace

std::vector<std::string> im2col_cases() {
    std::vector<std::string> lines = im2col_directed_cases();
    Random r(20261123);
    random_maps(r, lines);
    const auto add = [&](int count, const std::string& operation, Start start, bool interleaved = false) {
        for (int i = 0; i < count; ++i)
            lines.push_back(random_case(r, operation, start, interleaved).line());
    };
    add(150, "load", Start::aligned_in_box);
    add(150, "load", Start::in_box);
    add(80, "load", Start::in_box, true);
    add(60, "store", Start::aligned_in_box);
    add(60, "store", Start::in_box);
    add(40, "store", Start::in_box, true);
    add(60, "add", Start::in_box);
    // Most of these end a process.
    add(50, "load", Start::anywhere);
    add(10, "store", Start::anywhere);
    for (std::string& line : im2col_last_cases())
        lines.push_back(std::move(line));
    return lines;
}

} // namespace hardware
