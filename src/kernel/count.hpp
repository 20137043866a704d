// Rows -> levels, and [level x cell] -> counts and sums of the objective.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "column.hpp"
#include "locate.hpp"

namespace pedanova {

// Count and sum side by side: one cache line per row counted.
struct Entry {
    std::int64_t count;
    double sum;
};

// Numeric grid: cell = number of inner boundaries <= value, refused unless the cell accepts the value.
struct NumericGrid {
    std::int64_t cells;
    const double* inner;        // (cells - 1,) ascending
    const double* accept_low;   // (cells,) smallest value a cell takes
    const double* accept_high;  // (cells,) largest value a cell takes
    bool range;                 // cells touch: only the first and the last can refuse a value
    bool even;                  // the inner boundaries are equally far apart
    double origin;
    double scale;
};

// The two cells behind the grid's own.
inline std::int64_t missing_cell(std::int64_t cells) { return cells; }
inline std::int64_t outside_cell(std::int64_t cells) { return cells + 1; }

template <bool Range, class Locator>
void locate_cells(const NumericGrid& grid, const Locator& locator, const double* values, std::int64_t rows, std::int32_t* cells) {
    const double lowest = grid.accept_low[0];
    const double highest = grid.accept_high[grid.cells - 1];
    for (std::int64_t i = 0; i < rows; ++i) {
        const double value = values[i];
        const std::int64_t cell = locator(value);
        const bool inside = Range ? lowest <= value && value <= highest : grid.accept_low[cell] <= value && value <= grid.accept_high[cell];
        const std::int64_t refused = std::isnan(value) ? missing_cell(grid.cells) : outside_cell(grid.cells);
        cells[i] = static_cast<std::int32_t>(inside ? cell : refused);  // NaN is never inside
    }
}

// Whole numbers with a small range: one look into a table. Anything beyond the table is outside.
struct LookupGrid {
    std::int64_t cells;
    std::int64_t offset;         // the number that table[0] stands for
    std::int64_t size;
    const std::int32_t* table;   // (size,) cell, or the missing or outside cell
};

inline void look_up_cells(const LookupGrid& grid, const std::int64_t* values, std::int64_t rows, std::int32_t* cells) {
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::uint64_t slot = static_cast<std::uint64_t>(values[i]) - static_cast<std::uint64_t>(grid.offset);
        cells[i] = slot < static_cast<std::uint64_t>(grid.size) ? grid.table[slot] : static_cast<std::int32_t>(outside_cell(grid.cells));
    }
}

template <class Level>
void add_rows(const Level* levels, const std::int32_t* cells, const double* objective, std::int64_t rows, std::int64_t width, Entry* table) {
    for (std::int64_t i = 0; i < rows; ++i) {
        Entry& entry = table[static_cast<std::int64_t>(levels[i]) * width + cells[i]];
        entry.count += 1;
        entry.sum += objective[i];
    }
}

// `fill_cells(first, rows, cells)` names the cells of a block; the rest is the same for every kind of grid.
template <class Level, class FillCells>
void count_blocks(std::int64_t rows, const Level* levels, const Column& objective, const std::uint8_t* missing,
                  std::int64_t cells, Entry* table, const FillCells& fill_cells) {
    std::int32_t block_cells[block_rows];
    double block_objective[block_rows];
    for (std::int64_t first = 0; first < rows; first += block_rows) {
        const std::int64_t here = std::min(block_rows, rows - first);
        fill_cells(first, here, block_cells);
        if (missing != nullptr) {
            for (std::int64_t i = 0; i < here; ++i)
                if (missing[first + i]) block_cells[i] = static_cast<std::int32_t>(missing_cell(cells));
        }
        load(objective, first, here, block_objective);
        add_rows(levels + first, block_cells, block_objective, here, cells + 2, table);
    }
}

template <class Level, class Locator>
void count_located(const Column& column, const NumericGrid& grid, const Locator& locator, std::int64_t rows,
                   const Level* levels, const Column& objective, const std::uint8_t* missing, Entry* table) {
    double values[block_rows];
    count_blocks(rows, levels, objective, missing, grid.cells, table, [&](std::int64_t first, std::int64_t here, std::int32_t* cells) {
        load(column, first, here, values);
        if (grid.range) locate_cells<true>(grid, locator, values, here, cells);
        else locate_cells<false>(grid, locator, values, here, cells);
    });
}

template <class Level>
void count_numeric(const Column& column, const NumericGrid& grid, std::int64_t rows, const Level* levels,
                   const Column& objective, const std::uint8_t* missing, Entry* table) {
    if (grid.even) {
        const EvenLocator locator{grid.inner, grid.cells - 1, grid.origin, grid.scale};
        return count_located(column, grid, locator, rows, levels, objective, missing, table);
    }
    with_table(grid.inner, grid.cells - 1, rows, [&](const auto& locator) {
        count_located(column, grid, locator, rows, levels, objective, missing, table);
    });
}

template <class Level>
void count_lookup(const Column& column, const LookupGrid& grid, std::int64_t rows, const Level* levels,
                  const Column& objective, const std::uint8_t* missing, Entry* table) {
    std::int64_t values[block_rows];
    count_blocks(rows, levels, objective, missing, grid.cells, table, [&](std::int64_t first, std::int64_t here, std::int32_t* cells) {
        load(column, first, here, values);
        look_up_cells(grid, values, here, cells);
    });
}

// level = number of boundaries <= sign * objective; NaN goes to nan_level.
template <class Level>
void assign_levels(const Column& objective, double sign, std::int64_t rows, const double* boundaries, std::int64_t count,
                   std::int64_t nan_level, Level* levels) {
    double values[block_rows];
    with_table(boundaries, count, rows, [&](const auto& locator) {
        for (std::int64_t first = 0; first < rows; first += block_rows) {
            const std::int64_t here = std::min(block_rows, rows - first);
            load(objective, first, here, values);
            for (std::int64_t i = 0; i < here; ++i) {
                const double value = sign * values[i];
                levels[first + i] = static_cast<Level>(std::isnan(value) ? nan_level : locator(value));
            }
        }
    });
}

}  // namespace pedanova
