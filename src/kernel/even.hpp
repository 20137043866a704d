// Cells of equal width: a multiplication tells the cell.
//
// It can err only beside a boundary. Positions are taken in units of 2^-20 cells and rise with the value; when every
// boundary's own position is at most one unit off, a value two units or more away from all of them is on the side where
// its position is. Blocks with a value nearer than that are settled by comparisons.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "column.hpp"
#include "locate.hpp"
#include "loops.hpp"

namespace pedanova {

struct EvenGrid {
    static constexpr int unit_bits = 20;
    static constexpr double units = 1 << unit_bits;
    static constexpr std::uint32_t too_near = 2u << (32 - unit_bits);  // one unit to either side
    static constexpr std::int64_t most_cells = 1000 + (1 << 10);       // positions, and a little beyond, fit 32 bits

    const double* boundaries;  // (cells - 1,) ascending
    std::int32_t cells;
    double origin;     // where the first cell begins
    double scale;      // units of position per unit of value
    double low, high;  // values beyond are refused
    std::uint32_t missing, outside;

    double position(double value) const { return (value - origin) * scale; }

    bool is_exact() const {
        const double first = position(low), last = position(high), room = units * 16;
        bool fine = FLT_EVAL_METHOD == 0 && cells <= most_cells;
        fine = fine && first > -room && last < units * static_cast<double>(cells) + room;  // false for NaN
        for (std::int32_t i = 0; fine && i + 1 < cells; ++i)
            fine = std::fabs(position(boundaries[i]) - units * (i + 1)) < 0.9;
        return fine;
    }
};

// The short way for rows that all lie inside, none of them close to a boundary: positions in units of 2^-16 cells, so
// that either half of a word is of use as it is. The origin is taken off only after the product, which costs digits:
// `is_plain` says whether enough are left. One unit is added for the comparison.
struct PlainGrid {
    static constexpr int unit_bits = 16;
    static constexpr double units = 1 << unit_bits;
    static constexpr std::uint16_t too_near = 2;  // one unit to either side

    double scale;
    double shift;
    std::uint16_t cells;

    explicit PlainGrid(const EvenGrid& grid)
        : scale(grid.scale * (units / EvenGrid::units)),
          shift(whole_shift - grid.origin * scale + 1.0),
          cells(static_cast<std::uint16_t>(grid.cells)) {}

    // One instruction where the processor has it. Rounded once or twice: what that could change lies close to a
    // boundary.
    double shifted(double value) const {
#if defined(__FP_FAST_FMA)
        return std::fma(value, scale, shift);
#else
        return value * scale + shift;
#endif
    }
    std::uint64_t bits(double value) const { return bits_of(shifted(value)); }
    double position(double value) const { return shifted(value) - whole_shift - 1.0; }

    // No cell may refuse a value that lies in it, for the short way does not ask.
    bool is_plain(const EvenGrid& grid) const {
        const double end = units * grid.cells;
        bool fine = grid.cells <= EvenGrid::most_cells && position(grid.low) <= 1.0 && position(grid.high) >= end - 1.0;
        for (std::int32_t i = 0; fine && i + 1 < grid.cells; ++i)
            fine = std::fabs(position(grid.boundaries[i]) - units * (i + 1)) <= 1.0;
        return fine;
    }
};

// Returns whether they are such rows; what it wrote counts for nothing if not.
template <class Stored>
PEDANOVA_BODY bool place_quickly(const PlainGrid& grid, const Stored* values, std::int64_t rows, std::uint16_t* out) {
    const std::uint32_t upper = static_cast<std::uint32_t>(bits_of(whole_shift) >> 32);
    std::uint16_t nearest = UINT16_MAX, largest = 0;
    std::uint32_t strange = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::uint64_t bits = grid.bits(static_cast<double>(values[i]));
        const std::uint32_t whole = static_cast<std::uint32_t>(bits);
        strange |= static_cast<std::uint32_t>(bits >> 32) ^ upper;  // below zero, too large for 32 bits, or NaN
        const std::uint16_t beside = static_cast<std::uint16_t>(whole);
        nearest = beside < nearest ? beside : nearest;
        const std::uint16_t cell = static_cast<std::uint16_t>(whole >> PlainGrid::unit_bits);
        largest = cell > largest ? cell : largest;
        out[i] = cell;
    }
    return strange == 0 && largest < grid.cells && nearest > PlainGrid::too_near;
}

PEDANOVA_LOOP(bool, place_plain, (PlainGrid grid, const double* values, std::int64_t rows, std::uint16_t* out),
              (grid, values, rows, out)) {
    return place_quickly(grid, values, rows, out);
}

PEDANOVA_LOOP(bool, place_plain, (PlainGrid grid, const float* values, std::int64_t rows, std::uint16_t* out),
              (grid, values, rows, out)) {
    return place_quickly(grid, values, rows, out);
}

struct Found {
    bool doubtful;  // a value lies close to a boundary
    bool refused;   // a value is NaN or outside; both are written as outside
};

PEDANOVA_LOOP(Found, guess_even, (EvenGrid grid, const double* values, std::int64_t rows, std::uint32_t* out),
              (grid, values, rows, out)) {
    constexpr std::int32_t half = 1 << (EvenGrid::unit_bits - 1);
    const std::int32_t highest =
        grid.cells * 2 * half - half;  // the middles of the outermost cells: no boundary is near
    std::uint32_t nearest = ~0u, largest = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        const double value = values[i];
        const double above = value >= grid.low ? value : grid.low;
        const double kept = above <= grid.high ? above : grid.high;
        std::int32_t whole = static_cast<std::int32_t>(as_whole((kept - grid.origin) * grid.scale));
        whole = whole < half ? half : whole;
        whole = whole > highest ? highest : whole;
        const std::uint32_t beside = (static_cast<std::uint32_t>(whole) + 1) << (32 - EvenGrid::unit_bits);
        nearest = beside < nearest ? beside : nearest;
        const std::uint32_t cell = static_cast<std::uint32_t>(whole) >> EvenGrid::unit_bits;
        const std::uint32_t placed = kept == value ? cell : grid.outside;  // NaN equals nothing
        largest = placed > largest ? placed : largest;
        out[i] = placed;
    }
    return {nearest <= EvenGrid::too_near, largest == grid.outside};
}

inline void place_even(const EvenGrid& grid, const double* values, std::int64_t rows, std::uint32_t* out) {
    const Found found = guess_even(grid, values, rows, out);
    for (std::int64_t i = 0; found.doubtful && i < rows; ++i) {
        if (out[i] == grid.outside) continue;
        std::uint32_t cell = out[i];
        while (cell > 0 && values[i] < grid.boundaries[cell - 1]) --cell;
        while (static_cast<std::int32_t>(cell) < grid.cells - 1 && values[i] >= grid.boundaries[cell]) ++cell;
        out[i] = cell;
    }
    for (std::int64_t i = 0; found.refused && i < rows; ++i) out[i] = values[i] == values[i] ? out[i] : grid.missing;
}

}  // namespace pedanova
