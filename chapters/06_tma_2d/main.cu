/// @file main.cu
/// Chapter 6: tensor copies by the Tensor Memory Accelerator, checked and measured.
#include "tma_2d.cuh"

#include "workbook/program.hpp"
#include "workbook/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tma_2d;
using workbook::Comparison;
using workbook::DeviceBuffer;
using workbook::Shape;

constexpr int gather_first = 1;
constexpr int gather_step = 3;
constexpr int reduce_x = 8; // the sums of the last eight columns and two rows fall off the edge
constexpr int reduce_y = 2;
constexpr int copy_shift[] = {4, -1, 1, -1, 1};

/// The dimensions of a tensor of at most `size` elements, no two alike where that can be; 2^30 elements at
/// most, since coordinates are 32-bit integers.
template <int rank>
Tensor<int, rank> tensor_of(std::size_t size) {
    size = std::min(size, std::size_t{1} << 30);
    auto side = static_cast<std::size_t>(std::pow(static_cast<double>(size), 1.0 / rank));
    Tensor<int, rank> tensor;
    tensor.dims[0] = size;
    for (std::size_t i = 1; i<rank; ++i, side -= side> 1 ? 1 : 0) {
        tensor.dims[i] = std::max<std::size_t>(side, 1);
        tensor.dims[0] /= tensor.dims[i];
    }
    return tensor;
}

/// The elements that hold a matrix or any of the tensors.
std::size_t buffer_size(std::size_t size) {
    return std::max({workbook::shape_of(size).padded_size<int>(), tensor_of<1>(size).padded_size(),
                     tensor_of<2>(size).padded_size(), tensor_of<3>(size).padded_size(),
                     tensor_of<4>(size).padded_size(), tensor_of<5>(size).padded_size()});
}

/// The matrices that the kernels work on; the same memory serves as tensors of other ranks.
struct Matrices {
    explicit Matrices(const workbook::RunContext& run)
        : size(run.size), shape(workbook::shape_of(run.size)),
          host(workbook::random_values<int>(buffer_size(run.size), run.seed)),
          floats_host(workbook::random_values<float>(shape.padded_size<float>(), run.seed + 1)), in(host),
          out(host.size()), floats(floats_host), means(floats_host.size()), tile(tile_elements) {}

    [[nodiscard]] Matrix<const int> input() const { return shape.view(in.data()); }
    [[nodiscard]] Matrix<int> output() { return shape.view(out.data()); }
    [[nodiscard]] std::size_t elements() const { return shape.width * shape.height; }

    /// The input's element at (x, y), `outside` where the matrix has none.
    [[nodiscard]] int at_or(long long x, long long y, int outside) const {
        const auto width = static_cast<long long>(shape.width);
        if (x < 0 || y < 0 || x >= width || y >= static_cast<long long>(shape.height))
            return outside;
        return host[static_cast<std::size_t>(y) * input().pitch + static_cast<std::size_t>(x)];
    }

    std::size_t size;
    Shape shape;
    std::vector<int> host;
    std::vector<float> floats_host;
    DeviceBuffer<int> in;
    DeviceBuffer<int> out;
    DeviceBuffer<float> floats;
    DeviceBuffer<float> means;
    DeviceBuffer<int> tile;
};

std::size_t bytes_of_two(const Matrices& matrices) { return 2 * matrices.elements() * sizeof(int); }
void restore(Matrices& matrices) { matrices.out.upload(matrices.host); }
void poison(Matrices& matrices) { matrices.out.poison(); }

int wrapping_add(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

/// As many elements as `buffer` has, all poisoned.
template <class T>
std::vector<T> poisoned(const DeviceBuffer<T>& buffer) {
    std::vector<T> values(buffer.size());
    if (!values.empty())
        std::memset(values.data(), DeviceBuffer<T>::poison_byte, buffer.size_bytes());
    return values;
}

/// Sets the elements of a matrix of this shape in `values` to value(x, y).
template <class T, class Value>
void set_each(std::vector<T>& values, Shape shape, Value value) {
    for (std::size_t y = 0; y < shape.height; ++y)
        for (std::size_t x = 0; x < shape.width; ++x)
            values[y * workbook::row_pitch<T>(shape.width) + x] =
                value(static_cast<long long>(x), static_cast<long long>(y));
}

// ---- one tile ----

/// Where add_tile and overhanging_box look: a corner that hangs over the right and the lower edge.
int corner_x(const Matrices& matrices) {
    const auto width = static_cast<int>(matrices.shape.width);
    return std::max(0, width - 40) / x_step * x_step;
}
int corner_y(const Matrices& matrices) { return std::max(0, static_cast<int>(matrices.shape.height) - 10); }

/// How many elements of that tile the matrix has.
std::size_t inside_corner(const Matrices& matrices) {
    return (matrices.shape.width - static_cast<std::size_t>(corner_x(matrices))) *
           (matrices.shape.height - static_cast<std::size_t>(corner_y(matrices)));
}

Comparison check_add_tile(Matrices& matrices) {
    std::vector<int> expected = matrices.host;
    set_each(expected, matrices.shape, [&](long long x, long long y) {
        const int value = matrices.at_or(x, y, 0);
        const long long column = x - corner_x(matrices);
        const long long row = y - corner_y(matrices);
        return column >= 0 && row >= 0 && column < tile_width && row < tile_height
                   ? wrapping_add(value, static_cast<int>(row * tile_width + column))
                   : value;
    });
    return workbook::check_matrix(matrices.out, expected, matrices.shape);
}

Comparison check_overhanging_box(Matrices& matrices) {
    std::vector<int> expected = poisoned(matrices.tile);
    if (!matrices.input().empty())
        set_each(expected, {tile_width, tile_height}, [&](long long x, long long y) {
            return matrices.at_or(corner_x(matrices) + x, corner_y(matrices) + y, 0);
        });
    return workbook::check_exact(matrices.tile, expected);
}

/// What was seen: the run came to its end, and what is in the tile.
std::string note_overhanging_box(Matrices& matrices) {
    if (matrices.input().empty())
        return {};
    const std::vector<int> tile = matrices.tile.download();
    return "the wait for " + std::to_string(tile_bytes) + " bytes ended, with " +
           std::to_string(inside_corner(matrices) * sizeof(int)) + " of them in the matrix; " +
           std::to_string(std::ranges::count(tile, 0)) + " of " + std::to_string(tile.size()) +
           " elements are 0, " + std::to_string(std::ranges::count(tile, -1)) + " still -1";
}

// ---- a matrix ----

Comparison check_add_one_matrix(Matrices& matrices) {
    std::vector<int> expected = matrices.host;
    set_each(expected, matrices.shape,
             [&](long long x, long long y) { return wrapping_add(matrices.at_or(x, y, 0), 1); });
    return workbook::check_matrix(matrices.out, expected, matrices.shape);
}

Comparison check_box_filter(Matrices& matrices) {
    std::vector<int> expected = poisoned(matrices.out);
    set_each(expected, matrices.shape, [&](long long x, long long y) {
        int sum = 0;
        for (int k = 0; k < 9; ++k)
            sum = wrapping_add(sum, matrices.at_or(x + k % 3 - 1, y + k / 3 - 1, 0));
        return sum;
    });
    return workbook::check_matrix(matrices.out, expected, matrices.shape);
}

Comparison check_box_mean(Matrices& matrices) {
    std::vector<float> expected = poisoned(matrices.means);
    const auto [width, height] = matrices.shape;
    set_each(expected, matrices.shape, [&](long long x, long long y) {
        float sum = 0;
        int inside = 0;
        for (int k = 0; k < 9; ++k) {
            const auto column = static_cast<std::size_t>(x + k % 3 - 1); // -1 becomes too large
            const auto row = static_cast<std::size_t>(y + k / 3 - 1);
            if (column < width && row < height) {
                sum += matrices.floats_host[row * workbook::row_pitch<float>(width) + column];
                ++inside;
            }
        }
        return sum / static_cast<float>(inside);
    });
    return workbook::check_matrix(matrices.means, expected, matrices.shape);
}

// ---- gather and reduce ----

Shape gathered_shape(const Matrices& matrices) {
    return {matrices.shape.width, matrices.shape.height / gather_step};
}

Comparison check_gather(Matrices& matrices) {
    std::vector<int> expected = poisoned(matrices.out);
    set_each(expected, gathered_shape(matrices),
             [&](long long x, long long y) { return matrices.at_or(x, gather_first + y * gather_step, 0); });
    return workbook::check_matrix(matrices.out, expected, gathered_shape(matrices));
}

Comparison check_reduce(Matrices& matrices) {
    std::vector<int> expected(tile_elements);
    for (std::size_t y = 0; y < matrices.shape.height; ++y)
        for (std::size_t x = 0; x < matrices.shape.width; ++x) {
            const auto to_x = static_cast<int>(x % tile_width) + reduce_x;
            const auto to_y = static_cast<int>(y % tile_height) + reduce_y;
            if (to_x < tile_width && to_y < tile_height) {
                int& sum = expected[static_cast<std::size_t>(to_y * tile_width + to_x)];
                sum = wrapping_add(sum, matrices.host[y * matrices.input().pitch + x]);
            }
        }
    return workbook::check_exact(matrices.tile, expected);
}

// ---- tensors ----

template <int rank>
Extents<rank> shift_of() {
    Extents<rank> shift{};
    std::copy_n(copy_shift, rank, shift.of);
    return shift;
}

/// The index of the place that element n of a tensor is copied from, or -1 if it lies outside; and the index
/// of the element itself.
struct CopiedFrom {
    std::ptrdiff_t source;
    std::size_t destination;
};
template <int rank>
CopiedFrom copied_from(const Tensor<int, rank>& tensor, std::size_t n) {
    CopiedFrom result{0, 0};
    for (int i = 0; i < rank; ++i) {
        const std::size_t side = tensor.dims[static_cast<std::size_t>(i)];
        const std::size_t at = n % side;
        const std::size_t from = at + static_cast<std::size_t>(copy_shift[i]); // wraps if negative
        result.destination += at * tensor.stride(i);
        if (from >= side)
            result.source = -1;
        else if (result.source >= 0)
            result.source += static_cast<std::ptrdiff_t>(from * tensor.stride(i));
        n /= side;
    }
    return result;
}

template <int rank>
Comparison check_copy(Matrices& matrices) {
    const auto tensor = tensor_of<rank>(matrices.size);
    std::size_t elements = 1;
    for (const std::size_t side : tensor.dims)
        elements *= side;
    std::vector<int> expected = poisoned(matrices.out);
    for (std::size_t n = 0; n < elements; ++n) {
        const auto [source, destination] = copied_from<rank>(tensor, n);
        expected[destination] = source < 0 ? 0 : matrices.host[static_cast<std::size_t>(source)];
    }
    const std::size_t width = tensor.dims[0];
    return workbook::check_matrix(matrices.out, expected, {width, width > 0 ? elements / width : 0});
}

/// Written elements and those that are read, that is, not shifted out.
template <int rank>
std::size_t bytes_of_copy(const Matrices& matrices) {
    const auto tensor = tensor_of<rank>(matrices.size);
    std::size_t written = 1;
    std::size_t read = 1;
    for (std::size_t i = 0; i < rank; ++i) {
        written *= tensor.dims[i];
        read *= tensor.dims[i] -
                std::min<std::size_t>(tensor.dims[i], static_cast<std::size_t>(std::abs(copy_shift[i])));
    }
    return (written + read) * sizeof(int);
}

/// An entry for the copy of a tensor of this rank.
template <int rank, auto kernel>
constexpr workbook::KernelEntry<Matrices> copying(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = bytes_of_copy<rank>,
            .prepare = poison,
            .launch =
                [](Matrices& matrices) {
                    auto out = tensor_of<rank>(matrices.size);
                    out.data = matrices.out.data();
                    launch_copy<rank>(kernel, {matrices.in.data(), out.dims}, out, shift_of<rank>());
                },
            .check = check_copy<rank>};
}

constexpr workbook::KernelEntry<Matrices> kernels[] = {
    {.name = "add_tile",
     .shows = "one tile at (x, y): load, add, store back",
     .bytes = [](const Matrices& matrices) { return 2 * inside_corner(matrices) * sizeof(int); },
     .prepare = restore,
     .launch =
         [](Matrices& matrices) {
             launch_add_tile(matrices.output(), corner_x(matrices), corner_y(matrices));
         },
     .check = check_add_tile},
    {.name = "overhanging_box",
     .shows = "what a box brings that hangs over",
     .bytes = [](const Matrices& matrices) { return inside_corner(matrices) * sizeof(int) + tile_bytes; },
     .prepare = [](Matrices& matrices) { matrices.tile.poison(); },
     .launch =
         [](Matrices& matrices) {
             launch_overhanging_box(matrices.input(), corner_x(matrices), corner_y(matrices),
                                    matrices.tile.span());
         },
     .check = check_overhanging_box,
     .note = note_overhanging_box},
    {.name = "add_one_matrix",
     .shows = "a matrix of any size, edge tiles clipped",
     .bytes = bytes_of_two,
     .prepare = restore,
     .launch = [](Matrices& matrices) { launch_add_one_matrix(matrices.output()); },
     .check = check_add_one_matrix},
    {.name = "box_filter_3x3",
     .shows = "3x3 sums, the halo filled with zeros",
     .bytes = bytes_of_two,
     .prepare = poison,
     .launch =
         [](Matrices& matrices) {
             launch_box_filter_3x3(matrices.shape.view(reinterpret_cast<const unsigned*>(matrices.in.data())),
                                   matrices.shape.view(reinterpret_cast<unsigned*>(matrices.out.data())));
         },
     .check = check_box_filter},
    {.name = "box_mean_3x3",
     .shows = "3x3 means, the halo filled with NaN",
     .bytes = bytes_of_two,
     .prepare = [](Matrices& matrices) { matrices.means.poison(); },
     .launch =
         [](Matrices& matrices) {
             launch_box_mean_3x3(matrices.shape.view(std::as_const(matrices.floats).data()),
                                 matrices.shape.view(matrices.means.data()));
         },
     .check = check_box_mean},
    copying<1, copy_1d>("copy_1d", "a vector, shifted"),
    copying<2, copy_2d>("copy_2d", "a matrix, shifted"),
    copying<3, copy_3d>("copy_3d", "3-D tiles of a volume, shifted"),
    copying<4, copy_4d>("copy_4d", "4-D tiles, shifted"),
    copying<5, copy_5d>("copy_5d", "5-D tiles, shifted"),
    {.name = "gather_rows",
     .shows = "every 3rd row by element strides",
     .bytes =
         [](const Matrices& matrices) {
             const Shape shape = gathered_shape(matrices);
             return 2 * shape.width * shape.height * sizeof(int);
         },
     .prepare = poison,
     .launch =
         [](Matrices& matrices) {
             launch_gather_rows(matrices.input(), gathered_shape(matrices).view(matrices.out.data()),
                                gather_first, gather_step);
         },
     .check = check_gather},
    {.name = "reduce_add",
     .shows = "all tiles added up at one place",
     .bytes = [](const Matrices& matrices) { return matrices.elements() * sizeof(int) + 2 * tile_bytes; },
     .prepare = [](Matrices& matrices) { matrices.tile.upload(std::vector<int>(tile_elements)); },
     .launch =
         [](Matrices& matrices) {
             launch_reduce_add(matrices.input(), Shape{tile_width, tile_height}.view(matrices.tile.data()),
                               reduce_x, reduce_y);
         },
     .check = check_reduce},
};

} // namespace

int main(int argc, char** argv) {
    const workbook::ProgramInfo info{.name = "tma_2d",
                                     .summary = "tensor copies by the Tensor Memory Accelerator",
                                     .size_unit = "elements (a matrix twice as wide as high)",
                                     .size_with_clock = 100'000'000,
                                     .size_without_clock = 60'001,
                                     .device_bytes_per_element = 4 * sizeof(float) + 1,
                                     .host_bytes_per_element = 4 * sizeof(float) + 1,
                                     .needs = {.compute_major = 9}};
    return workbook::run_program<Matrices>(info, kernels, argc, argv);
}
