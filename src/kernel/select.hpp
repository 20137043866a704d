// Exact order statistics in O(rows): count the leading bits, then look only where a wanted rank lies.
//
// The bits of a number are read as digits of 16, 11, 11, 11, 11 and 4 bits. A tree of tables says which prefixes hold
// a wanted rank; each pass counts the next digit under those prefixes alone. The caller grows the tree between passes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "column.hpp"

namespace pedanova {

constexpr int digit_count = 6;
constexpr int digit_shift[digit_count] = {48, 37, 26, 15, 4, 0};
constexpr int digit_bits[digit_count] = {16, 11, 11, 11, 11, 4};

inline std::int64_t digit_of(std::uint64_t key, int depth) {
    return static_cast<std::int64_t>((key >> digit_shift[depth]) & ((std::uint64_t{1} << digit_bits[depth]) - 1));
}

// children[d][node << bits(d) | digit] is the node below, or -1 where no wanted rank lies.
inline std::int64_t find_node(std::uint64_t key, const std::int32_t* const* children, int depth) {
    std::int64_t node = 0;
    for (int d = 0; d < depth && node >= 0; ++d) node = children[d][(node << digit_bits[d]) + digit_of(key, d)];
    return node;
}

// counts[node << bits(depth) | digit] += 1 for rows under a wanted prefix; returns the number of NaN.
inline std::int64_t count_digits(const Column& objective, double sign, std::int64_t rows, const std::int32_t* const* children,
                                 int depth, std::int64_t* counts) {
    double values[block_rows];
    std::int64_t nans = 0;
    for (std::int64_t first = 0; first < rows; first += block_rows) {
        const std::int64_t here = std::min(block_rows, rows - first);
        load(objective, first, here, values);
        for (std::int64_t i = 0; i < here; ++i) {
            if (std::isnan(values[i])) {
                ++nans;
                continue;
            }
            const std::uint64_t key = order_key(sign * values[i]);
            const std::int64_t node = find_node(key, children, depth);
            if (node >= 0) ++counts[(node << digit_bits[depth]) + digit_of(key, depth)];
        }
    }
    return nans;
}

// sign * objective of every row under a wanted prefix, in row order; never more than `capacity`. Returns how many.
inline std::int64_t gather_wanted(const Column& objective, double sign, std::int64_t rows, const std::int32_t* const* children,
                                  int depth, double* out, std::int64_t capacity) {
    double values[block_rows];
    std::int64_t found = 0;
    for (std::int64_t first = 0; first < rows; first += block_rows) {
        const std::int64_t here = std::min(block_rows, rows - first);
        load(objective, first, here, values);
        for (std::int64_t i = 0; i < here; ++i) {
            const double value = sign * values[i];
            if (std::isnan(value) || find_node(order_key(value), children, depth) < 0) continue;
            if (found < capacity) out[found] = value + 0.0;
            ++found;
        }
    }
    return found;
}

}  // namespace pedanova
