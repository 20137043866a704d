// Objective -> level of every row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "column.hpp"
#include "locate.hpp"
#include "loops.hpp"
#include "select.hpp"

namespace pedanova {

// False only if all are finite.
PEDANOVA_LOOP(bool, may_hold_nan, (const double* values, std::int64_t rows), (values, rows)) {
    std::uint64_t odd = 0;
    for (std::int64_t i = 0; i < rows; ++i) odd |= bits_of(values[i] - values[i]);
    return odd != 0;
}

// level = number of boundaries <= sign * objective; NaN goes to nan_level.
template <class Level>
void assign_levels(const Column& objective, double sign, std::int64_t rows, const double* boundaries,
                   std::int64_t count, std::int64_t nan_level, Level* levels) {
    double buffer[block_rows];
    std::uint32_t found[block_rows];
    with_table(boundaries, count, rows, [&](const auto& locator) {
        for (std::int64_t first = 0; first < rows; first += block_rows) {
            const std::int64_t here = std::min(block_rows, rows - first);
            const double* values = signed_view(objective, sign, first, here, buffer);
            locator(values, here, found);
            for (std::int64_t i = 0; i < here; ++i) levels[first + i] = static_cast<Level>(found[i]);
            if (!may_hold_nan(values, here)) continue;
            for (std::int64_t i = 0; i < here; ++i)
                if (std::isnan(values[i])) levels[first + i] = static_cast<Level>(nan_level);
        }
    });
}

inline bool look_up_eight(const std::uint16_t* table, const std::uint16_t* slots, std::uint16_t* levels) {
    std::uint16_t most = 0;
    for (int k = 0; k < 8; ++k) most = std::max(most, levels[k] = table[slots[k]]);
    return most == UINT16_MAX;
}

// The same from slots of a window: only where a boundary lies in a row's own slot must the row itself be looked at.
// Levels are fewer than their codes: the last one marks such rows.
template <class Level>
void assign_by_slots(const std::uint16_t* slots, const Window& window, const Column& objective, double sign,
                     std::int64_t rows, const double* boundaries, std::int64_t count, std::int64_t nan_level,
                     Level* levels) {
    constexpr Level open = std::numeric_limits<Level>::max();
    std::vector<Level> level_of(Window::most_slots + 1, static_cast<Level>(nan_level));
    std::int64_t passed = 0;
    for (std::int64_t slot = 0; slot < window.slots; ++slot) {
        level_of[slot] = static_cast<Level>(passed);
        for (; passed < count && static_cast<std::int64_t>(window.slot_of(boundaries[passed])) == slot; ++passed)
            level_of[slot] = open;
    }
    const auto settle = [&](std::int64_t row) {
        if (levels[row] != open) return;
        const double value = value_at(objective, sign, row);
        levels[row] = static_cast<Level>(std::upper_bound(boundaries, boundaries + count, value) - boundaries);
    };
    std::int64_t i = 0;
    for (; i + 8 <= rows; i += 8) {
        const bool some = look_up_eight(level_of.data(), slots + i, levels + i);
        for (std::int64_t k = i; some && k < i + 8; ++k) settle(k);
    }
    for (; i < rows; ++i) levels[i] = level_of[slots[i]], settle(i);
}

// The same from codes as `gather_slots` writes them, in their place: `level_of`, (used,), knows the level of each
// but 255, whose rows must be looked at.
inline void settle_codes(const Column& objective, double sign, std::int64_t rows, const std::uint8_t* level_of,
                         std::int64_t used, const double* boundaries, std::int64_t count, std::uint8_t* codes) {
    constexpr std::int64_t stride = 8;
    constexpr std::uint64_t ones = ~std::uint64_t{0} / 255;  // 0x01 in every byte
    bool same = true;
    for (std::int64_t code = 0; code < used; ++code) same = same && level_of[code] == code;
    const auto settle = [&](std::int64_t row) {
        const double value = value_at(objective, sign, row);
        codes[row] = static_cast<std::uint8_t>(std::upper_bound(boundaries, boundaries + count, value) - boundaries);
    };
    FarRows far(objective, settle);
    for (std::int64_t first = 0; first < rows; first += stride) {
        std::uint64_t eight = ~std::uint64_t{0};
        if (first + stride <= rows) std::memcpy(&eight, codes + first, sizeof eight);
        if (same && (((eight & 127 * ones) + ones) & eight & 128 * ones) == 0) continue;  // none of them is 255
        for (std::int64_t row = first; row < std::min(first + stride, rows); ++row) {
            if (codes[row] == UINT8_MAX) far(row);
            else codes[row] = level_of[codes[row]];
        }
    }
    far.finish();
}

// The same where `gather_slots` has told the rows and their values, and every other code is its level already.
inline void settle_rows(const double* values, const std::int64_t* places, std::int64_t rows, const double* boundaries,
                        std::int64_t count, std::uint8_t* codes) {
    for (std::int64_t i = 0; i < rows; ++i)
        codes[places[i]] =
            static_cast<std::uint8_t>(std::upper_bound(boundaries, boundaries + count, values[i]) - boundaries);
}

}  // namespace pedanova
