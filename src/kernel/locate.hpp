// Which interval does a number fall into? Exactly what a binary search over the boundaries says, only faster.
#pragma once

#include <algorithm>
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

// Any ascending boundaries: a table on the leading bits of the number narrows the search to a few of them.
class TableLocator {
public:
    TableLocator(const double* boundaries, std::int64_t count, std::int64_t rows)
        : boundaries_(boundaries), count_(count) {
        if (count == 0) return;
        first_ = order_key(boundaries[0]);
        const std::uint64_t span = order_key(boundaries[count - 1]) - first_;
        // A table much longer than the column would cost more than it saves.
        const std::uint64_t longest = static_cast<std::uint64_t>(std::clamp<std::int64_t>(rows / 8, 16, 8192));
        while ((span >> shift_) >= longest) ++shift_;
        start_.resize(static_cast<std::size_t>(span >> shift_) + 2);
        fill_starts();
    }

    // The number of boundaries <= value; NaN gives count.
    std::int64_t operator()(double value) const {
        if (count_ == 0) return 0;
        if (value < boundaries_[0]) return 0;
        if (!(value < boundaries_[count_ - 1])) return count_;
        const std::size_t slot = static_cast<std::size_t>((order_key(value) - first_) >> shift_);
        std::int64_t low = start_[slot];
        std::int64_t high = start_[slot + 1];
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            if (value >= boundaries_[middle]) low = middle + 1;
            else high = middle;
        }
        return low;
    }

private:
    // start_[s] = boundaries below slot s; the answer for a value of slot s lies in [start_[s], start_[s + 1]].
    void fill_starts() {
        std::size_t slot = 0;
        for (std::int64_t i = 0; i < count_; ++i) {
            const std::size_t own = static_cast<std::size_t>((order_key(boundaries_[i]) - first_) >> shift_);
            while (slot <= own) start_[slot++] = static_cast<std::int32_t>(i);
        }
        while (slot < start_.size()) start_[slot++] = static_cast<std::int32_t>(count_);
    }

    const double* boundaries_;
    std::int64_t count_;
    std::uint64_t first_ = 0;
    int shift_ = 0;
    std::vector<std::int32_t> start_;
};

}  // namespace pedanova
