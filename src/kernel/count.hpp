// [level x cell] -> counts and sums of the objective, for a few columns at a time.
//
// Counted row by row, a table of many levels would miss the cache at almost every row, and one of few cells would make
// each row wait for the sum of the one before. So rows wait in a bucket of their level; when it is full, the level's
// own part of all tables, small again, is filled in one go. Rows of one level keep their order, so the sums have the
// same bytes either way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "cells.hpp"
#include "column.hpp"
#include "loops.hpp"

namespace pedanova {

constexpr int most_features = 4;                // columns counted together: their cells share 8 bytes
constexpr std::int64_t waiting_rows = 1 << 21;  // in all buckets together: 32 MB
constexpr std::int64_t full_rows = 1 << 14;     // of a bucket at the most,
constexpr std::int64_t odd_rows = 12;  // and a few more, so that buckets do not meet in the same lines of the cache
constexpr std::int64_t stretch_rows = 4096;   // of one column at a time: long enough for the processor to read ahead
constexpr std::int64_t worth_rows = 1 << 17;  // fewer are counted one by one
constexpr std::int64_t most_bucket_levels = 512;  // with more, too few rows wait for each
constexpr std::int64_t rows_ahead = 8;            // two lines of the cache
constexpr std::int64_t line_bytes = 64;           // of the cache
constexpr std::int64_t rows_a_line = 64;          // so many are added for each line sent for
constexpr std::int64_t few_left_out = 8;  // where fewer than one row in so many does not count, all may as well wait

struct Rows {
    std::int64_t count;
    std::int64_t levels;  // codes run from 0 to this; rows coded so do not count
    Column objective;
};

template <class Level>
void count_directly(const Feature& feature, const Level* levels, const Rows& rows) {
    const auto fill = filler_of<std::uint32_t>(feature, rows.count);
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
    std::uint64_t cells;      // 16 bits each, in the order of memory
    std::uint64_t objective;  // a double, as it lies: both are written in one go
};

// Rows on their way to records.
struct Stretch {
    std::uint16_t cells[most_features][stretch_rows];
    std::uint64_t packed[stretch_rows];
    double buffer[stretch_rows];
    std::uint32_t places[stretch_rows];
};

PEDANOVA_LOOP(void, pack_cells, (const std::uint16_t (*cells)[stretch_rows], std::int64_t rows, std::uint64_t* packed),
              (cells, rows, packed)) {
    static_assert(most_features == 4, "four cells of 16 bits in 64");
    std::uint16_t* const out = reinterpret_cast<std::uint16_t*>(packed);
    for (std::int64_t i = 0; i < rows; ++i)
        for (int f = 0; f < most_features; ++f) out[most_features * i + f] = cells[f][i];
}

inline std::uint64_t cell_in(std::uint64_t packed, int feature) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    feature = most_features - 1 - feature;
#endif
    return (packed >> (16 * feature)) & UINT16_MAX;
}

// Stands apart, so that the places of the tables stay in registers.
template <int Features>
PEDANOVA_APART void add_records(Entry* one, Entry* two, Entry* three, Entry* four, const Record* from,
                                const Record* to) {
    for (; from != to; ++from) {
        double value;
        std::memcpy(&value, &from->objective, sizeof value);
        const Entry row{1.0, value};
        const std::uint64_t cells = from->cells;
        one[cell_in(cells, 0)] += row;
        if (Features > 1) two[cell_in(cells, 1)] += row;
        if (Features > 2) three[cell_in(cells, 2)] += row;
        if (Features > 3) four[cell_in(cells, 3)] += row;
    }
}

// On the way, the parts of the tables that the `next` level needs are sent for, line by line.
template <int Features>
void add_level(const Feature* features, std::int64_t level, std::int64_t next, const Record* from, const Record* to) {
    Entry* tables[most_features] = {};
    const char* ahead[most_features] = {};
    std::int64_t bytes = 0;
    for (int f = 0; f < Features; ++f) {
        const std::int64_t width = features[f].width();
        tables[f] = features[f].table + level * width;
        ahead[f] = reinterpret_cast<const char*>(features[f].table + next * width);
        bytes = std::max(bytes, width * static_cast<std::int64_t>(sizeof(Entry)));
    }
    const auto add = [&](const Record* end) {
        add_records<Features>(tables[0], tables[1], tables[2], tables[3], from, end);
        from = end;
    };
    for (std::int64_t line = 0; line < bytes && to - from > rows_a_line; line += line_bytes) {
        for (int f = 0; f < Features; ++f) expect_to_write_later(ahead[f] + line);
        add(from + rows_a_line);
    }
    add(to);
}

// `ends` of the buckets move on; there is room for all rows in each. All rows, or only `Some`: those at these places.
template <bool Some, class Level>
PEDANOVA_APART void put_into_buckets(const Level* levels, const std::uint64_t* cells, const double* objective,
                                     const std::uint32_t* places, std::int64_t rows, Record** ends) {
    for (std::int64_t k = 0; k < rows; ++k) {
        const std::int64_t i = Some ? static_cast<std::int64_t>(places[k]) : k;
        Record* const record = ends[levels[i]]++;
        std::uint64_t value;
        std::memcpy(&value, objective + i, sizeof value);
        *record = Record{cells[i], value};
        expect_to_write(record + rows_ahead);
    }
}

// How many rows of a stretch do not count: so many at a time that a byte holds their number.
PEDANOVA_LOOP(std::int64_t, left_out, (const std::uint8_t* levels, std::int64_t rows, std::int64_t none),
              (levels, rows, none)) {
    const std::uint8_t wanted = static_cast<std::uint8_t>(none);
    std::int64_t found = 0;
    for (std::int64_t first = 0; first < rows; first += 128) {
        const std::int64_t here = std::min(std::int64_t{128}, rows - first);
        std::uint8_t some = 0;
        for (std::int64_t i = 0; i < here; ++i) some = static_cast<std::uint8_t>(some + (levels[first + i] == wanted));
        found += some;
    }
    return found;
}

PEDANOVA_LOOP(std::int64_t, left_out, (const std::uint16_t* levels, std::int64_t rows, std::int64_t none),
              (levels, rows, none)) {
    static_assert(stretch_rows < UINT16_MAX, "the rows of a stretch fit 16 bits");
    const std::uint16_t wanted = static_cast<std::uint16_t>(none);
    std::uint16_t found = 0;
    for (std::int64_t i = 0; i < rows; ++i) found = static_cast<std::uint16_t>(found + (levels[i] == wanted));
    return found;
}

// The places of the others, in order; returns how many there are.
template <class Level>
std::int64_t gather_counted(const Level* levels, std::int64_t rows, std::int64_t none, std::uint32_t* places) {
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        places[found] = static_cast<std::uint32_t>(i);
        found += static_cast<std::int64_t>(levels[i]) != none;
    }
    return found;
}

template <int Features, class Level>
void count_in_buckets(const Feature* features, const std::vector<Fill<std::uint16_t>>& fills, const Level* levels,
                      const Rows& rows) {
    const std::int64_t full = std::min(full_rows, waiting_rows / (rows.levels + 1));
    const std::int64_t capacity = full + stretch_rows + odd_rows;
    const std::unique_ptr<Record[]> room(new Record[capacity * (rows.levels + 1) + rows_ahead]);
    const std::unique_ptr<Stretch> stretch(new Stretch());
    std::vector<Record*> ends(rows.levels + 1);
    for (std::int64_t level = 0; level <= rows.levels; ++level) ends[level] = &room[level * capacity];
    const auto empty_beyond = [&](std::int64_t most) {
        const auto next_beyond = [&](std::int64_t level) {
            while (level < rows.levels && ends[level] - &room[level * capacity] <= most) ++level;
            return level;
        };
        for (std::int64_t level = next_beyond(0), next; level < rows.levels; level = next) {
            next = next_beyond(level + 1);
            Record* const bucket = &room[level * capacity];
            add_level<Features>(features, level, next, bucket, ends[level]);
            ends[level] = bucket;
        }
        ends[rows.levels] = &room[rows.levels * capacity];  // rows that do not count
    };
    for (std::int64_t first = 0; first < rows.count; first += stretch_rows) {
        const std::int64_t here = std::min(stretch_rows, rows.count - first);
        const std::int64_t out = left_out(levels + first, here, rows.levels);
        if (out == here) continue;
        for (int f = 0; f < Features; ++f) fills[f](first, here, stretch->cells[f]);
        pack_cells(stretch->cells, here, stretch->packed);
        const double* objective = view(rows.objective, first, here, stretch->buffer);
        if (out * few_left_out < here) {
            put_into_buckets<false>(levels + first, stretch->packed, objective, nullptr, here, ends.data());
        } else {
            const std::int64_t counted = gather_counted(levels + first, here, rows.levels, stretch->places);
            put_into_buckets<true>(levels + first, stretch->packed, objective, stretch->places, counted, ends.data());
        }
        empty_beyond(full);
    }
    empty_beyond(0);
}

inline bool is_worth_waiting(const Feature* features, int count, const Rows& rows) {
    const bool narrow =
        std::all_of(features, features + count, [](const Feature& f) { return f.width() <= UINT16_MAX; });
    return narrow && rows.count >= worth_rows && rows.levels <= most_bucket_levels;
}

template <class Level>
void count_features(const Feature* features, int count, const Level* levels, const Rows& rows) {
    if (!is_worth_waiting(features, count, rows)) {
        for (int f = 0; f < count; ++f) count_directly(features[f], levels, rows);
        return;
    }
    std::vector<Fill<std::uint16_t>> fills;
    for (int f = 0; f < count; ++f) fills.push_back(filler_of<std::uint16_t>(features[f], rows.count));
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
