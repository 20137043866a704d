// Objective -> level of every row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "column.hpp"
#include "locate.hpp"
#include "loops.hpp"

namespace pedanova {

// False only if all are finite.
PEDANOVA_LOOP bool may_hold_nan(const double* values, std::int64_t rows) {
    std::uint64_t odd = 0;
    for (std::int64_t i = 0; i < rows; ++i) odd |= bits_of(values[i] - values[i]);
    return odd != 0;
}

// level = number of boundaries <= sign * objective; NaN goes to nan_level.
template <class Level>
void assign_levels(const Column& objective, double sign, std::int64_t rows, const double* boundaries, std::int64_t count,
                   std::int64_t nan_level, Level* levels) {
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

}  // namespace pedanova
