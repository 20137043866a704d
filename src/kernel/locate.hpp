// Which interval does a number fall into? Exactly what a binary search over the boundaries says, only faster.
//
// Every locator takes a block of values and writes, for each, the number of boundaries <= value; NaN gives whatever
// lies in range, for the callers ask for it apart. A first loop finds slots without a branch, so that it becomes vector
// code.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "column.hpp"
#include "loops.hpp"

namespace pedanova {

// Adding it leaves a small number rounded to a whole one, in the low bits: the conversion that every processor
// vectorises.
constexpr double whole_shift = 6755399441055744.0;  // 2^52 + 2^51: negative ones too

inline std::uint64_t bits_of(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline std::uint32_t as_whole(double small) { return static_cast<std::uint32_t>(bits_of(small + whole_shift)); }

// Where in a table a number is looked up. Both ways rise with the number, which is all that the table needs.
struct BitSlots {  // by leading bits: right for boundaries that spread over many orders of magnitude
    std::uint64_t first = 0;
    std::uint64_t last = 0;  // slot
    int shift = 0;

    BitSlots(double low, double high, std::uint64_t longest) : first(order_key(low)), last(longest - 1) {
        while (((order_key(high) - first) >> shift) > last) ++shift;
    }
    std::uint32_t operator()(double value) const {
        const std::uint64_t key = order_key(value);
        const std::uint64_t slot = (key > first ? key - first : 0) >> shift;
        return static_cast<std::uint32_t>(slot < last ? slot : last);
    }
    std::size_t count() const {
        return static_cast<std::size_t>(last) + 1;
    }  // NaN lies beyond infinity, but not beyond the last
};

struct EvenSlots {  // by distance: right for boundaries on one scale, also around zero
    double first = 0;
    double scale = 0;
    double last = 0;

    EvenSlots(double low, double high, std::uint64_t longest) : first(low), last(static_cast<double>(longest - 1)) {
        const double span = high - low;
        scale = std::isfinite(span) && span > 0 ? last / span : 0.0;
        if (!std::isfinite(scale)) scale = 0.0;
    }
    std::uint32_t operator()(double value) const {
        const double anywhere = (value - first) * scale;
        const double below = anywhere < last ? anywhere : last;
        return as_whole(anywhere > 0.0 ? below : 0.0);  // NaN too
    }
    std::size_t count() const { return static_cast<std::size_t>(last) + 1; }
};

PEDANOVA_LOOP(void, fill_slots, (BitSlots slots, const double* values, std::int64_t rows, std::uint32_t* out),
              (slots, values, rows, out)) {
    for (std::int64_t i = 0; i < rows; ++i) out[i] = slots(values[i]);
}

PEDANOVA_LOOP(void, fill_slots, (EvenSlots slots, const double* values, std::int64_t rows, std::uint32_t* out),
              (slots, values, rows, out)) {
    for (std::int64_t i = 0; i < rows; ++i) out[i] = slots(values[i]);
}

// Boundaries that share their slot with another: each costs the rows beside it a search.
template <class Slots>
std::int64_t crowded(const double* boundaries, std::int64_t count, const Slots& slots) {
    std::int64_t shared = 0;
    for (std::int64_t i = 1; i < count; ++i) shared += slots(boundaries[i]) == slots(boundaries[i - 1]) ? 1 : 0;
    return shared;
}

// Any ascending boundaries: a slot knows how many lie before it and the first one inside; one comparison settles.
template <class Slots>
class TableLocator {
  public:
    TableLocator(const double* boundaries, std::int64_t count, const Slots& slots)
        : boundaries_(boundaries), slots_(slots), crowded_(crowded(boundaries, count, slots) > 0) {
        const std::size_t used = slots.count();
        before_.assign(used + 1, 0);
        split_.assign(used, std::numeric_limits<double>::quiet_NaN());  // nothing is >= NaN
        for (std::int64_t i = count; i-- > 0;) {
            const std::uint32_t slot = slots(boundaries[i]);
            split_[slot] = boundaries[i];
            ++before_[slot + 1];
        }
        for (std::size_t s = 0; s < used; ++s) before_[s + 1] += before_[s];
    }

    void operator()(const double* values, std::int64_t rows, std::uint32_t* out) const {
        fill_slots(slots_, values, rows, out);
        if (crowded_) return settle<true>(values, rows, out);
        settle<false>(values, rows, out);
    }

  private:
    template <bool Crowded>
    void settle(const double* values, std::int64_t rows, std::uint32_t* out) const {
        for (std::int64_t i = 0; i < rows; ++i) {
            const std::uint32_t slot = out[i];
            const std::uint32_t low = before_[slot];
            const bool behind = values[i] >= split_[slot];
            out[i] = low + (behind ? 1u : 0u);
            if (Crowded && behind && before_[slot + 1] - low > 1)
                out[i] = static_cast<std::uint32_t>(
                    std::upper_bound(boundaries_ + low, boundaries_ + before_[slot + 1], values[i]) - boundaries_);
        }
    }

    const double* boundaries_;
    Slots slots_;
    bool crowded_;
    std::vector<std::uint32_t> before_;  // boundaries in slots before this one
    std::vector<double> split_;          // the first boundary in the slot
};

struct NoBoundaries {
    void operator()(const double*, std::int64_t rows, std::uint32_t* out) const { std::fill(out, out + rows, 0u); }
};

// Calls `use` with the smallest table that keeps the boundaries apart, or else with the one that comes nearest to it.
template <class Use>
void with_table(const double* boundaries, std::int64_t count, std::int64_t rows, const Use& use) {
    if (count == 0) return use(NoBoundaries{});
    const double low = boundaries[0];
    const double high = boundaries[count - 1];
    // A table much longer than the column would cost more than it saves.
    const std::uint64_t longest = static_cast<std::uint64_t>(std::clamp<std::int64_t>(rows / 8, 16, 16384));
    for (std::uint64_t size = std::min<std::uint64_t>(longest, 1024);; size = std::min(longest, 2 * size)) {
        const BitSlots bits(low, high, size);
        const EvenSlots even(low, high, size);
        const std::int64_t by_bits = crowded(boundaries, count, bits);
        const std::int64_t by_distance = crowded(boundaries, count, even);
        if (std::min(by_bits, by_distance) > 0 && size < longest) continue;
        if (by_distance <= by_bits) return use(TableLocator<EvenSlots>(boundaries, count, even));
        return use(TableLocator<BitSlots>(boundaries, count, bits));
    }
}

}  // namespace pedanova
