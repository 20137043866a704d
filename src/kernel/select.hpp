// Exact order statistics in O(rows): count the leading bits, then look only where a wanted rank lies.
//
// The bits of a number are read as digits of 16, 11, 11, 11, 11 and 4 bits. A tree of tables says which prefixes hold
// a wanted rank; each pass counts the next digit under those prefixes alone. The caller grows the tree between passes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

#include "column.hpp"
#include "locate.hpp"
#include "loops.hpp"
#include "threads.hpp"

namespace pedanova {

constexpr std::int64_t piece_of_rows = 1 << 18;  // that a thread looks at before it asks for more
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
inline std::int64_t count_digits(const Column& objective, double sign, std::int64_t rows,
                                 const std::int32_t* const* children, int depth, std::int64_t* counts) {
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
inline std::int64_t gather_wanted(const Column& objective, double sign, std::int64_t rows,
                                  const std::int32_t* const* children, int depth, double* out, std::int64_t capacity) {
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
    std::uint64_t first;  // order key, of a number: never -0.0, which has the key of 0.0
    std::int32_t shift;
    std::int64_t slots;

    static constexpr std::int64_t most_slots = UINT16_MAX;  // with the one for NaN they fit 16 bits
    bool is_sound() const {
        return shift >= 0 && shift <= 63 && slots >= 1 && slots <= most_slots && first <= order_key(HUGE_VAL) &&
               first != top_bit - 1;
    }
    std::uint64_t slot_of(double value) const {
        const std::uint64_t key = order_key(value);
        const std::uint64_t slot = (key > first ? key - first : 0) >> shift,
                            last = static_cast<std::uint64_t>(slots - 1);
        return slot < last ? slot : last;
    }

    std::uint64_t last_key() const { return first + (static_cast<std::uint64_t>(slots - 1) << shift); }  // may wrap
    double low() const { return value_of_key(std::max(first, order_key(-HUGE_VAL))); }
};

// Values beyond the window are drawn to its ends first, so that no difference of keys can wrap around. Returns whether
// there is a NaN; its slot is left to the caller.
PEDANOVA_LOOP(bool, fill_window,
              (Window window, double low, const double* values, std::int64_t rows, std::uint16_t* out),
              (window, low, values, rows, out)) {
    const std::uint64_t last = static_cast<std::uint64_t>(window.slots - 1);
    std::uint64_t odd = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::uint64_t slot = (order_key(values[i] > low ? values[i] : low) - window.first) >> window.shift;
        odd |= static_cast<std::uint64_t>(values[i] != values[i]);
        out[i] = static_cast<std::uint16_t>(slot < last ? slot : last);
    }
    return odd != 0;
}

// A sum in no particular order: NaN if one of the values is.
PEDANOVA_LOOP(double, sum_of, (const double* values, std::int64_t rows), (values, rows)) {
    constexpr int lanes = 8;
    double sums[lanes] = {};
    std::int64_t i = 0;
    for (; i + lanes <= rows; i += lanes)
        for (int k = 0; k < lanes; ++k) sums[k] += values[i + k];
    double total = 0.0;
    for (; i < rows; ++i) total += values[i];
    for (const double sum : sums) total += sum;
    return total;
}

// Drawn to an end by one instruction; NaN becomes anything.
inline double at_least(double value, double low) {
#if defined(__aarch64__)
    return std::fmax(value, low);
#else
    return value > low ? value : low;
#endif
}

inline double at_most(double value, double high) {
#if defined(__aarch64__)
    return std::fmin(value, high);
#else
    return value < high ? value : high;
#endif
}

// The same for a window whose numbers all have one sign: a difference of bits is one of keys. NaN is not noticed.
template <bool Negative>
PEDANOVA_BODY void fill_side(const Window& window, double low, double high, const double* values, std::int64_t rows,
                             std::uint16_t* out) {
    const std::uint64_t start = Negative ? ~window.first : window.first - top_bit;
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::uint64_t bits = bits_of(at_most(at_least(values[i], low), high));
        out[i] = static_cast<std::uint16_t>((Negative ? start - bits : bits - start) >> window.shift);
    }
}

PEDANOVA_LOOP(void, fill_positive,
              (Window window, double low, double high, const double* values, std::int64_t rows, std::uint16_t* out),
              (window, low, high, values, rows, out)) {
    fill_side<false>(window, low, high, values, rows, out);
}

PEDANOVA_LOOP(void, fill_negative,
              (Window window, double low, double high, const double* values, std::int64_t rows, std::uint16_t* out),
              (window, low, high, values, rows, out)) {
    fill_side<true>(window, low, high, values, rows, out);
}

inline bool fill_slots_of(const Window& window, const double* values, std::int64_t rows, std::uint16_t* out) {
    const std::uint64_t end = window.last_key();
    const bool positive = window.first >= top_bit, negative = end < top_bit - 1;
    if (end < window.first || end > order_key(HUGE_VAL) || !(positive || negative) ||
        window.first < order_key(-HUGE_VAL))
        return fill_window(window, window.low(), values, rows, out);
    const auto fill = positive ? fill_positive : fill_negative;
    fill(window, window.low(), value_of_key(end), values, rows, out);
    return std::isnan(sum_of(values, rows));
}

inline void place_in_window(const Window& window, const double* values, std::int64_t rows, std::uint16_t* out) {
    if (!fill_slots_of(window, values, rows, out)) return;
    const std::uint16_t nan = static_cast<std::uint16_t>(window.slots);
    for (std::int64_t i = 0; i < rows; ++i) out[i] = values[i] == values[i] ? out[i] : nan;
}

// Counters of one byte are few enough for the first-level cache; one that has come round tells `counts`.
inline void count_slots(const std::uint16_t* slots, std::int64_t rows, std::uint8_t* few, std::int64_t* counts) {
    const auto count = [&](std::uint64_t slot) {
        if (++few[slot] == 0) counts[slot] += UINT8_MAX + 1;
    };
    constexpr std::int64_t stride = 4;
    std::int64_t i = 0;
    for (; i + stride <= rows; i += stride) {
        std::uint64_t four;  // in one load
        std::memcpy(&four, slots + i, sizeof four);
        count(four & UINT16_MAX), count(four >> 16 & UINT16_MAX), count(four >> 32 & UINT16_MAX), count(four >> 48);
    }
    for (; i < rows; ++i) count(slots[i]);
}

// The slots of objectives, found block by block: to write them down for all rows and read them again takes longer.
struct SlotReader {
    Window window;
    Column objective;
    double sign;

    // At most `block_rows` of them.
    const std::uint16_t* read(std::int64_t first, std::int64_t rows, std::uint16_t* room) const {
        double buffer[block_rows];
        place_in_window(window, signed_view(objective, sign, first, rows, buffer), rows, room);
        return room;
    }
};

// What one thread has counted.
struct SlotCounts {
    std::vector<std::uint8_t> few;  // beyond those in `counts`
    std::vector<std::int64_t> counts;
};

// Adds the rows in each slot to `counts`, (slots + 1,).
inline void count_window(const SlotReader& reader, std::int64_t rows, std::int64_t* counts, std::int32_t threads) {
    Crew crew(threads);
    const std::int64_t size = reader.window.slots + 1;
    std::vector<SlotCounts> own(crew.size());
    in_pieces(crew, rows, piece_of_rows, [&](std::int64_t begin, std::int64_t count, std::int32_t thread) {
        if (own[thread].few.empty()) own[thread].few.resize(size), own[thread].counts.resize(size);
        std::uint16_t room[block_rows];
        for (std::int64_t first = begin; first < begin + count; first += block_rows) {
            const std::int64_t here = std::min(block_rows, begin + count - first);
            count_slots(reader.read(first, here, room), here, own[thread].few.data(), own[thread].counts.data());
        }
    });
    in_pieces(crew, size, size / crew.size() + 1, [&](std::int64_t first, std::int64_t count, std::int32_t) {
        for (const SlotCounts& one : own)
            for (std::int64_t i = first; i < first + count && !one.few.empty(); ++i)
                counts[i] += one.counts[i] + one.few[i];
    });
}

inline double value_at(const Column& objective, double sign, std::int64_t row) {
    double value;
    load(objective, row, 1, &value);
    return sign * value + 0.0;
}

// Rows that are far apart in memory, to be used in their order: each is sent for when it is found, and used when it has
// had time to arrive.
template <class Use>
class FarRows {
  public:
    FarRows(const Column& column, const Use& use) : column_(column), use_(use) {}

    void operator()(std::int64_t row) {
        expect_to_read(column_.data + row * column_.stride);
        rows_[count_++] = row;
        if (count_ == most) finish();
    }

    void finish() {
        for (int i = 0; i < count_; ++i) use_(rows_[i]);
        count_ = 0;
    }

  private:
    static constexpr int most = 32;
    const Column& column_;
    const Use& use_;
    std::int64_t rows_[most];
    int count_ = 0;
};

// The codes of eight rows in one go, one byte each; returns whether one of them is 255.
inline bool look_up_eight(const std::uint8_t* table, const std::uint16_t* slots, std::uint8_t* codes) {
    std::uint64_t together = 0;
    for (int k = 0; k < 8; ++k) together |= static_cast<std::uint64_t>(table[slots[k]]) << (8 * k);
    for (int k = 0; k < 8; ++k) codes[k] = static_cast<std::uint8_t>(together >> (8 * k));
    constexpr std::uint64_t ones = ~std::uint64_t{0} / 255;  // 0x01 in every byte
    return ((together & 127 * ones) + ones) & together & 128 * ones;
}

// Writes the codes of these slots where there are `codes`, and calls `use(first + place)` for each that is 255, in
// their order. They are few: eight are passed over at a time.
template <class Use>
void for_marked(const std::uint16_t* slots, std::int64_t first, std::int64_t rows, const std::uint8_t* code_of,
                std::uint8_t* codes, Use& use) {
    constexpr std::int64_t stride = 8;
    std::uint8_t unused[stride];
    std::int64_t i = 0;
    for (; i + stride <= rows; i += stride) {
        const bool any = look_up_eight(code_of, slots + i, codes != nullptr ? codes + i : unused);
        for (std::int64_t k = i; any && k < i + stride; ++k)
            if (code_of[slots[k]] == UINT8_MAX) use(first + k);
    }
    for (; i < rows; ++i) {
        if (codes != nullptr) codes[i] = code_of[slots[i]];
        if (code_of[slots[i]] == UINT8_MAX) use(first + i);
    }
}

struct Ends {
    double low;
    double high;
};

// wanted: (slot_count,) for each slot -2: nothing, -1: collect its values, else: which of `ends` to widen by them.
// Never writes more than `capacity` values, in any order; returns how many there are. `codes`, (rows,) where given,
// gets 255 for the rows of wanted slots, else the number of wanted slots before: they must be fewer than 255.
inline std::int64_t gather_slots(const SlotReader& reader, std::int64_t rows, const std::int32_t* wanted,
                                 std::int64_t slot_count, Ends* ends, double* out, std::int64_t capacity,
                                 std::uint8_t* codes, std::int64_t* places, std::int32_t threads) {
    std::vector<std::uint8_t> code_of(Window::most_slots + 1, 0);
    std::int32_t large = 0;
    std::uint8_t passed = 0;
    for (std::int64_t slot = 0; slot < slot_count; ++slot) {
        code_of[slot] = wanted[slot] == -2 ? passed : UINT8_MAX;
        if (wanted[slot] != -2 && codes != nullptr) ++passed;
        large = std::max(large, wanted[slot] + 1);
    }
    std::int64_t found = 0;
    std::mutex mutex;
    Crew crew(threads);
    in_pieces(crew, rows, piece_of_rows, [&](std::int64_t begin, std::int64_t count, std::int32_t) {
        std::vector<double> values;
        std::vector<std::int64_t> at;
        std::vector<Ends> own(large, Ends{HUGE_VAL, -HUGE_VAL});
        std::uint16_t room[block_rows];
        const std::uint16_t* slots = nullptr;
        std::int64_t first = begin;
        const auto use = [&](std::int64_t row) {
            const std::int32_t wish = wanted[slots[row - first]];
            const double value = value_at(reader.objective, reader.sign, row);
            if (wish == -1) return values.push_back(value), at.push_back(row);
            own[wish].low = std::min(own[wish].low, value);
            own[wish].high = std::max(own[wish].high, value);
        };
        FarRows far(reader.objective, use);
        for (; first < begin + count; first += block_rows) {
            const std::int64_t here = std::min(block_rows, begin + count - first);
            slots = reader.read(first, here, room);
            for_marked(slots, first, here, code_of.data(), codes != nullptr ? codes + first : nullptr, far);
            far.finish();
        }
        const std::lock_guard<std::mutex> lock(mutex);
        const std::int64_t some = static_cast<std::int64_t>(values.size()), from = std::min(found, capacity);
        const std::int64_t copied = std::min(some, capacity - from);
        std::copy_n(values.begin(), copied, out + from);
        if (places != nullptr) std::copy_n(at.begin(), copied, places + from);
        found += some;
        for (std::int32_t i = 0; i < large; ++i) {
            ends[i].low = std::min(ends[i].low, own[i].low);
            ends[i].high = std::max(ends[i].high, own[i].high);
        }
    });
    return found;
}

}  // namespace pedanova
