// [level x cell] -> counts and sums of the objective, for a few columns at a time.
//
// A table that fits in the second-level cache is counted into row by row. A larger one would miss the cache at almost
// every row: there a long block of rows is first put in order of level, and each level's own part of the tables, small
// again, is filled in one go. Rows of one level keep their order, so the sums have the same bytes either way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "cells.hpp"
#include "column.hpp"

namespace pedanova {

constexpr int most_features = 4;                    // columns counted together: their cells share 8 bytes
constexpr std::int64_t long_rows = 1 << 20;         // rows put in order of level at a time: 16 MB of them, or half of it
constexpr std::int64_t most_sorted_levels = 512;    // with more, too few rows of a block share a level
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

template <class Level>
void add_rows(const Level* levels, std::uint32_t* cells, const double* objective, std::int64_t rows, std::uint32_t width, Entry* table) {
    for (std::int64_t i = 0; i < rows; ++i) cells[i] += static_cast<std::uint32_t>(levels[i]) * width;
    for (std::int64_t i = 0; i < rows; ++i) table[cells[i]] += Entry{1.0, objective[i]};
}

template <class Level>
void count_directly(const Feature& feature, const FillCells& fill, const Level* levels, const Column& objective, std::int64_t begin, std::int64_t end) {
    std::uint32_t cells[block_rows];
    double buffer[block_rows];
    for (std::int64_t first = begin; first < end; first += block_rows) {
        const std::int64_t here = std::min(block_rows, end - first);
        fill(first, here, cells);
        const double* values = view(objective, first, here, buffer);
        add_rows(levels + first, cells, values, here, static_cast<std::uint32_t>(feature.width()), feature.table);
    }
}

// A row on its way to its level: the cells of all columns and the objective.
struct Record {
    std::uint64_t cells;  // 16 bits each
    double objective;
};

// starts[k] = rows of levels before k; there are levels + 2 of them.
template <class Level>
std::vector<std::uint32_t> level_starts(const Level* levels, std::int64_t rows, std::int64_t count) {
    constexpr std::int64_t lanes = 4;  // neighbours of one level do not wait for each other
    std::vector<std::uint32_t> counts(lanes * (count + 1), 0);
    for (std::int64_t i = 0; i < rows; ++i) ++counts[levels[i] * lanes + i % lanes];
    std::vector<std::uint32_t> starts(count + 2, 0);
    for (std::int64_t k = 0; k <= count; ++k) {
        starts[k + 1] = starts[k];
        for (std::int64_t lane = 0; lane < lanes; ++lane) starts[k + 1] += counts[k * lanes + lane];
    }
    return starts;
}

template <int Features, class Level>
void sort_by_level(const std::vector<FillCells>& fills, const Level* levels, const Column& objective, std::int64_t begin,
                   std::int64_t end, std::vector<std::uint32_t> next, Record* records) {
    std::uint32_t cells[Features][block_rows];
    double buffer[block_rows];
    std::uint32_t* const place = next.data();
    for (std::int64_t first = begin; first < end; first += block_rows) {
        const std::int64_t here = std::min(block_rows, end - first);
        for (int f = 0; f < Features; ++f) fills[f](first, here, cells[f]);
        const double* values = view(objective, first, here, buffer);
        for (std::int64_t i = 0; i < here; ++i) {
            std::uint64_t together = 0;
            for (int f = 0; f < Features; ++f) together |= static_cast<std::uint64_t>(cells[f][i]) << (16 * f);
            records[place[levels[first + i]]++] = Record{together, values[i]};
        }
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
void count_sorted(const Feature* features, const std::vector<FillCells>& fills, const Level* levels, const Rows& rows) {
    const std::int64_t length = rows.count < 16 * long_rows ? long_rows / 2 : long_rows;
    const std::unique_ptr<Record[]> records(new Record[std::min(rows.count, length)]);
    for (std::int64_t first = 0; first < rows.count; first += length) {
        const std::int64_t end = std::min(first + length, rows.count);
        const std::vector<std::uint32_t> starts = level_starts(levels + first, end - first, rows.levels);
        sort_by_level<Features>(fills, levels, rows.objective, first, end, starts, records.get());
        for (std::int64_t k = 0; k < rows.levels; ++k) add_level<Features>(features, k, &records[starts[k]], &records[starts[k + 1]]);
    }
}

inline bool is_worth_sorting(const Feature* features, int count, const Rows& rows) {
    bool large = true;
    for (int f = 0; f < count; ++f)
        large = large && table_bytes(features[f], rows.levels) > many_bytes && features[f].width() <= UINT16_MAX;
    return large && count > 1 && rows.count >= long_rows / 8 && rows.levels <= most_sorted_levels;
}

template <class Level>
void count_features(const Feature* features, int count, const Level* levels, const Rows& rows) {
    std::vector<FillCells> fills;
    std::int64_t bytes = 0;
    for (int f = 0; f < count; ++f) {
        fills.push_back(filler_of(features[f], rows.count));
        bytes += table_bytes(features[f], rows.levels);
    }
    if (is_worth_sorting(features, count, rows)) {
        if (count == 2) return count_sorted<2>(features, fills, levels, rows);
        if (count == 3) return count_sorted<3>(features, fills, levels, rows);
        return count_sorted<4>(features, fills, levels, rows);
    }
    const std::int64_t step = bytes <= many_bytes ? shared_rows : rows.count;  // large tables do not share the cache
    for (std::int64_t first = 0; first < rows.count; first += step)
        for (int f = 0; f < count; ++f)
            count_directly(features[f], fills[f], levels, rows.objective, first, std::min(first + step, rows.count));
}

}  // namespace pedanova
