// The configurations with the lowest numbers, where the number of a row follows from its values alone: a sample that
// counts all rows of a configuration, by level, or none. counting/few_rows.py has the same, to the last digit.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "column.hpp"
#include "loops.hpp"
#include "threads.hpp"

namespace pedanova {

constexpr std::int64_t number_rows = 256;       // numbered at a time: in the first-level cache
constexpr std::int64_t sample_piece = 1 << 16;  // rows of a piece, where nothing else is done with them
constexpr std::int64_t kept_beside = 1 << 13;   // more entries than after the last time, before the highest are dropped
constexpr std::int64_t most_weight = 10;        // of one configuration: as much as so many entries
constexpr int level_bits = 6;                   // levels of a sample are merged to fewer than 2^6

// What a column adds to the numbers of the rows: weight * (the fraction of value * factor), for one or two factors.
struct Summand {
    const char* data;
    std::int64_t stride;
    std::int32_t dtype;
    std::int32_t looked_up;       // codes: the value is table[code], and there is one factor
    const std::uint8_t* missing;  // (rows,) or null
    const double* table;
    std::int64_t size;             // of the table; beyond it, values are infinite, so that a row has no number
    double gap;                    // where a value is missing or NaN
    double first, second, weight;  // factors; the second one is 0 if there is none

    double term_of(double value) const {
        const double scaled = value * first;
        return (scaled - std::floor(scaled)) * weight;
    }
    bool is_sound() const {
        const bool fits = is_whole(static_cast<Dtype>(dtype)) && (table != nullptr || size == 0) && second == 0.0;
        return is_known(dtype) && size >= 0 && size < INT32_MAX && (!looked_up || fits);
    }
};

constexpr std::int64_t room_for(std::int64_t most) { return ((most / most_weight + 2) << level_bits) + most; }

// The rows of one configuration and one level.
struct Merged {
    double number;
    std::int64_t level, count, first;  // the first row
    double low, high;                  // objectives

    bool operator<(const Merged& other) const {
        return number < other.number || (number == other.number && level < other.level);
    }
};

struct Sample {
    const Summand* summands;
    std::int64_t count;
    const char* data;  // the objective
    std::int64_t stride;
    std::int32_t dtype;
    std::int32_t shift;  // bits of a level that are dropped
    double sign;         // -1 where higher is better
    std::int64_t most;   // entries, of which one configuration has no more than `most_weight`
    double limit;        // only rows with numbers below this
    std::int64_t room;   // of `found`
    Merged* found;       // (room,) those of the lowest configurations, and of the next one, where the sample ends

    bool is_sound() const {
        return count >= 0 && most >= 0 && is_known(dtype) && room >= room_for(most) &&
               std::all_of(summands, summands + count, [](const Summand& one) { return one.is_sound(); });
    }
    double objective(std::int64_t row) const {  // lower is better
        double value;
        load(Column{data, stride, static_cast<Dtype>(dtype)}, row, 1, &value);
        return value == value ? sign * value : HUGE_VAL;
    }
};

// MergedRows by number and level.
class MergedRows {
  public:
    std::vector<Merged> all;

    explicit MergedRows(const Sample& sample) : sample_(sample) { place_all(); }

    void add(const Merged& more) {
        std::int32_t& place = places_[slot_of(more)];
        if (place < 0) {
            place = static_cast<std::int32_t>(all.size());
            all.push_back(more);
            if (2 * all.size() > places_.size()) place_all();
            return;
        }
        Merged& own = all[place];
        own.count += more.count;
        own.first = std::min(own.first, more.first);
        own.low = std::min(own.low, more.low);
        own.high = std::max(own.high, more.high);
    }

    bool is_full() const { return static_cast<std::int64_t>(all.size()) > settled_ + kept_beside; }

    // Keeps as many as can be of use: those of the lowest configurations, and of the next one, whose number is
    // returned.
    double drop(double limit) {
        std::sort(all.begin(), all.end());
        std::int64_t weight = 0, own = 0;
        for (std::size_t i = 0; i < all.size() && all[i].number <= limit; ++i) {
            own = i > 0 && all[i].number == all[i - 1].number ? own + 1 : 0;
            if (own < most_weight && ++weight > sample_.most) limit = all[i].number;
        }
        const Merged beyond{limit, INT64_MAX, 0, 0, 0, 0};
        all.erase(std::upper_bound(all.begin(), all.end(), beyond), all.end());
        settled_ = static_cast<std::int64_t>(all.size());
        place_all();
        return limit;
    }

  private:
    std::size_t slot_of(const Merged& one) const {
        std::uint64_t key;
        std::memcpy(&key, &one.number, sizeof key);
        key = (key + static_cast<std::uint64_t>(one.level)) * 0x9E3779B97F4A7C15u;
        const std::size_t last = places_.size() - 1;
        for (std::size_t slot = static_cast<std::size_t>(key >> 32) & last;; slot = (slot + 1) & last) {
            const std::int32_t place = places_[slot];
            if (place < 0 || (all[place].number == one.number && all[place].level == one.level)) return slot;
        }
    }

    void place_all() {
        std::size_t size = kept_beside;
        while (size < 4 * all.size()) size *= 2;
        places_.assign(size, -1);
        for (std::size_t i = 0; i < all.size(); ++i) places_[slot_of(all[i])] = static_cast<std::int32_t>(i);
    }

    const Sample& sample_;
    std::vector<std::int32_t> places_;
    std::int64_t settled_ = 0;
};

// A value, its factor and its weight, for each row of a block.
struct Term {
    const double* values;
    double factor, weight;
};

// Several terms at a time, so that the totals are loaded and stored less often.
constexpr int terms_at_once = 4;
PEDANOVA_BODY double with_terms(const Term& a, const Term& b, const Term& c, const Term& d, std::int64_t i,
                                double total) {
    const double one = a.values[i] * a.factor, two = b.values[i] * b.factor;
    const double three = c.values[i] * c.factor, four = d.values[i] * d.factor;
    return (((total + (one - std::floor(one)) * a.weight) + (two - std::floor(two)) * b.weight) +
            (three - std::floor(three)) * c.weight) +
           (four - std::floor(four)) * d.weight;
}

PEDANOVA_LOOP(void, add_terms, (const Term* terms, std::int64_t rows, double* total), (terms, rows, total)) {
    const Term a = terms[0], b = terms[1], c = terms[2], d = terms[3];
    for (std::int64_t i = 0; i < rows; ++i) total[i] = with_terms(a, b, c, d, i, total[i]);
}

// The last terms: leaves the fractions in `total`; whether any of them is below the limit. NaN never is.
PEDANOVA_LOOP(bool, any_low, (const Term* terms, std::int64_t rows, double limit, double* total),
              (terms, rows, limit, total)) {
    const Term a = terms[0], b = terms[1], c = terms[2], d = terms[3];
    std::int64_t low = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        const double sum = with_terms(a, b, c, d, i, total[i]), fraction = sum - std::floor(sum);
        total[i] = fraction;
        low += fraction < limit;
    }
    return low != 0;
}

PEDANOVA_LOOP(void, widen, (const float* values, std::int64_t rows, double* out), (values, rows, out)) {
    for (std::int64_t i = 0; i < rows; ++i) out[i] = static_cast<double>(values[i]);
}

// The terms of all codes of a column, for columns with codes.
class CodedTerms {
  public:
    explicit CodedTerms(const Summand& one) : one_(one) {
        if (!one.looked_up) return;
        terms_.push_back(one.term_of(one.gap));
        for (std::int64_t code = 0; code < one.size; ++code) {
            const double value = one.table[code];
            terms_.push_back(one.term_of(value == value ? value : one.gap));
        }
        terms_.push_back(one.term_of(HUGE_VAL));
        const Dtype dtype = static_cast<Dtype>(one.dtype);
        if (dtype != Dtype::u8 && dtype != Dtype::i8) return;
        for (int byte = 0; byte < 256; ++byte)
            by_byte_.push_back(term(dtype == Dtype::i8 && byte > 127 ? byte - 256 : byte));
    }

    void add(std::int64_t first, std::int64_t rows, double* total) const {
        const std::uint8_t* const missing = one_.missing == nullptr ? nullptr : one_.missing + first;
        if (missing == nullptr && !by_byte_.empty()) {
            const char* const from = one_.data + first * one_.stride;
            for (std::int64_t i = 0; i < rows; ++i)
                total[i] += by_byte_[static_cast<std::uint8_t>(from[i * one_.stride])];
            return;
        }
        std::int64_t codes[number_rows];
        load(Column{one_.data, one_.stride, static_cast<Dtype>(one_.dtype)}, first, rows, codes);
        for (std::int64_t i = 0; i < rows; ++i) total[i] += term(missing != nullptr && missing[i] ? -1 : codes[i]);
    }

  private:
    double term(std::int64_t code) const { return terms_[std::max<std::int64_t>(-1, std::min(code, one_.size)) + 1]; }

    const Summand one_;
    std::vector<double> terms_, by_byte_;  // for a gap, for each code, and beyond; for each byte
};

class LowestRows {
  public:
    LowestRows(const Sample& sample, std::int32_t threads)
        : sample_(sample), limit_(sample.limit), found_(static_cast<std::size_t>(threads), MergedRows(sample_)) {
        for (std::int64_t k = 0; k < sample.count; ++k) coded_.emplace_back(sample.summands[k]);
    }

    // Rows first, first + 1, ... whose code is not `none`.
    template <class Level>
    void take(std::int64_t first, std::int64_t rows, const Level* levels, std::int64_t none, std::int32_t thread) {
        double total[number_rows];
        for (std::int64_t end = first + rows; first < end; first += number_rows) {
            const std::int64_t here = std::min(number_rows, end - first);
            const double limit = limit_.load(std::memory_order_relaxed);
            if (!any_below(limit, first, here, total)) continue;
            for (std::int64_t i = 0; i < here; ++i) {
                const std::int64_t row = first + i, level = levels[row];
                if (!(total[i] < limit) || level == none) continue;
                const double objective = sample_.objective(row);
                found_[thread].add(Merged{total[i], level >> sample_.shift, 1, row, objective, objective});
            }
            if (found_[thread].is_full()) drop(found_[thread]);
        }
    }

    template <class Level>
    void take_all(Crew& crew, std::int64_t rows, const Level* levels, std::int64_t none) {
        in_pieces(crew, rows, sample_piece, [&](std::int64_t first, std::int64_t here, std::int32_t thread) {
            take(first, here, levels, none, thread);
        });
    }

    // Writes the entries of the lowest configurations, in order; returns how many.
    std::int64_t write() {
        MergedRows& together = found_[0];
        const double limit = limit_;
        for (std::size_t thread = 1; thread < found_.size(); ++thread)
            for (const Merged& one : found_[thread].all)
                if (one.number <= limit) together.add(one);
        together.drop(limit);
        std::copy(together.all.begin(), together.all.end(), sample_.found);
        return static_cast<std::int64_t>(together.all.size());
    }

  private:
    bool any_below(double limit, std::int64_t first, std::int64_t rows, double* total) const {
        static const double zeros[number_rows] = {};
        double buffers[terms_at_once][number_rows];
        Term terms[terms_at_once];
        int gathered = 0;
        const auto fill_up = [&] {
            while (gathered < terms_at_once) terms[gathered++] = Term{zeros, 1.0, 1.0};
        };
        const auto flush = [&] {
            if (gathered > 0) fill_up(), add_terms(terms, rows, total);
            gathered = 0;
        };
        std::fill_n(total, rows, 0.0);
        for (std::int64_t k = 0; k < sample_.count; ++k) {
            const Summand& one = sample_.summands[k];
            if (one.looked_up) {
                flush();  // terms are added in order
                coded_[k].add(first, rows, total);
                continue;
            }
            if (gathered + (one.second != 0.0 ? 2 : 1) > terms_at_once) flush();
            const double* const values = values_of(one, first, rows, buffers[gathered]);
            terms[gathered++] = Term{values, one.first, one.weight};
            if (one.second != 0.0) terms[gathered++] = Term{values, one.second, one.weight};
        }
        fill_up();
        return any_low(terms, rows, limit, total);
    }

    static const double* values_of(const Summand& one, std::int64_t first, std::int64_t rows, double* buffer) {
        const Column column{one.data, one.stride, static_cast<Dtype>(one.dtype)};
        const bool plain = one.missing == nullptr && one.gap != one.gap;
        if (plain && column.dtype == Dtype::f64) return view(column, first, rows, buffer);
        const float* const single = as_array<float>(column, Dtype::f32, first);
        if (single != nullptr) widen(single, rows, buffer);
        else load(column, first, rows, buffer);
        if (plain) return buffer;
        for (std::int64_t i = 0; i < rows; ++i) {
            const bool gone = buffer[i] != buffer[i] || (one.missing != nullptr && one.missing[first + i]);
            buffer[i] = gone ? one.gap : buffer[i];
        }
        return buffer;
    }

    void drop(MergedRows& found) {
        const double highest = found.drop(limit_);
        for (double limit = limit_; highest < limit && !limit_.compare_exchange_weak(limit, highest);) {
        }
    }

    const Sample sample_;
    std::vector<CodedTerms> coded_;
    std::atomic<double> limit_;
    std::vector<MergedRows> found_;
};

template <class Level>
std::int64_t lowest_rows(const Sample& sample, std::int64_t rows, const Level* levels, std::int64_t none,
                         std::int32_t threads) {
    Crew crew(threads);
    LowestRows lowest(sample, crew.size());
    lowest.take_all(crew, rows, levels, none);
    return lowest.write();
}

}  // namespace pedanova
