// Columns -> coarse codes of one byte, and codes -> tables of every two columns.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cells.hpp"
#include "column.hpp"

namespace pedanova {

// codes[i] = groups[cell of row i].
inline void code_feature(const Feature& feature, std::int64_t rows, const std::uint8_t* groups, std::uint8_t* codes) {
    const auto fill = filler_of<std::uint32_t>(feature, rows);
    std::uint32_t cells[block_rows];
    for (std::int64_t first = 0; first < rows; first += block_rows) {
        const std::int64_t here = std::min(block_rows, rows - first);
        fill(first, here, cells);
        for (std::int64_t i = 0; i < here; ++i) codes[first + i] = groups[cells[i]];
    }
}

// Tables of all pairs of columns a < b in the order (0,1), (0,2), ...: counts by [part][code of a][code of b].
// `codes` is (columns, rows), `parts` (rows,) says which of the tables a row belongs to.
inline void count_pairs(const std::uint8_t* codes, const std::uint8_t* parts, std::int64_t rows, std::int64_t columns,
                        std::int64_t width, std::int64_t part_count, std::uint32_t* tables) {
    constexpr std::int64_t long_block = 8 * block_rows;  // a table is in the first-level cache while a block is counted
    std::uint32_t slots[long_block];
    const std::int64_t size = part_count * width * width;
    for (std::int64_t first = 0; first < rows; first += long_block) {
        const std::int64_t here = std::min(long_block, rows - first);
        std::uint32_t* table = tables;
        for (std::int64_t a = 0; a + 1 < columns; ++a) {
            const std::uint8_t* own = codes + a * rows + first;
            for (std::int64_t i = 0; i < here; ++i)
                slots[i] =
                    (parts[first + i] * static_cast<std::uint32_t>(width) + own[i]) * static_cast<std::uint32_t>(width);
            for (std::int64_t b = a + 1; b < columns; ++b, table += size) {
                const std::uint8_t* other = codes + b * rows + first;
                for (std::int64_t i = 0; i < here; ++i) table[slots[i] + other[i]] += 1;
            }
        }
    }
}

}  // namespace pedanova
