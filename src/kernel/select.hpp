// Exact order statistics in O(rows): count the leading bits, then look only where a wanted rank lies.
//
// The bits of a number are read as digits of 16, 11, 11, 11, 11 and 4 bits. A tree of tables says which prefixes hold
// a wanted rank; each pass counts the next digit under those prefixes alone. The caller grows the tree between passes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "loops.hpp"
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

// A window of the number line, cut into slots of 2^shift neighbouring doubles each. Whatever lies before or behind it
// falls into the first or the last slot; NaN has a slot of its own, the one after the last.
struct Window {
    std::uint64_t first;  // order key
    std::int32_t shift;
    std::int64_t slots;
};

PEDANOVA_LOOP void fill_window(Window window, const double* values, std::int64_t rows, std::uint32_t* out) {
    const std::uint64_t last = static_cast<std::uint64_t>(window.slots - 1);
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::uint64_t key = order_key(values[i]);
        const std::uint64_t slot = (key > window.first ? key - window.first : 0) >> window.shift;
        const std::uint64_t inside = slot < last ? slot : last;
        out[i] = static_cast<std::uint32_t>(values[i] == values[i] ? inside : last + 1);
    }
}

// `use(rows, values, slots)` for each block, values being sign * objective.
template <class Use>
void for_blocks(const Column& objective, double sign, std::int64_t rows, const Window& window, const Use& use) {
    double buffer[block_rows];
    std::uint32_t slots[block_rows];
    for (std::int64_t first = 0; first < rows; first += block_rows) {
        const std::int64_t here = std::min(block_rows, rows - first);
        const double* values = signed_view(objective, sign, first, here, buffer);
        fill_window(window, values, here, slots);
        use(here, values, slots);
    }
}

// counts: (slots + 1,). Short counters keep more of the table in the cache; they are added up before they can overflow.
inline void count_window(const Column& objective, double sign, std::int64_t rows, const Window& window, std::int64_t* counts) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    std::vector<std::uint32_t> few(window.slots + 1);
    for (std::int64_t first = 0; first < rows; first += most) {
        std::fill(few.begin(), few.end(), 0u);
        const Column part{objective.data + first * objective.stride, objective.stride, objective.dtype};
        for_blocks(part, sign, std::min(most, rows - first), window, [&](std::int64_t here, const double*, const std::uint32_t* slots) {
            for (std::int64_t i = 0; i < here; ++i) ++few[slots[i]];
        });
        for (std::size_t slot = 0; slot < few.size(); ++slot) counts[slot] += few[slot];
    }
}

struct Ends {
    double low;
    double high;
};

// wanted: (slots + 1,) for each slot -2: nothing, -1: collect its values in row order, else: which of `ends` to widen by
// them. Never writes more than `capacity` values; returns how many there are.
inline std::int64_t gather_window(const Column& objective, double sign, std::int64_t rows, const Window& window,
                                  const std::int32_t* wanted, Ends* ends, double* out, std::int64_t capacity) {
    std::int64_t found = 0;
    std::vector<std::uint64_t> asked(window.slots / 64 + 1, 0);  // one bit a slot: this one stays in the cache
    for (std::int64_t slot = 0; slot <= window.slots; ++slot)
        if (wanted[slot] != -2) asked[slot / 64] |= std::uint64_t{1} << (slot % 64);
    for_blocks(objective, sign, rows, window, [&](std::int64_t here, const double* values, const std::uint32_t* slots) {
        for (std::int64_t i = 0; i < here; ++i) {
            if (!((asked[slots[i] / 64] >> (slots[i] % 64)) & 1)) continue;
            const std::int32_t wish = wanted[slots[i]];
            const double value = values[i] + 0.0;
            if (wish == -1) {
                if (found < capacity) out[found] = value;
                ++found;
            } else {
                ends[wish].low = std::min(ends[wish].low, value);
                ends[wish].high = std::max(ends[wish].high, value);
            }
        }
    });
    return found;
}

}  // namespace pedanova
