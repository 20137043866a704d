// Cells of positive numbers that spread over orders of magnitude, as those of a log scale: their leading bits tell.
//
// A word of 32 bits is cut from the bits of a number: the upper ones name a slot, the lower ones the place in it. No
// slot holds more than one boundary, so one look into a table and one addition tell the cell. What was cut off can
// matter only where the place is that of the boundary itself: such rows are settled by comparisons, elsewhere.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "column.hpp"
#include "locate.hpp"
#include "loops.hpp"

namespace pedanova {

struct LeadingCut {
    std::uint64_t first;  // bits of a number before all that are accepted
    std::uint32_t low;    // words of the numbers that are accepted, without the ends
    std::uint32_t high;
    int shift;

    std::uint64_t word(double value) const { return (bits_of(value) - first) >> shift; }
};

// Returns whether all numbers lie inside; of negative ones and NaN the difference is too large.
template <class Stored>
PEDANOVA_BODY bool cut_words(const LeadingCut& cut, const Stored* values, std::int64_t rows, std::uint32_t* out) {
    std::uint32_t beyond = 0, least = ~0u, most = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::uint64_t long_word = cut.word(static_cast<double>(values[i]));
        const std::uint32_t word = static_cast<std::uint32_t>(long_word);
        beyond |= static_cast<std::uint32_t>(long_word >> 32);
        least = word < least ? word : least;
        most = word > most ? word : most;
        out[i] = word;
    }
    return beyond == 0 && least > cut.low && most < cut.high;
}

PEDANOVA_LOOP(bool, leading_words, (LeadingCut cut, const double* values, std::int64_t rows, std::uint32_t* out),
              (cut, values, rows, out)) {
    return cut_words(cut, values, rows, out);
}

PEDANOVA_LOOP(bool, leading_words, (LeadingCut cut, const float* values, std::int64_t rows, std::uint32_t* out),
              (cut, values, rows, out)) {
    return cut_words(cut, values, rows, out);
}

// Returns whether no number has the place of a boundary.
PEDANOVA_LOOP(bool, cells_of_words, (const std::uint32_t* words, int place_bits, std::int64_t rows, std::uint16_t* out),
              (words, place_bits, rows, out)) {
    std::uint32_t nearest = ~0u;
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::uint32_t beside = words[i] << (32 - place_bits);
        nearest = beside < nearest ? beside : nearest;
        out[i] = static_cast<std::uint16_t>(words[i] >> place_bits);
    }
    return nearest != 0;
}

class LeadingGrid {
  public:
    static constexpr int fewest_slot_bits = 8, most_slot_bits = 14;

    // Inner boundaries ascend, and numbers from low to high are accepted. A table much longer than the column would
    // cost more than it saves.
    LeadingGrid(const double* boundaries, std::int64_t count, double low, double high, std::int64_t rows) {
        if (!(low > 0.0 && count >= 1 && low < boundaries[0] && boundaries[count - 1] < high)) return;
        for (int bits = fewest_slot_bits; bits <= most_slot_bits && table_.empty(); ++bits)
            if (count < (std::int64_t{1} << bits) - 1 && (std::int64_t{1} << bits) <= rows)
                try_slots(boundaries, count, low, high, bits);
    }

    bool is_usable() const { return !table_.empty(); }

    // As `place_plain`; at most `run_rows` rows.
    template <class Stored>
    bool operator()(const Stored* values, std::int64_t rows, std::uint16_t* out) const {
        std::uint32_t words[run_rows];
        if (!leading_words(cut_, values, rows, words)) return false;
        const std::uint32_t* const table = table_.data();
        const int place_bits = 32 - slot_bits_;
        for (std::int64_t i = 0; i < rows; ++i) words[i] += table[words[i] >> place_bits];
        return cells_of_words(words, place_bits, rows, out);
    }

  private:
    // Slots begin at odd places, for round numbers, which are frequent, must not be taken for boundaries.
    void try_slots(const double* boundaries, std::int64_t count, double low, double high, int slot_bits) {
        const std::uint64_t span = bits_of(high) - bits_of(low);
        int shift = 0;
        while ((span + span / 3) >> shift >> 32) ++shift;
        const std::uint64_t before = (std::uint64_t{1} << shift << (32 - slot_bits)) / 3;
        const LeadingCut cut{bits_of(low) - before, 0, 0, shift};
        if (before >= bits_of(low) || cut.word(high) >> 32) return;
        const int place_bits = 32 - slot_bits;
        std::vector<std::uint32_t> table(std::size_t{1} << slot_bits, 0);
        std::uint32_t slot = 0;
        const auto empty_until = [&](std::uint32_t end, std::int64_t passed) {
            for (; slot < end; ++slot) table[slot] = (static_cast<std::uint32_t>(passed) - slot) << place_bits;
        };
        for (std::int64_t i = 0; i < count; ++i) {
            const std::uint32_t word = static_cast<std::uint32_t>(cut.word(boundaries[i]));
            if (word >> place_bits < slot) return;  // two boundaries share a slot
            empty_until(word >> place_bits, i);
            table[slot++] = (static_cast<std::uint32_t>(i + 1) << place_bits) - word;
        }
        empty_until(std::uint32_t{1} << slot_bits, count);
        cut_ = cut, slot_bits_ = slot_bits;
        cut_.low = static_cast<std::uint32_t>(cut.word(low)), cut_.high = static_cast<std::uint32_t>(cut.word(high));
        table_ = std::move(table);
    }

    LeadingCut cut_{};
    int slot_bits_ = 0;
    std::vector<std::uint32_t> table_;  // what a word must be given so that its upper bits are the cell
};

}  // namespace pedanova
