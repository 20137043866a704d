// The rows with the lowest numbers, where the number of a row follows from its values alone: a sample that has all rows
// of a configuration or none. counting/few_rows.py: mixed_draws has the same arithmetic, to the last digit.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "column.hpp"
#include "loops.hpp"
#include "threads.hpp"

namespace pedanova {

constexpr std::int64_t number_rows = 256;       // numbered at a time: in the first-level cache
constexpr std::int64_t sample_piece = 1 << 16;  // rows of a piece, where nothing else is done with them
constexpr std::int64_t kept_beside = 1 << 13;   // more rows than the sample may have, before the highest are dropped

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

struct Sample {
    const Summand* summands;
    std::int64_t count;
    std::int64_t most;   // rows
    double limit;        // only rows with numbers below this
    std::int64_t* rows;  // (most + 1,) the lowest, and the next one, which tells where the sample ends
    double* numbers;     // (most + 1,)

    bool is_sound() const {
        return count >= 0 && most >= 0 &&
               std::all_of(summands, summands + count, [](const Summand& one) { return one.is_sound(); });
    }
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
        : sample_(sample), limit_(sample.limit), found_(static_cast<std::size_t>(threads)) {
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
            for (std::int64_t i = 0; i < here; ++i)
                if (total[i] < limit && static_cast<std::int64_t>(levels[first + i]) != none)
                    found_[thread].emplace_back(total[i], first + i);
            if (static_cast<std::int64_t>(found_[thread].size()) > sample_.most + kept_beside) drop(found_[thread]);
        }
    }

    template <class Level>
    void take_all(Crew& crew, std::int64_t rows, const Level* levels, std::int64_t none) {
        in_pieces(crew, rows, sample_piece, [&](std::int64_t first, std::int64_t here, std::int32_t thread) {
            take(first, here, levels, none, thread);
        });
    }

    // Writes the lowest rows, in their order; returns how many.
    std::int64_t write() {
        std::vector<Found>& all = found_[0];
        for (std::size_t thread = 1; thread < found_.size(); ++thread)
            all.insert(all.end(), found_[thread].begin(), found_[thread].end());
        drop(all);
        std::sort(all.begin(), all.end(), [](const Found& one, const Found& two) { return one.second < two.second; });
        for (std::size_t i = 0; i < all.size(); ++i) sample_.numbers[i] = all[i].first, sample_.rows[i] = all[i].second;
        return static_cast<std::int64_t>(all.size());
    }

  private:
    using Found = std::pair<double, std::int64_t>;

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

    // Keeps as many rows as can be of use: the lowest, and the next one.
    void drop(std::vector<Found>& found) {
        const std::int64_t kept = sample_.most + 1;
        if (static_cast<std::int64_t>(found.size()) <= kept) return;
        std::nth_element(found.begin(), found.begin() + sample_.most, found.end());
        found.resize(kept);
        const double highest = found[sample_.most].first;
        for (double limit = limit_; highest < limit && !limit_.compare_exchange_weak(limit, highest);) {
        }
    }

    const Sample sample_;
    std::vector<CodedTerms> coded_;
    std::atomic<double> limit_;
    std::vector<std::vector<Found>> found_;
};

inline std::int64_t lowest_rows(const Sample& sample, std::int64_t rows, const std::uint8_t* left_out,
                                std::int32_t threads) {
    Crew crew(threads);
    LowestRows lowest(sample, crew.size());
    lowest.take_all(crew, rows, left_out, 1);
    return lowest.write();
}

}  // namespace pedanova
