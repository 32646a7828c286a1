/// @file table.hpp
/// Tables of text with aligned columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace workbook {

/// Rows of text under headings. The columns are as wide as their longest cell.
class Table {
  public:
    enum class Align { left, right };

    struct Column {
        std::string heading;
        Align align = Align::left;
    };

    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// Adds a row. Throws std::length_error unless it has one cell per column.
    void add(std::vector<std::string> cells) {
        if (cells.size() != columns_.size())
            throw std::length_error("a row of this table has " + std::to_string(columns_.size()) + " cells");
        rows_.push_back(std::move(cells));
    }

    /// The table as lines of text, each ended by a newline.
    [[nodiscard]] std::string text() const {
        std::vector<std::string> headings;
        std::vector<std::size_t> widths;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            headings.push_back(columns_[c].heading);
            std::size_t width = width_of(headings[c]);
            for (const auto& row : rows_)
                width = std::max(width, width_of(row[c]));
            widths.push_back(width);
        }
        std::string result = line(headings, widths);
        for (std::size_t c = 0; c < columns_.size(); ++c)
            result += std::string(widths[c], '-') + (c + 1 < columns_.size() ? "  " : "\n");
        for (const auto& row : rows_)
            result += line(row, widths);
        return result;
    }

  private:
    /// Characters, not bytes, of UTF-8 text.
    [[nodiscard]] static std::size_t width_of(const std::string& text) {
        return static_cast<std::size_t>(std::count_if(
            text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
    }

    [[nodiscard]] std::string line(const std::vector<std::string>& cells,
                                   const std::vector<std::size_t>& widths) const {
        std::string result;
        for (std::size_t c = 0; c < cells.size(); ++c) {
            const std::string fill(widths[c] - width_of(cells[c]), ' ');
            result += columns_[c].align == Align::right ? fill + cells[c] : cells[c] + fill;
            result += "  ";
        }
        result.erase(result.find_last_not_of(' ') + 1);
        return result + "\n";
    }

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

} // namespace workbook
