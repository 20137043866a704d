// Columns -> coarse codes of one byte, and codes -> tables of every two columns.
#pragma once

#include <algorithm>
#include <cstdint>

#include "column.hpp"
#include "count.hpp"
#include "locate.hpp"

namespace pedanova {

// codes[i] = groups[cell of row i]; `fill_cells(first, rows, cells)` names the cells of a block.
template <class FillCells>
void code_blocks(std::int64_t rows, const std::uint8_t* missing, std::int64_t cells, const std::uint8_t* groups,
                 std::uint8_t* codes, const FillCells& fill_cells) {
    std::int32_t block_cells[block_rows];
    for (std::int64_t first = 0; first < rows; first += block_rows) {
        const std::int64_t here = std::min(block_rows, rows - first);
        fill_cells(first, here, block_cells);
        for (std::int64_t i = 0; i < here; ++i) codes[first + i] = groups[block_cells[i]];
        if (missing != nullptr) {
            for (std::int64_t i = 0; i < here; ++i)
                if (missing[first + i]) codes[first + i] = groups[missing_cell(cells)];
        }
    }
}

template <class Locator>
void code_located(const Column& column, const NumericGrid& grid, const Locator& locator, std::int64_t rows,
                  const std::uint8_t* missing, const std::uint8_t* groups, std::uint8_t* codes) {
    double values[block_rows];
    code_blocks(rows, missing, grid.cells, groups, codes, [&](std::int64_t first, std::int64_t here, std::int32_t* cells) {
        load(column, first, here, values);
        if (grid.range) locate_cells<true>(grid, locator, values, here, cells);
        else locate_cells<false>(grid, locator, values, here, cells);
    });
}

inline void code_numeric(const Column& column, const NumericGrid& grid, std::int64_t rows, const std::uint8_t* missing,
                         const std::uint8_t* groups, std::uint8_t* codes) {
    if (grid.even) {
        const EvenLocator locator{grid.inner, grid.cells - 1, grid.origin, grid.scale};
        return code_located(column, grid, locator, rows, missing, groups, codes);
    }
    with_table(grid.inner, grid.cells - 1, rows, [&](const auto& locator) {
        code_located(column, grid, locator, rows, missing, groups, codes);
    });
}

inline void code_lookup(const Column& column, const LookupGrid& grid, std::int64_t rows, const std::uint8_t* missing,
                        const std::uint8_t* groups, std::uint8_t* codes) {
    std::int64_t values[block_rows];
    code_blocks(rows, missing, grid.cells, groups, codes, [&](std::int64_t first, std::int64_t here, std::int32_t* cells) {
        load(column, first, here, values);
        look_up_cells(grid, values, here, cells);
    });
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
                slots[i] = (parts[first + i] * static_cast<std::uint32_t>(width) + own[i]) * static_cast<std::uint32_t>(width);
            for (std::int64_t b = a + 1; b < columns; ++b, table += size) {
                const std::uint8_t* other = codes + b * rows + first;
                for (std::int64_t i = 0; i < here; ++i) table[slots[i] + other[i]] += 1;
            }
        }
    }
}

}  // namespace pedanova
