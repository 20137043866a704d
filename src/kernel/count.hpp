// [level x cell] -> counts and sums of the objective, for a few columns at a time.
//
// Counted row by row, a table of many levels would miss the cache at almost every row, and one of few cells would make
// each row wait for the sum of the one before. So rows wait in a bucket of their level; when it is full, the level's
// own part of all tables, small again, is filled in one go. Rows of one level keep their order, so the sums have the
// same bytes either way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "cells.hpp"
#include "column.hpp"
#include "loops.hpp"

namespace pedanova {

constexpr int most_features = 4;                // columns counted together: their cells share 8 bytes
constexpr std::int64_t waiting_rows = 1 << 20;  // in all buckets together: 16 MB
constexpr std::int64_t full_rows = 1 << 13;     // of a bucket at the most,
constexpr std::int64_t odd_rows = 12;  // and a few more, so that buckets do not meet in the same lines of the cache
constexpr std::int64_t most_bucket_levels = 512;  // with more, too few rows wait for each
constexpr std::int64_t rows_ahead = 8;            // two lines of the cache

struct Rows {
    std::int64_t count;
    std::int64_t levels;  // codes run from 0 to this; rows coded so do not count
    Column objective;
};

template <class Level>
void count_directly(const Feature& feature, const FillCells& fill, const Level* levels, const Rows& rows) {
    const std::uint32_t width = static_cast<std::uint32_t>(feature.width());
    std::uint32_t cells[block_rows];
    double buffer[block_rows];
    for (std::int64_t first = 0; first < rows.count; first += block_rows) {
        const std::int64_t here = std::min(block_rows, rows.count - first);
        fill(first, here, cells);
        const double* values = view(rows.objective, first, here, buffer);
        for (std::int64_t i = 0; i < here; ++i) cells[i] += static_cast<std::uint32_t>(levels[first + i]) * width;
        for (std::int64_t i = 0; i < here; ++i) feature.table[cells[i]] += Entry{1.0, values[i]};
    }
}

// A row on its way to its level: the cells of all columns and the objective.
struct Record {
    std::uint64_t cells;  // 16 bits each
    double objective;
};

using BlockCells = std::uint32_t[most_features][block_rows];

PEDANOVA_LOOP(void, pack_cells, (const BlockCells& cells, std::int64_t rows, std::uint64_t* out), (cells, rows, out)) {
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
void count_in_buckets(const Feature* features, const std::vector<FillCells>& fills, const Level* levels,
                      const Rows& rows) {
    const std::int64_t capacity = std::min(full_rows, waiting_rows / (rows.levels + 1)) + odd_rows;
    const std::unique_ptr<Record[]> space(new Record[capacity * (rows.levels + 1) + rows_ahead]);
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
            Record* const record = &records[level * capacity + place];
            *record = Record{packed[i], values[i]};
            expect_to_write(record + rows_ahead);
            if (place + 1 == capacity) empty(level);
        }
    }
    for (std::int64_t level = 0; level <= rows.levels; ++level) empty(level);
}

inline bool is_worth_waiting(const Feature* features, int count, const Rows& rows) {
    const bool narrow =
        std::all_of(features, features + count, [](const Feature& f) { return f.width() <= UINT16_MAX; });
    return narrow && rows.count >= waiting_rows / 8 && rows.levels <= most_bucket_levels;
}

template <class Level>
void count_features(const Feature* features, int count, const Level* levels, const Rows& rows) {
    std::vector<FillCells> fills;
    for (int f = 0; f < count; ++f) fills.push_back(filler_of(features[f], rows.count));
    if (!is_worth_waiting(features, count, rows)) {
        for (int f = 0; f < count; ++f) count_directly(features[f], fills[f], levels, rows);
        return;
    }
    switch (count) {
        case 1:
            return count_in_buckets<1>(features, fills, levels, rows);
        case 2:
            return count_in_buckets<2>(features, fills, levels, rows);
        case 3:
            return count_in_buckets<3>(features, fills, levels, rows);
        default:
            return count_in_buckets<4>(features, fills, levels, rows);
    }
}

}  // namespace pedanova
