// Which interval does a number fall into? Exactly what a binary search over the boundaries says, only faster.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "column.hpp"

namespace pedanova {

// Boundaries b[0] < b[1] < ... at equal distances: a multiplication guesses, two comparisons settle.
struct EvenLocator {
    const double* boundaries;
    std::int64_t count;
    double origin;  // where the interval before b[0] would begin
    double scale;   // intervals per unit

    // The number of boundaries <= value.
    std::int64_t operator()(double value) const {
        const double position = (value - origin) * scale;
        // Written so that NaN and infinities go to an end instead of into an undefined conversion.
        std::int64_t guess = position > 0.0 ? (position < static_cast<double>(count) ? static_cast<std::int64_t>(position) : count) : 0;
        while (guess > 0 && value < boundaries[guess - 1]) --guess;
        while (guess < count && value >= boundaries[guess]) ++guess;
        return guess;
    }
};

// Where in a table a number is looked up. Both ways rise with the number, which is all that the table needs.
struct BitSlots {  // by leading bits: right for boundaries that spread over many orders of magnitude
    std::uint64_t first = 0;
    int shift = 0;

    BitSlots(double low, double high, std::uint64_t longest) : first(order_key(low)) {
        while (((order_key(high) - first) >> shift) >= longest) ++shift;
    }
    std::size_t operator()(double value) const { return static_cast<std::size_t>((order_key(value) - first) >> shift); }
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
    std::size_t operator()(double value) const {
        return scale > 0 ? static_cast<std::size_t>(std::min((value - first) * scale, last)) : 0;
    }
};

// Any ascending boundaries: a table narrows the search to the few that share a slot with the number.
template <class Slots>
class TableLocator {
public:
    TableLocator(const double* boundaries, std::int64_t count, const Slots& slots)
        : boundaries_(boundaries), count_(count), slots_(slots), start_(slots(boundaries[count - 1]) + 2) {
        // start_[s] = boundaries in slots before s; the answer for a number of slot s lies in [start_[s], start_[s + 1]].
        std::size_t slot = 0;
        for (std::int64_t i = 0; i < count; ++i)
            for (const std::size_t own = slots(boundaries[i]); slot <= own;) start_[slot++] = static_cast<std::int32_t>(i);
        while (slot < start_.size()) start_[slot++] = static_cast<std::int32_t>(count);
    }

    // The number of boundaries <= value; NaN gives count.
    std::int64_t operator()(double value) const {
        if (value < boundaries_[0]) return 0;
        if (!(value < boundaries_[count_ - 1])) return count_;
        const std::size_t slot = slots_(value);
        std::int64_t low = start_[slot];
        std::int64_t high = start_[slot + 1];
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            if (value >= boundaries_[middle]) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    // Steps of the search if numbers fall evenly between the boundaries.
    double cost() const {
        double steps = 0;
        for (std::size_t s = 0; s + 1 < start_.size(); ++s) {
            const double inside = start_[s + 1] - start_[s];
            steps += inside * std::log2(1.0 + inside);
        }
        return steps;
    }

private:
    const double* boundaries_;
    std::int64_t count_;
    Slots slots_;
    std::vector<std::int32_t> start_;
};

struct NoBoundaries {
    std::int64_t operator()(double) const { return 0; }
};

// Calls `use` with whichever table answers in fewer steps.
template <class Use>
void with_table(const double* boundaries, std::int64_t count, std::int64_t rows, const Use& use) {
    if (count == 0) return use(NoBoundaries{});
    // A table much longer than the column would cost more than it saves.
    const std::uint64_t longest = static_cast<std::uint64_t>(std::clamp<std::int64_t>(rows / 8, 16, 8192));
    const double low = boundaries[0];
    const double high = boundaries[count - 1];
    const TableLocator<BitSlots> by_bits(boundaries, count, BitSlots(low, high, longest));
    const TableLocator<EvenSlots> by_distance(boundaries, count, EvenSlots(low, high, longest));
    if (by_distance.cost() < by_bits.cost()) use(by_distance);
    else use(by_bits);
}

}  // namespace pedanova
