// Rows of one column -> cells of its grid, a block at a time.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

#include "column.hpp"
#include "even.hpp"
#include "locate.hpp"
#include "loops.hpp"

namespace pedanova {

// Count and sum of the objective side by side: one vector load, addition and store for each row counted. Counts are
// whole numbers up to 2^53 in a double, so nothing has to be flushed.
#if defined(__GNUC__)
typedef double Entry __attribute__((vector_size(16), aligned(8)));
#else
struct Entry {
    double count;
    double sum;
    void operator+=(const Entry& other) { count += other.count, sum += other.sum; }
};
#endif

// One column, its grid, and the table that it is counted into; kernel.py has the same structure.
struct Feature {
    const char* data;
    std::int64_t stride;
    std::int32_t dtype;
    std::int32_t looked_up;       // whole numbers with a small range: one look into `lookup` settles the cell
    const std::uint8_t* missing;  // (rows,) or null
    std::int64_t cells;
    const double* inner;        // numbers: the cell is the number of inner boundaries <= value, (cells - 1,) ascending,
    const double* accept_low;   // (cells,) refused unless the cell accepts the value
    const double* accept_high;  // (cells,)
    std::int32_t range;         // cells touch: only the first and the last can refuse a value
    std::int32_t even;          // the inner boundaries are equally far apart
    double origin;
    double scale;
    std::int64_t offset;         // the whole number that lookup[0] stands for
    std::int64_t size;           // of lookup; what lies beyond it is outside
    const std::int32_t* lookup;  // (size,) cell, or the missing or outside cell
    Entry* table;                // (levels, cells + 2)

    Column column() const { return Column{data, stride, static_cast<Dtype>(dtype)}; }
    std::int64_t width() const { return cells + 2; }
    std::uint32_t missing_cell() const { return static_cast<std::uint32_t>(cells); }
    std::uint32_t outside_cell() const { return static_cast<std::uint32_t>(cells + 1); }
    bool is_sound() const {
        return is_known(dtype) && cells >= 1 && cells < INT32_MAX &&
               (!looked_up || is_whole(static_cast<Dtype>(dtype)));
    }
};

PEDANOVA_LOOP(void, refuse_beyond,
              (double low, double high, std::uint32_t missing, std::uint32_t outside, const double* values,
               std::int64_t rows, std::uint32_t* cells),
              (low, high, missing, outside, values, rows, cells)) {
    for (std::int64_t i = 0; i < rows; ++i) {
        const double value = values[i];
        const std::uint32_t refused = value == value ? outside : missing;
        cells[i] = ((low <= value) & (value <= high)) ? cells[i] : refused;  // NaN is never inside
    }
}

inline void refuse_unlike(const Feature& feature, const double* values, std::int64_t rows, std::uint32_t* cells) {
    for (std::int64_t i = 0; i < rows; ++i) {
        const double value = values[i];
        const std::uint32_t refused = value == value ? feature.outside_cell() : feature.missing_cell();
        const bool placed = cells[i] < feature.missing_cell();
        cells[i] = placed && feature.accept_low[cells[i]] <= value && value <= feature.accept_high[cells[i]] ? cells[i]
                                                                                                             : refused;
    }
}

template <class Stored>
void look_up(const Feature& feature, std::int64_t first, std::int64_t rows, std::uint32_t* cells) {
    const char* from = feature.data + first * feature.stride;
    const std::uint64_t offset = static_cast<std::uint64_t>(feature.offset);
    const std::uint64_t size = static_cast<std::uint64_t>(feature.size);
    for (std::int64_t i = 0; i < rows; ++i) {
        Stored value;
        std::memcpy(&value, from + i * feature.stride, sizeof value);
        const std::uint64_t slot = static_cast<std::uint64_t>(value) - offset;
        cells[i] = slot < size ? static_cast<std::uint32_t>(feature.lookup[slot]) : feature.outside_cell();
    }
}

// Bytes have 256 answers: all of them are written down once.
class ByteTable {
  public:
    explicit ByteTable(const Feature& feature) : data_(feature.data), stride_(feature.stride) {
        const bool negative = static_cast<Dtype>(feature.dtype) == Dtype::i8;
        for (int byte = 0; byte < 256; ++byte) {
            const std::int64_t value = negative && byte > 127 ? byte - 256 : byte;
            const std::uint64_t slot = static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(feature.offset);
            cells_[byte] = slot < static_cast<std::uint64_t>(feature.size)
                               ? static_cast<std::uint32_t>(feature.lookup[slot])
                               : feature.outside_cell();
        }
    }
    void operator()(std::int64_t first, std::int64_t rows, std::uint32_t* cells) const {
        const char* from = data_ + first * stride_;
        for (std::int64_t i = 0; i < rows; ++i) cells[i] = cells_[static_cast<std::uint8_t>(from[i * stride_])];
    }

  private:
    const char* data_;
    std::int64_t stride_;
    std::uint32_t cells_[256];
};

inline void look_up_any(const Feature& feature, std::int64_t first, std::int64_t rows, std::uint32_t* cells) {
    switch (static_cast<Dtype>(feature.dtype)) {
        case Dtype::i8:
            return look_up<std::int8_t>(feature, first, rows, cells);
        case Dtype::i16:
            return look_up<std::int16_t>(feature, first, rows, cells);
        case Dtype::i32:
            return look_up<std::int32_t>(feature, first, rows, cells);
        case Dtype::i64:
            return look_up<std::int64_t>(feature, first, rows, cells);
        case Dtype::u8:
            return look_up<std::uint8_t>(feature, first, rows, cells);
        case Dtype::u16:
            return look_up<std::uint16_t>(feature, first, rows, cells);
        case Dtype::u32:
            return look_up<std::uint32_t>(feature, first, rows, cells);
        case Dtype::u64:
            return look_up<std::uint64_t>(feature, first, rows, cells);
        default:
            return;  // floats are never looked up: `is_sound` has seen to it
    }
}

// Names the cells of rows first, first + 1, ...; at most `block_rows` of them.
using FillCells = std::function<void(std::int64_t first, std::int64_t rows, std::uint32_t* cells)>;

template <class Locator>
FillCells filler_by(const Feature& feature, Locator locator) {
    return [&feature, locator = std::move(locator)](std::int64_t first, std::int64_t rows, std::uint32_t* cells) {
        double buffer[block_rows];
        const double* values = view(feature.column(), first, rows, buffer);
        locator(values, rows, cells);
        if (!feature.range) return refuse_unlike(feature, values, rows, cells);
        const double low = feature.accept_low[0], high = feature.accept_high[feature.cells - 1];
        refuse_beyond(low, high, feature.missing_cell(), feature.outside_cell(), values, rows, cells);
    };
}

inline FillCells filler_by(const Feature& feature, const EvenGrid& grid) {
    const PlainGrid plain(grid);
    return [&feature, grid, plain, is_plain = plain.is_plain(grid)](std::int64_t first, std::int64_t rows,
                                                                    std::uint32_t* cells) {
        double buffer[block_rows];
        const double* values = view(feature.column(), first, rows, buffer);
        if (!is_plain || !place_plain(plain, values, rows, cells)) place_even(grid, values, rows, cells);
        if (!feature.range) refuse_unlike(feature, values, rows, cells);
    };
}

// The quickest way that is exact for this column, not yet minding `missing`; `total` rows will be asked for.
inline FillCells present_filler(const Feature& feature, std::int64_t total) {
    if (feature.looked_up) {
        const Dtype dtype = static_cast<Dtype>(feature.dtype);
        if ((dtype == Dtype::u8 || dtype == Dtype::i8) && total >= block_rows) return ByteTable(feature);
        return [&feature](std::int64_t first, std::int64_t rows, std::uint32_t* cells) {
            look_up_any(feature, first, rows, cells);
        };
    }
    const std::int64_t last = feature.cells - 1;
    const EvenGrid even{feature.inner,          static_cast<std::int32_t>(feature.cells),
                        feature.origin,         feature.scale * EvenGrid::units,
                        feature.accept_low[0],  feature.accept_high[last],
                        feature.missing_cell(), feature.outside_cell()};
    if (feature.even && even.is_exact()) return filler_by(feature, even);
    FillCells fill;
    with_table(feature.inner, feature.cells - 1, total,
               [&](auto locator) { fill = filler_by(feature, std::move(locator)); });
    return fill;
}

// The feature must outlive the filler.
inline FillCells filler_of(const Feature& feature, std::int64_t total) {
    FillCells fill = present_filler(feature, total);
    if (feature.missing == nullptr) return fill;
    return [&feature, fill = std::move(fill)](std::int64_t first, std::int64_t rows, std::uint32_t* cells) {
        fill(first, rows, cells);
        for (std::int64_t i = 0; i < rows; ++i)
            cells[i] = feature.missing[first + i] ? feature.missing_cell() : cells[i];
    };
}

}  // namespace pedanova
