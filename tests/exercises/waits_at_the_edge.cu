/// @file waits_at_the_edge.cu
/// Judge of chapter 6's waits_at_the_edge.
#include "judge.hpp"

#include "workbook/matrix.hpp"

#include <cstddef>
#include <string>
#include <vector>

void launch_waits_at_the_edge(workbook::Matrix<int> matrix);

void judge::run() {
    struct Case {
        std::size_t width;
        std::size_t height;
        std::size_t padding; ///< elements behind each row, which stay as they are
    };
    for (const auto [width, height, padding] :
         {Case{64, 32, 0}, {64, 40, 0}, {100, 16, 0}, {100, 45, 12}, {4, 1, 0}, {32, 16, 4}}) {
        trying("a matrix of " + std::to_string(width) + " × " + std::to_string(height));
        const std::size_t pitch = width + padding;
        std::vector<int> values = workbook::random_integers<int>(pitch * height, width, -1000, 1000);
        auto matrix = input(values, 4);
        launch_waits_at_the_edge({matrix.data(), width, height, pitch});
        for (std::size_t i = 0; i < values.size(); ++i)
            if (i % pitch < width)
                values[i] += 1;
        expect_exact<int>("matrix", matrix, values, [&](const auto& wrong) -> std::string {
            if (wrong.actual == wrong.expected - 1)
                return "Nobody added one to it.";
            return wrong.index % pitch < width ? "" : "It lies in the padding behind a row.";
        });
    }
}
