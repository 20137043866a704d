// Objective -> level of every row.
#pragma once

#include <algorithm>
#include <atomic>
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

constexpr std::int64_t worth_threads = 1 << 13;  // rows far apart

// False only if all are finite.
PEDANOVA_LOOP(bool, may_hold_nan, (const double* values, std::int64_t rows), (values, rows)) {
    std::uint64_t odd = 0;
    for (std::int64_t i = 0; i < rows; ++i) odd |= bits_of(values[i] - values[i]);
    return odd != 0;
}

inline bool all_finite(const Column& column, std::int64_t rows, std::int32_t threads) {
    std::atomic<bool> fine{true};
    Crew crew(threads);
    in_pieces(crew, rows, piece_of_rows, [&](std::int64_t begin, std::int64_t some, std::int32_t) {
        double buffer[block_rows];
        for (std::int64_t first = begin; first < begin + some && fine; first += block_rows) {
            const std::int64_t here = std::min(block_rows, begin + some - first);
            if (may_hold_nan(view(column, first, here, buffer), here)) fine = false;
        }
    });
    return fine;
}

// level = number of boundaries <= sign * objective; NaN goes to nan_level.
template <class Level>
void assign_levels(const Column& objective, double sign, std::int64_t rows, const double* boundaries,
                   std::int64_t count, std::int64_t nan_level, Level* levels, std::int32_t threads) {
    Crew crew(threads);
    with_table(boundaries, count, rows, [&](const auto& locator) {
        in_pieces(crew, rows, piece_of_rows, [&](std::int64_t begin, std::int64_t some, std::int32_t) {
            double buffer[block_rows];
            std::uint32_t found[block_rows];
            for (std::int64_t first = begin; first < begin + some; first += block_rows) {
                const std::int64_t here = std::min(block_rows, begin + some - first);
                const double* values = signed_view(objective, sign, first, here, buffer);
                locator(values, here, found);
                for (std::int64_t i = 0; i < here; ++i) levels[first + i] = static_cast<Level>(found[i]);
                if (!may_hold_nan(values, here)) continue;
                for (std::int64_t i = 0; i < here; ++i)
                    if (std::isnan(values[i])) levels[first + i] = static_cast<Level>(nan_level);
            }
        });
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
void assign_by_slots(const SlotReader& reader, std::int64_t rows, const double* boundaries, std::int64_t count,
                     std::int64_t nan_level, Level* levels, std::int32_t threads) {
    constexpr Level open = std::numeric_limits<Level>::max();
    const Window& window = reader.window;
    std::vector<Level> level_of(Window::most_slots + 1, static_cast<Level>(nan_level));
    std::int64_t passed = 0;
    for (std::int64_t slot = 0; slot < window.slots; ++slot) {
        level_of[slot] = static_cast<Level>(passed);
        for (; passed < count && static_cast<std::int64_t>(window.slot_of(boundaries[passed])) == slot; ++passed)
            level_of[slot] = open;
    }
    const auto settle = [&](std::int64_t row) {
        if (levels[row] != open) return;
        const double value = value_at(reader.objective, reader.sign, row);
        levels[row] = static_cast<Level>(std::upper_bound(boundaries, boundaries + count, value) - boundaries);
    };
    Crew crew(threads);
    in_pieces(crew, rows, piece_of_rows, [&](std::int64_t begin, std::int64_t some, std::int32_t) {
        std::uint16_t room[block_rows];
        for (std::int64_t first = begin; first < begin + some; first += block_rows) {
            const std::int64_t here = std::min(block_rows, begin + some - first);
            const std::uint16_t* const slots = reader.read(first, here, room);
            std::int64_t i = 0;
            for (; i + 8 <= here; i += 8) {
                const bool any = look_up_eight(level_of.data(), slots + i, levels + first + i);
                for (std::int64_t k = i; any && k < i + 8; ++k) settle(first + k);
            }
            for (; i < here; ++i) levels[first + i] = level_of[slots[i]], settle(first + i);
        }
    });
}

// The same where `gather_slots` has told the rows to be looked at and their values: every other code is its level.
inline void settle_rows(const double* values, const std::int64_t* places, std::int64_t rows, const double* boundaries,
                        std::int64_t count, std::uint8_t* codes, std::int32_t threads) {
    Crew crew(rows < worth_threads ? 1 : threads);
    in_pieces(crew, rows, worth_threads, [&](std::int64_t first, std::int64_t some, std::int32_t) {
        for (std::int64_t i = first; i < first + some; ++i)
            codes[places[i]] =
                static_cast<std::uint8_t>(std::upper_bound(boundaries, boundaries + count, values[i]) - boundaries);
    });
}

}  // namespace pedanova
