// Rows of one column -> cells of its grid, a block at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

#include "column.hpp"
#include "even.hpp"
#include "leading.hpp"
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

PEDANOVA_LOOP(void, split_values, (const double* both, std::int64_t entries, std::int64_t* counts, double* sums),
              (both, entries, counts, sums)) {
    for (std::int64_t i = 0; i < entries; ++i) {
        counts[i] = static_cast<std::int64_t>(both[2 * i]);
        sums[i] = both[2 * i + 1];
    }
}

inline void split(const Entry* table, std::int64_t entries, std::int64_t* counts, double* sums) {
    static_assert(sizeof(Entry) == 2 * sizeof(double), "a count and a sum");
    split_values(reinterpret_cast<const double*>(table), entries, counts, sums);
}

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
    Entry* table;                // (levels + 1, cells + 2) to be added to; null: what is counted goes to
    std::int64_t* counts;        // (levels, cells + 2) and
    double* sums;                // (levels, cells + 2)

    Column column() const { return Column{data, stride, static_cast<Dtype>(dtype)}; }
    std::int64_t width() const { return cells + 2; }
    std::uint32_t missing_cell() const { return static_cast<std::uint32_t>(cells); }
    std::uint32_t outside_cell() const { return static_cast<std::uint32_t>(cells + 1); }
    void empty(std::int64_t level) const { std::fill_n(table + level * width(), width(), Entry{}); }
    // Counts and sums of a level each in their own table, where there are such.
    void set_apart(std::int64_t level) const {
        if (counts != nullptr)
            split(table + level * width(), width(), counts + level * width(), sums + level * width());
    }
    EvenGrid even_grid() const {
        return EvenGrid{inner,         static_cast<std::int32_t>(cells), origin,         scale * EvenGrid::units,
                        accept_low[0], accept_high[cells - 1],           missing_cell(), outside_cell()};
    }
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

template <class Value, class Cell>
void refuse_unlike(const Feature& feature, const Value* values, std::int64_t rows, Cell* cells) {
    for (std::int64_t i = 0; i < rows; ++i) {
        const double value = static_cast<double>(values[i]);
        const std::uint32_t refused = value == value ? feature.outside_cell() : feature.missing_cell();
        const bool placed = cells[i] < feature.missing_cell();
        const bool accepted = placed && feature.accept_low[cells[i]] <= value && value <= feature.accept_high[cells[i]];
        cells[i] = accepted ? cells[i] : static_cast<Cell>(refused);
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
    template <class Cell>
    void operator()(std::int64_t first, std::int64_t rows, Cell* cells) const {
        const char* from = data_ + first * stride_;
        for (std::int64_t i = 0; i < rows; ++i)
            cells[i] = static_cast<Cell>(cells_[static_cast<std::uint8_t>(from[i * stride_])]);
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

// Names the cells of rows first, first + 1, ...; cells of 16 bits serve for grids that are no wider.
template <class Cell>
using Fill = std::function<void(std::int64_t first, std::int64_t rows, Cell* cells)>;
using FillBlock = Fill<std::uint32_t>;  // at most `block_rows` of them

template <class Locator>
FillBlock filler_by(const Feature& feature, Locator locator) {
    return [&feature, locator = std::move(locator)](std::int64_t first, std::int64_t rows, std::uint32_t* cells) {
        double buffer[block_rows];
        const double* values = view(feature.column(), first, rows, buffer);
        locator(values, rows, cells);
        if (!feature.range) return refuse_unlike(feature, values, rows, cells);
        const double low = feature.accept_low[0], high = feature.accept_high[feature.cells - 1];
        refuse_beyond(low, high, feature.missing_cell(), feature.outside_cell(), values, rows, cells);
    };
}

inline FillBlock filler_by(const Feature& feature, const EvenGrid& grid) {
    return [&feature, grid](std::int64_t first, std::int64_t rows, std::uint32_t* cells) {
        double buffer[block_rows];
        const double* values = view(feature.column(), first, rows, buffer);
        place_even(grid, values, rows, cells);
        if (!feature.range) refuse_unlike(feature, values, rows, cells);
    };
}

// A way that knows every row of this column, whatever it holds; `missing` is minded elsewhere.
inline FillBlock any_filler(const Feature& feature, std::int64_t total) {
    if (feature.looked_up)
        return [&feature](std::int64_t first, std::int64_t rows, std::uint32_t* cells) {
            look_up_any(feature, first, rows, cells);
        };
    const EvenGrid even = feature.even_grid();
    if (feature.even && even.is_exact()) return filler_by(feature, even);
    FillBlock fill;
    with_table(feature.inner, feature.cells - 1, total,
               [&](auto locator) { fill = filler_by(feature, std::move(locator)); });
    return fill;
}

template <class Cell>
Fill<Cell> in_blocks(FillBlock fill) {
    return [fill = std::move(fill)](std::int64_t first, std::int64_t rows, Cell* cells) {
        std::uint32_t found[block_rows];
        for (std::int64_t from = 0; from < rows; from += block_rows) {
            const std::int64_t here = std::min(block_rows, rows - from);
            fill(first + from, here, found);
            for (std::int64_t i = 0; i < here; ++i) cells[from + i] = static_cast<Cell>(found[i]);
        }
    };
}

// Runs of rows by a short way where it can tell all their cells, else by the long one.
template <class Cell, class Short>
Fill<Cell> in_runs(const Feature& feature, Short quickly, Fill<Cell> slowly) {
    const auto fill_run = [&feature, quickly = std::move(quickly), slowly = std::move(slowly)](
                              const auto* values, std::int64_t first, std::int64_t rows, Cell* cells) {
        std::uint16_t wide_enough[run_rows];
        std::uint16_t* found = wide_enough;
        if constexpr (sizeof(Cell) == sizeof *found) found = cells;
        if (!quickly(values, rows, found)) return slowly(first, rows, cells);
        for (std::int64_t i = 0; sizeof(Cell) != sizeof *found && i < rows; ++i) cells[i] = found[i];
        if (!feature.range) refuse_unlike(feature, values, rows, cells);
    };
    return [&feature, fill_run](std::int64_t first, std::int64_t rows, Cell* cells) {
        const Column column = feature.column();
        double buffer[run_rows];
        for (std::int64_t from = first; from < first + rows; from += run_rows, cells += run_rows) {
            const std::int64_t here = std::min(run_rows, first + rows - from);
            const float* const single = as_array<float>(column, Dtype::f32, from);
            if (single != nullptr) fill_run(single, from, here, cells);
            else fill_run(view(column, from, here, buffer), from, here, cells);
        }
    };
}

// The quickest way that is exact for this column, not yet minding `missing`; `total` rows will be asked for.
template <class Cell>
Fill<Cell> present_filler(const Feature& feature, std::int64_t total) {
    const Dtype dtype = static_cast<Dtype>(feature.dtype);
    if (feature.looked_up && (dtype == Dtype::u8 || dtype == Dtype::i8) && total >= block_rows)
        return ByteTable(feature);
    Fill<Cell> slowly = in_blocks<Cell>(any_filler(feature, total));
    if (feature.looked_up || total < run_rows) return slowly;
    const EvenGrid even = feature.even_grid();
    if (feature.even && even.is_exact()) {
        const PlainGrid plain(even);
        if (!plain.is_plain(even)) return slowly;
        const auto quickly = [plain](const auto* values, std::int64_t rows, std::uint16_t* cells) {
            return place_plain(plain, values, rows, cells);
        };
        return in_runs(feature, quickly, std::move(slowly));
    }
    LeadingGrid leading(feature.inner, feature.cells - 1, even.low, even.high, total);
    if (!leading.is_usable()) return slowly;
    return in_runs(feature, std::move(leading), std::move(slowly));
}

// The feature must outlive the filler.
template <class Cell>
Fill<Cell> filler_of(const Feature& feature, std::int64_t total) {
    Fill<Cell> fill = present_filler<Cell>(feature, total);
    if (feature.missing == nullptr) return fill;
    return [&feature, fill = std::move(fill)](std::int64_t first, std::int64_t rows, Cell* cells) {
        fill(first, rows, cells);
        const Cell missing = static_cast<Cell>(feature.missing_cell());
        for (std::int64_t i = 0; i < rows; ++i) cells[i] = feature.missing[first + i] ? missing : cells[i];
    };
}

}  // namespace pedanova
