// The plain C face of the kernel: checks codes, catches exceptions, calls. No arithmetic here.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "agreement.hpp"
#include "cells.hpp"
#include "column.hpp"
#include "count.hpp"
#include "dense.hpp"
#include "levels.hpp"
#include "loops.hpp"
#include "moments.hpp"
#include "pairs.hpp"
#include "pareto.hpp"
#include "sample.hpp"
#include "select.hpp"

#if defined(_WIN32)
#define PEDANOVA_EXPORT extern "C" __declspec(dllexport)
#else
#define PEDANOVA_EXPORT extern "C" __attribute__((visibility("default")))
#endif

using namespace pedanova;

namespace {

constexpr std::int64_t bad_argument = -1;
constexpr std::int64_t failed = -2;

Column as_column(const void* data, std::int64_t stride, std::int32_t dtype) {
    return Column{static_cast<const char*>(data), stride, static_cast<Dtype>(dtype)};
}

template <class Work>
std::int64_t guarded(const Work& work) {
    try {
        return work();
    } catch (...) {
        return failed;
    }
}

}  // namespace

// The version of the package that this was compiled from; Python works with its own alone.
PEDANOVA_EXPORT const char* pedanova_version() { return PEDANOVA_VERSION; }

// What the loops were chosen for on this machine.
PEDANOVA_EXPORT const char* pedanova_processor() {
    return processor == Processor::avx512 ? "AVX-512" : processor == Processor::avx2 ? "AVX2" : "base";
}

// Returns whether there is neither NaN nor infinity: 1 or 0.
PEDANOVA_EXPORT std::int64_t pedanova_all_finite(const void* data, std::int64_t stride, std::int32_t dtype,
                                                 std::int64_t rows, std::int32_t threads) {
    if (!is_known(dtype) || rows < 0) return bad_argument;
    return guarded([&] { return std::int64_t{all_finite(as_column(data, stride, dtype), rows, threads)}; });
}

// levels: (rows,) of 1 or 2 bytes each, as level_bytes says.
PEDANOVA_EXPORT std::int64_t pedanova_assign_levels(const void* objective, std::int64_t stride, std::int32_t dtype,
                                                    double sign, std::int64_t rows, const double* boundaries,
                                                    std::int64_t count, std::int64_t nan_level,
                                                    std::int32_t level_bytes, void* levels, std::int32_t threads) {
    if (!is_known(dtype) || rows < 0 || (level_bytes != 1 && level_bytes != 2)) return bad_argument;
    const Column column = as_column(objective, stride, dtype);
    return guarded([&] {
        if (level_bytes == 1)
            assign_levels(column, sign, rows, boundaries, count, nan_level, static_cast<std::uint8_t*>(levels),
                          threads);
        else
            assign_levels(column, sign, rows, boundaries, count, nan_level, static_cast<std::uint16_t*>(levels),
                          threads);
        return std::int64_t{0};
    });
}

// levels: (rows,) codes from 0 to level_count, which stands for rows that do not count. All features have tables to be
// added to, or none has. sample: taken on the way, or null. Returns how many entries it has.
PEDANOVA_EXPORT std::int64_t pedanova_count_features(const Feature* features, std::int64_t count, std::int64_t rows,
                                                     std::int32_t level_bytes, const void* levels,
                                                     std::int64_t level_count, const void* objective,
                                                     std::int64_t stride, std::int32_t dtype, const Sample* sample,
                                                     std::int32_t threads) {
    if (!is_known(dtype) || rows < 0 || level_count < 1 || (level_bytes != 1 && level_bytes != 2)) return bad_argument;
    if (sample != nullptr && !sample->is_sound()) return bad_argument;
    const auto is_sound = [&](const Feature& feature) {
        const bool has_place = feature.table != nullptr || (feature.counts != nullptr && feature.sums != nullptr);
        return feature.is_sound() && has_place && (feature.table == nullptr) == (features->table == nullptr);
    };
    if (count < 1 || !std::all_of(features, features + count, is_sound)) return bad_argument;
    const Rows all{rows, level_count, as_column(objective, stride, dtype)};
    return guarded([&] {
        if (level_bytes == 1)
            return count_features(features, count, static_cast<const std::uint8_t*>(levels), all, sample, threads);
        return count_features(features, count, static_cast<const std::uint16_t*>(levels), all, sample, threads);
    });
}

// levels: as above. Returns how many entries the sample has.
PEDANOVA_EXPORT std::int64_t pedanova_lowest_rows(const Sample* sample, std::int64_t rows, std::int32_t level_bytes,
                                                  const void* levels, std::int64_t level_count, std::int32_t threads) {
    if (rows < 0 || !sample->is_sound() || (level_bytes != 1 && level_bytes != 2)) return bad_argument;
    return guarded([&] {
        if (level_bytes == 1)
            return lowest_rows(*sample, rows, static_cast<const std::uint8_t*>(levels), level_count, threads);
        return lowest_rows(*sample, rows, static_cast<const std::uint16_t*>(levels), level_count, threads);
    });
}

// table, counts, sums: (entries,).
PEDANOVA_EXPORT std::int64_t pedanova_split_table(const Entry* table, std::int64_t entries, std::int64_t* counts,
                                                  double* sums) {
    if (entries < 0) return bad_argument;
    split(table, entries, counts, sums);
    return 0;
}

PEDANOVA_EXPORT std::int64_t pedanova_sum_levels(const void* objective, std::int64_t stride, std::int32_t dtype,
                                                 std::int64_t rows, std::int32_t level_bytes, const void* levels,
                                                 const double* centres, Moment* table) {
    if (!is_known(dtype) || rows < 0 || (level_bytes != 1 && level_bytes != 2)) return bad_argument;
    const Column column = as_column(objective, stride, dtype);
    return guarded([&] {
        if (level_bytes == 1) sum_levels(column, rows, static_cast<const std::uint8_t*>(levels), centres, table);
        else sum_levels(column, rows, static_cast<const std::uint16_t*>(levels), centres, table);
        return std::int64_t{0};
    });
}

PEDANOVA_EXPORT std::int64_t pedanova_code_feature(const Feature* feature, std::int64_t rows,
                                                   const std::uint8_t* groups, std::uint8_t* codes) {
    if (rows < 0 || !feature->is_sound()) return bad_argument;
    return guarded([&] {
        code_feature(*feature, rows, groups, codes);
        return std::int64_t{0};
    });
}

// codes: (columns, rows), all below width; parts: (rows,), all below part_count; tables: one for each pair of columns.
PEDANOVA_EXPORT std::int64_t pedanova_count_pairs(const std::uint8_t* codes, const std::uint8_t* parts,
                                                  std::int64_t rows, std::int64_t columns, std::int64_t width,
                                                  std::int64_t part_count, std::uint32_t* tables) {
    if (rows < 0 || rows > INT32_MAX || columns < 2 || width < 1 || width > 256 || part_count < 1 || part_count > 256)
        return bad_argument;
    return guarded([&] {
        count_pairs(codes, parts, rows, columns, width, part_count, tables);
        return std::int64_t{0};
    });
}

// Returns the number of NaN among the rows.
PEDANOVA_EXPORT std::int64_t pedanova_count_digits(const void* objective, std::int64_t stride, std::int32_t dtype,
                                                   double sign, std::int64_t rows, const std::int32_t* const* children,
                                                   std::int32_t depth, std::int64_t* counts) {
    if (!is_known(dtype) || rows < 0 || depth < 0 || depth >= digit_count) return bad_argument;
    return guarded(
        [&] { return count_digits(as_column(objective, stride, dtype), sign, rows, children, depth, counts); });
}

// Returns how many rows lie under a wanted prefix.
PEDANOVA_EXPORT std::int64_t pedanova_gather_wanted(const void* objective, std::int64_t stride, std::int32_t dtype,
                                                    double sign, std::int64_t rows, const std::int32_t* const* children,
                                                    std::int32_t depth, double* out, std::int64_t capacity) {
    if (!is_known(dtype) || rows < 0 || depth < 0 || depth >= digit_count) return bad_argument;
    return guarded(
        [&] { return gather_wanted(as_column(objective, stride, dtype), sign, rows, children, depth, out, capacity); });
}

// counts: (window slots + 1,), NaN last.
PEDANOVA_EXPORT std::int64_t pedanova_count_window(const void* objective, std::int64_t stride, std::int32_t dtype,
                                                   double sign, std::int64_t rows, std::uint64_t first,
                                                   std::int32_t shift, std::int64_t slot_count, std::int64_t* counts,
                                                   std::int32_t threads) {
    const SlotReader reader{Window{first, shift, slot_count}, as_column(objective, stride, dtype), sign};
    if (!is_known(dtype) || rows < 0 || !reader.window.is_sound()) return bad_argument;
    return guarded([&] {
        count_window(reader, rows, counts, threads);
        return std::int64_t{0};
    });
}

// wanted: (window slots + 1,). Returns how many rows lie in the slots to be collected.
PEDANOVA_EXPORT std::int64_t pedanova_gather_slots(const void* objective, std::int64_t stride, std::int32_t dtype,
                                                   double sign, std::int64_t rows, std::uint64_t first,
                                                   std::int32_t shift, std::int64_t slot_count,
                                                   const std::int32_t* wanted, Ends* ends, double* out,
                                                   std::int64_t capacity, std::uint8_t* codes, std::int64_t* places,
                                                   std::int32_t threads) {
    const SlotReader reader{Window{first, shift, slot_count}, as_column(objective, stride, dtype), sign};
    if (!is_known(dtype) || rows < 0 || !reader.window.is_sound()) return bad_argument;
    return guarded([&] {
        return gather_slots(reader, rows, wanted, slot_count + 1, ends, out, capacity, codes, places, threads);
    });
}

PEDANOVA_EXPORT std::int64_t pedanova_assign_by_slots(const void* objective, std::int64_t stride, std::int32_t dtype,
                                                      double sign, std::int64_t rows, std::uint64_t first,
                                                      std::int32_t shift, std::int64_t slot_count,
                                                      const double* boundaries, std::int64_t count,
                                                      std::int64_t nan_level, std::int32_t level_bytes, void* levels,
                                                      std::int32_t threads) {
    const SlotReader reader{Window{first, shift, slot_count}, as_column(objective, stride, dtype), sign};
    if (!is_known(dtype) || rows < 0 || !reader.window.is_sound() || (level_bytes != 1 && level_bytes != 2))
        return bad_argument;
    return guarded([&] {
        if (level_bytes == 1)
            assign_by_slots(reader, rows, boundaries, count, nan_level, static_cast<std::uint8_t*>(levels), threads);
        else assign_by_slots(reader, rows, boundaries, count, nan_level, static_cast<std::uint16_t*>(levels), threads);
        return std::int64_t{0};
    });
}

// values, places: (rows,) as pedanova_gather_slots wrote them, and codes, of which those of these rows become levels.
PEDANOVA_EXPORT std::int64_t pedanova_settle_rows(const double* values, const std::int64_t* places, std::int64_t rows,
                                                  const double* boundaries, std::int64_t count, std::uint8_t* codes,
                                                  std::int32_t threads) {
    if (rows < 0 || count < 0 || count > 254) return bad_argument;
    return guarded([&] {
        settle_rows(values, places, rows, boundaries, count, codes, threads);
        return std::int64_t{0};
    });
}

// rows: (count, objectives) different rows in lexicographic order, all minimised.
PEDANOVA_EXPORT std::int64_t pedanova_find_fronts(const double* rows, std::int64_t count, std::int64_t objectives,
                                                  std::int64_t* fronts) {
    if (count < 0 || objectives < 2) return bad_argument;
    return guarded([&] {
        find_fronts(rows, count, objectives, fronts);
        return std::int64_t{0};
    });
}

// lower, inverse: (size, size) by rows; inverse is zero at first.
PEDANOVA_EXPORT std::int64_t pedanova_invert_triangle(const float* lower, std::int64_t size, float* inverse) {
    if (size < 0) return bad_argument;
    return guarded([&] {
        invert_triangle(lower, size, inverse);
        return std::int64_t{0};
    });
}

// values, order: (lines, size).
PEDANOVA_EXPORT std::int64_t pedanova_sort_lines(const float* values, std::int64_t lines, std::int64_t size,
                                                 std::int64_t* order) {
    if (lines < 0 || size < 0 || size > 0xFFFFFFFFll) return bad_argument;
    return guarded([&] {
        sort_lines(values, lines, size, order);
        return std::int64_t{0};
    });
}

// Every function above and every field of Feature, in letters: base/kernel/library.py compares them with its own.
PEDANOVA_EXPORT const char* pedanova_face() {
#define FUNCTION(name) told(#name, &pedanova_##name)
#define FIELD(name) told("Feature." #name, offsetof(Feature, name))
#define PART(name) told("Summand." #name, offsetof(Summand, name))
#define OF_SAMPLE(name) told("Sample." #name, offsetof(Sample, name))
    static const std::string face =
        FUNCTION(all_finite) + FUNCTION(assign_levels) + FUNCTION(count_features) + FUNCTION(lowest_rows) +
        FUNCTION(split_table) + FUNCTION(sum_levels) + FUNCTION(code_feature) + FUNCTION(count_pairs) +
        FUNCTION(count_digits) + FUNCTION(gather_wanted) + FUNCTION(count_window) + FUNCTION(gather_slots) +
        FUNCTION(assign_by_slots) + FUNCTION(settle_rows) + FUNCTION(find_fronts) + FUNCTION(invert_triangle) +
        FUNCTION(sort_lines) + FIELD(data) + FIELD(stride) + FIELD(dtype) + FIELD(looked_up) + FIELD(missing) +
        FIELD(cells) + FIELD(inner) + FIELD(accept_low) + FIELD(accept_high) + FIELD(range) + FIELD(even) +
        FIELD(origin) + FIELD(scale) + FIELD(offset) + FIELD(size) + FIELD(lookup) + FIELD(table) + FIELD(counts) +
        FIELD(sums) + told("Feature", sizeof(Feature)) + PART(data) + PART(stride) + PART(dtype) + PART(looked_up) +
        PART(missing) + PART(table) + PART(size) + PART(gap) + PART(first) + PART(second) + PART(weight) +
        told("Summand", sizeof(Summand)) + OF_SAMPLE(summands) + OF_SAMPLE(count) + OF_SAMPLE(data) +
        OF_SAMPLE(stride) + OF_SAMPLE(dtype) + OF_SAMPLE(shift) + OF_SAMPLE(sign) + OF_SAMPLE(most) + OF_SAMPLE(limit) +
        OF_SAMPLE(room) + OF_SAMPLE(found) + told("Sample", sizeof(Sample)) + told("Merged", sizeof(Merged));
#undef OF_SAMPLE
#undef PART
#undef FIELD
#undef FUNCTION
    return face.c_str();
}
