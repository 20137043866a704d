// Tables of several pieces of the rows -> counts and sums of all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cells.hpp"
#include "loops.hpp"

namespace pedanova {

constexpr std::int64_t added_entries = 1024;  // at a time, in the first-level cache

PEDANOVA_LOOP(void, add_values, (const double* values, std::int64_t count, double* totals), (values, count, totals)) {
    for (std::int64_t i = 0; i < count; ++i) totals[i] += values[i];
}

PEDANOVA_LOOP(void, set_apart, (const double* both, std::int64_t entries, std::int64_t* counts, double* sums),
              (both, entries, counts, sums)) {
    for (std::int64_t i = 0; i < entries; ++i) {
        counts[i] = static_cast<std::int64_t>(both[2 * i]);
        sums[i] = both[2 * i + 1];
    }
}

// In the order of the tables: sums have the same bytes at every run.
inline void add_tables(const Entry* const* tables, std::int32_t count, std::int64_t entries, std::int64_t* counts,
                       double* sums) {
    static_assert(sizeof(Entry) == 2 * sizeof(double), "a count and a sum");
    double totals[2 * added_entries];
    for (std::int64_t first = 0; first < entries; first += added_entries) {
        const std::int64_t here = std::min(added_entries, entries - first);
        std::memcpy(totals, tables[0] + first, here * sizeof(Entry));
        for (std::int32_t t = 1; t < count; ++t)
            add_values(reinterpret_cast<const double*>(tables[t] + first), 2 * here, totals);
        set_apart(totals, here, counts + first, sums + first);
    }
}

}  // namespace pedanova
