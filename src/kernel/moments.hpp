// Rows, sums and squares of the objective by level, each level around a centre of its own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "column.hpp"

namespace pedanova {

struct Moment {
    std::int64_t count;
    double sum;     // of objective - centre
    double square;  // of (objective - centre)^2
};

// Codes run from 0 to the number of centres - 1.
template <class Level>
void sum_levels(const Column& objective, std::int64_t rows, const Level* levels, const double* centres, Moment* table) {
    double values[block_rows];
    for (std::int64_t first = 0; first < rows; first += block_rows) {
        const std::int64_t here = std::min(block_rows, rows - first);
        load(objective, first, here, values);
        for (std::int64_t i = 0; i < here; ++i) {
            const std::int64_t level = static_cast<std::int64_t>(levels[first + i]);
            const double beyond = values[i] - centres[level];
            Moment& moment = table[level];
            moment.count += 1;
            moment.sum += beyond;
            moment.square += beyond * beyond;
        }
    }
}

}  // namespace pedanova
