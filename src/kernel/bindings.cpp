// The plain C face of the kernel: checks codes, catches exceptions, calls. No arithmetic here.
#include <cstdint>

#include "column.hpp"
#include "count.hpp"
#include "moments.hpp"
#include "pairs.hpp"
#include "pareto.hpp"
#include "select.hpp"

#if defined(_WIN32)
#define PEDANOVA_EXPORT extern "C" __declspec(dllexport)
#else
#define PEDANOVA_EXPORT extern "C" __attribute__((visibility("default")))
#endif

using namespace pedanova;

namespace {

constexpr std::int32_t abi = 5;  // raised whenever a signature below changes; kernel.py asks for it
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

PEDANOVA_EXPORT std::int32_t pedanova_abi() { return abi; }

// levels: (rows,) of 1 or 2 bytes each, as level_bytes says.
PEDANOVA_EXPORT std::int64_t pedanova_assign_levels(const void* objective, std::int64_t stride, std::int32_t dtype, double sign,
                                                    std::int64_t rows, const double* boundaries, std::int64_t count,
                                                    std::int64_t nan_level, std::int32_t level_bytes, void* levels) {
    if (!is_known(dtype) || rows < 0 || (level_bytes != 1 && level_bytes != 2)) return bad_argument;
    const Column column = as_column(objective, stride, dtype);
    return guarded([&] {
        if (level_bytes == 1) assign_levels(column, sign, rows, boundaries, count, nan_level, static_cast<std::uint8_t*>(levels));
        else assign_levels(column, sign, rows, boundaries, count, nan_level, static_cast<std::uint16_t*>(levels));
        return std::int64_t{0};
    });
}

PEDANOVA_EXPORT std::int64_t pedanova_count_numeric(const void* values, std::int64_t stride, std::int32_t dtype, std::int64_t rows,
                                                    std::int32_t level_bytes, const void* levels, const void* objective,
                                                    std::int64_t objective_stride, std::int32_t objective_dtype,
                                                    const std::uint8_t* missing, std::int64_t cells, const double* inner,
                                                    const double* accept_low, const double* accept_high, std::int32_t range, std::int32_t even,
                                                    double origin, double scale, Entry* table) {
    if (!is_known(dtype) || !is_known(objective_dtype) || rows < 0 || cells < 1 || (level_bytes != 1 && level_bytes != 2))
        return bad_argument;
    const Column column = as_column(values, stride, dtype);
    const Column target = as_column(objective, objective_stride, objective_dtype);
    const NumericGrid grid{cells, inner, accept_low, accept_high, range != 0, even != 0, origin, scale};
    return guarded([&] {
        if (level_bytes == 1) count_numeric(column, grid, rows, static_cast<const std::uint8_t*>(levels), target, missing, table);
        else count_numeric(column, grid, rows, static_cast<const std::uint16_t*>(levels), target, missing, table);
        return std::int64_t{0};
    });
}

PEDANOVA_EXPORT std::int64_t pedanova_count_lookup(const void* values, std::int64_t stride, std::int32_t dtype, std::int64_t rows,
                                                   std::int32_t level_bytes, const void* levels, const void* objective,
                                                   std::int64_t objective_stride, std::int32_t objective_dtype,
                                                   const std::uint8_t* missing, std::int64_t cells, std::int64_t offset,
                                                   std::int64_t size, const std::int32_t* lookup, Entry* table) {
    if (!is_known(dtype) || !is_whole(static_cast<Dtype>(dtype)) || !is_known(objective_dtype) || rows < 0 || cells < 1 ||
        (level_bytes != 1 && level_bytes != 2))
        return bad_argument;
    const Column column = as_column(values, stride, dtype);
    const Column target = as_column(objective, objective_stride, objective_dtype);
    const LookupGrid grid{cells, offset, size, lookup};
    return guarded([&] {
        if (level_bytes == 1) count_lookup(column, grid, rows, static_cast<const std::uint8_t*>(levels), target, missing, table);
        else count_lookup(column, grid, rows, static_cast<const std::uint16_t*>(levels), target, missing, table);
        return std::int64_t{0};
    });
}

PEDANOVA_EXPORT std::int64_t pedanova_sum_levels(const void* objective, std::int64_t stride, std::int32_t dtype, std::int64_t rows,
                                                 std::int32_t level_bytes, const void* levels, const double* centres, Moment* table) {
    if (!is_known(dtype) || rows < 0 || (level_bytes != 1 && level_bytes != 2)) return bad_argument;
    const Column column = as_column(objective, stride, dtype);
    return guarded([&] {
        if (level_bytes == 1) sum_levels(column, rows, static_cast<const std::uint8_t*>(levels), centres, table);
        else sum_levels(column, rows, static_cast<const std::uint16_t*>(levels), centres, table);
        return std::int64_t{0};
    });
}

PEDANOVA_EXPORT std::int64_t pedanova_code_numeric(const void* values, std::int64_t stride, std::int32_t dtype, std::int64_t rows,
                                                   const std::uint8_t* missing, std::int64_t cells, const double* inner,
                                                   const double* accept_low, const double* accept_high, std::int32_t range, std::int32_t even,
                                                   double origin, double scale, const std::uint8_t* groups, std::uint8_t* codes) {
    if (!is_known(dtype) || rows < 0 || cells < 1) return bad_argument;
    const NumericGrid grid{cells, inner, accept_low, accept_high, range != 0, even != 0, origin, scale};
    return guarded([&] {
        code_numeric(as_column(values, stride, dtype), grid, rows, missing, groups, codes);
        return std::int64_t{0};
    });
}

PEDANOVA_EXPORT std::int64_t pedanova_code_lookup(const void* values, std::int64_t stride, std::int32_t dtype, std::int64_t rows,
                                                  const std::uint8_t* missing, std::int64_t cells, std::int64_t offset, std::int64_t size,
                                                  const std::int32_t* lookup, const std::uint8_t* groups, std::uint8_t* codes) {
    if (!is_known(dtype) || !is_whole(static_cast<Dtype>(dtype)) || rows < 0 || cells < 1) return bad_argument;
    const LookupGrid grid{cells, offset, size, lookup};
    return guarded([&] {
        code_lookup(as_column(values, stride, dtype), grid, rows, missing, groups, codes);
        return std::int64_t{0};
    });
}

// codes: (columns, rows), all below width; parts: (rows,), all below part_count; tables: one for each pair of columns.
PEDANOVA_EXPORT std::int64_t pedanova_count_pairs(const std::uint8_t* codes, const std::uint8_t* parts, std::int64_t rows,
                                                  std::int64_t columns, std::int64_t width, std::int64_t part_count, std::uint32_t* tables) {
    if (rows < 0 || rows > INT32_MAX || columns < 2 || width < 1 || width > 256 || part_count < 1 || part_count > 256) return bad_argument;
    return guarded([&] {
        count_pairs(codes, parts, rows, columns, width, part_count, tables);
        return std::int64_t{0};
    });
}

// Returns the number of NaN among the rows.
PEDANOVA_EXPORT std::int64_t pedanova_count_digits(const void* objective, std::int64_t stride, std::int32_t dtype, double sign,
                                                   std::int64_t rows, const std::int32_t* const* children, std::int32_t depth,
                                                   std::int64_t* counts) {
    if (!is_known(dtype) || rows < 0 || depth < 0 || depth >= digit_count) return bad_argument;
    return guarded([&] { return count_digits(as_column(objective, stride, dtype), sign, rows, children, depth, counts); });
}

// Returns how many rows lie under a wanted prefix.
PEDANOVA_EXPORT std::int64_t pedanova_gather_wanted(const void* objective, std::int64_t stride, std::int32_t dtype, double sign,
                                                    std::int64_t rows, const std::int32_t* const* children, std::int32_t depth,
                                                    double* out, std::int64_t capacity) {
    if (!is_known(dtype) || rows < 0 || depth < 0 || depth >= digit_count) return bad_argument;
    return guarded([&] { return gather_wanted(as_column(objective, stride, dtype), sign, rows, children, depth, out, capacity); });
}

// rows: (count, objectives) different rows in lexicographic order, all minimised.
PEDANOVA_EXPORT std::int64_t pedanova_find_fronts(const double* rows, std::int64_t count, std::int64_t objectives, std::int64_t* fronts) {
    if (count < 0 || objectives < 2) return bad_argument;
    return guarded([&] {
        find_fronts(rows, count, objectives, fronts);
        return std::int64_t{0};
    });
}
