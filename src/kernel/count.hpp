// [level x cell] -> counts and sums of the objective, for a few columns at a time.
//
// A table that fits in the second-level cache is counted into row by row. A larger one would miss the cache at almost
// every row: there rows wait in a bucket of their level, and when it is full, the level's own part of the tables, small
// again, is filled in one go. Rows of one level keep their order, so the sums have the same bytes either way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "cells.hpp"
#include "column.hpp"
#include "loops.hpp"

namespace pedanova {

constexpr int most_features = 4;                    // columns counted together: their cells share 8 bytes
constexpr std::int64_t waiting_rows = 1 << 20;      // in all buckets together: 16 MB
constexpr std::int64_t full_rows = 1 << 13;         // of a bucket at the most,
constexpr std::int64_t odd_rows = 12;               // and a few more, so that buckets do not meet in the same lines of the cache
constexpr std::int64_t most_bucket_levels = 512;    // with more, too few rows wait for each
constexpr std::int64_t many_bytes = 5 << 17;        // 640 kB: a table that the second-level cache does not hold for sure
constexpr std::int64_t shared_rows = 8 * block_rows;  // rows whose levels and objective stay in the cache between columns

struct Rows {
    std::int64_t count;
    std::int64_t levels;  // codes run from 0 to this; rows coded so do not count
    Column objective;
};

inline std::int64_t table_bytes(const Feature& feature, std::int64_t levels) {
    return levels * feature.width() * static_cast<std::int64_t>(sizeof(Entry));
}

// A small table several times over: rows take them in turn, so that neighbours in the same cell, as tables in some order
// have them, do not wait for each other's sums.
class Lanes {
public:
    static constexpr std::int64_t count = 4;
    static constexpr std::int64_t most_bytes = 1 << 15;  // of all together

    Lanes(const Feature& feature, std::int64_t levels)
        : table_(feature.table), size_((levels + 1) * feature.width()) {
        if (table_bytes(feature, levels + 1) * count > most_bytes) return;
        copies_.reset(std::calloc(static_cast<std::size_t>(count * size_), sizeof(Entry)));
        if (!copies_) throw std::bad_alloc();
    }

    Entry* table() { return copies_ ? static_cast<Entry*>(copies_.get()) : table_; }
    std::uint32_t stride() const { return copies_ ? static_cast<std::uint32_t>(size_) : 0; }
    void add_up() {
        for (std::int64_t i = 0; copies_ && i < count * size_; ++i) table_[i % size_] += table()[i];
    }

private:
    Entry* table_;
    std::int64_t size_;
    std::unique_ptr<void, void (*)(void*)> copies_{nullptr, std::free};
};

template <class Level>
void add_rows(const Level* levels, std::uint32_t* cells, const double* objective, std::int64_t rows, std::uint32_t width, Lanes& lanes) {
    const std::uint32_t stride = lanes.stride();
    Entry* const table = lanes.table();
    for (std::int64_t i = 0; i < rows; ++i)
        cells[i] += static_cast<std::uint32_t>(levels[i]) * width + static_cast<std::uint32_t>(i % Lanes::count) * stride;
    for (std::int64_t i = 0; i < rows; ++i) table[cells[i]] += Entry{1.0, objective[i]};
}

template <class Level>
void count_directly(const Feature& feature, const FillCells& fill, const Level* levels, const Column& objective, std::int64_t begin,
                    std::int64_t end, Lanes& lanes) {
    std::uint32_t cells[block_rows];
    double buffer[block_rows];
    for (std::int64_t first = begin; first < end; first += block_rows) {
        const std::int64_t here = std::min(block_rows, end - first);
        fill(first, here, cells);
        const double* values = view(objective, first, here, buffer);
        add_rows(levels + first, cells, values, here, static_cast<std::uint32_t>(feature.width()), lanes);
    }
}

// A row on its way to its level: the cells of all columns and the objective.
struct Record {
    std::uint64_t cells;  // 16 bits each
    double objective;
};

using BlockCells = std::uint32_t[most_features][block_rows];

PEDANOVA_LOOP void pack_cells(const BlockCells& cells, std::int64_t rows, std::uint64_t* out) {
    static_assert(most_features == 4, "four cells of 16 bits in 64");
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::uint32_t first = cells[0][i] | cells[1][i] << 16, second = cells[2][i] | cells[3][i] << 16;
        out[i] = first | static_cast<std::uint64_t>(second) << 32;
    }
}

template <int Features>
void add_level(const Feature* features, std::int64_t level, const Record* from, const Record* to) {
    Entry* tables[Features];
    for (int f = 0; f < Features; ++f) tables[f] = features[f].table + level * features[f].width();
    for (; from != to; ++from) {
        const Entry row{1.0, from->objective};
        for (int f = 0; f < Features; ++f) tables[f][(from->cells >> (16 * f)) & UINT16_MAX] += row;
    }
}

template <int Features, class Level>
void count_in_buckets(const Feature* features, const std::vector<FillCells>& fills, const Level* levels, const Rows& rows) {
    const std::int64_t capacity = std::min(full_rows, waiting_rows / (rows.levels + 1)) + odd_rows;
    const std::unique_ptr<Record[]> space(new Record[capacity * (rows.levels + 1)]);
    std::vector<std::uint32_t> numbers(rows.levels + 1, 0);
    Record* const records = space.get();
    std::uint32_t* const waiting = numbers.data();
    const auto empty = [&](std::int64_t level) {
        const Record* const bucket = &records[level * capacity];
        if (level < rows.levels) add_level<Features>(features, level, bucket, bucket + waiting[level]);
        waiting[level] = 0;
    };
    BlockCells cells = {};
    std::uint64_t packed[block_rows];
    double buffer[block_rows];
    for (std::int64_t first = 0; first < rows.count; first += block_rows) {
        const std::int64_t here = std::min(block_rows, rows.count - first);
        for (int f = 0; f < Features; ++f) fills[f](first, here, cells[f]);
        pack_cells(cells, here, packed);
        const double* values = view(rows.objective, first, here, buffer);
        for (std::int64_t i = 0; i < here; ++i) {
            const std::int64_t level = levels[first + i];
            const std::uint32_t place = waiting[level]++;
            records[level * capacity + place] = Record{packed[i], values[i]};
            if (place + 1 == capacity) empty(level);
        }
    }
    for (std::int64_t level = 0; level <= rows.levels; ++level) empty(level);
}

inline bool is_worth_waiting(const Feature* features, int count, const Rows& rows) {
    bool large = true;
    for (int f = 0; f < count; ++f)
        large = large && table_bytes(features[f], rows.levels) > many_bytes && features[f].width() <= UINT16_MAX;
    return large && count > 1 && rows.count >= waiting_rows / 8 && rows.levels <= most_bucket_levels;
}

template <class Level>
void count_features(const Feature* features, int count, const Level* levels, const Rows& rows) {
    std::vector<FillCells> fills;
    std::int64_t bytes = 0;
    for (int f = 0; f < count; ++f) {
        fills.push_back(filler_of(features[f], rows.count));
        bytes += table_bytes(features[f], rows.levels);
    }
    if (is_worth_waiting(features, count, rows)) {
        if (count == 2) return count_in_buckets<2>(features, fills, levels, rows);
        if (count == 3) return count_in_buckets<3>(features, fills, levels, rows);
        return count_in_buckets<4>(features, fills, levels, rows);
    }
    std::vector<Lanes> lanes;
    for (int f = 0; f < count; ++f) lanes.emplace_back(features[f], rows.levels);
    const std::int64_t step = bytes <= many_bytes ? shared_rows : rows.count;  // large tables do not share the cache
    for (std::int64_t first = 0; first < rows.count; first += step)
        for (int f = 0; f < count; ++f)
            count_directly(features[f], fills[f], levels, rows.objective, first, std::min(first + step, rows.count), lanes[f]);
    for (Lanes& one : lanes) one.add_up();
}

}  // namespace pedanova
