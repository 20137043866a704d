// [level x cell] -> counts and sums of the objective, for a few columns at a time.
//
// Counted row by row, a table of many levels would miss the cache at almost every row, and one of few cells would make
// each row wait for the sum of the one before. So rows are laid out by level first, a round of them at a time; then the
// part of all tables that belongs to a level, small again, is filled in one go. Threads share both steps: pieces of the
// rows, then levels. Rows of one level keep their order, so the sums have the same bytes on any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "cells.hpp"
#include "column.hpp"
#include "loops.hpp"
#include "sample.hpp"
#include "threads.hpp"

namespace pedanova {

constexpr int most_features = 4;                // columns counted together: their cells share 8 bytes
constexpr std::int64_t round_rows = 1 << 21;    // laid out at a time at the most: 32 MB
constexpr std::int64_t level_rows = 1 << 14;    // so many of each level, where levels are few
constexpr std::int64_t pieces_a_thread = 2;     // of a round: whoever is done first takes over
constexpr std::int64_t stretch_rows = 4096;     // of one column at a time: the processor reads ahead
constexpr std::int64_t worth_rows = 1 << 17;    // fewer are counted one by one
constexpr std::int64_t most_level_parts = 512;  // with more levels, too few rows of each come together
constexpr std::int64_t rows_ahead = 8;          // two lines of the cache
constexpr std::int64_t line_bytes = 64;         // of the cache
constexpr std::int64_t lines_ahead = 8;         // of the next records
constexpr std::int64_t rows_a_line = 64;        // so many are added for each line sent for
constexpr std::int64_t few_left_out = 8;        // where fewer than one row in so many does not count, all are laid out
constexpr std::int64_t groups_a_thread = 4;     // of columns: then each thread takes whole ones

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

// `ends` of the levels move on. All rows, or only `Some`: those at these places.
template <bool Some, class Level>
PEDANOVA_APART void lay_out(const Level* levels, const std::uint64_t* cells, const double* objective,
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

// The tables of one level for columns that are counted together.
struct LevelTables {
    Entry* entries[most_features] = {};
    std::int64_t bytes = 0;  // of the longest

    LevelTables(const Feature* features, int count, std::int64_t level) {
        for (int f = 0; f < count; ++f) {
            entries[f] = features[f].table + level * features[f].width();
            bytes = std::max(bytes, features[f].width() * static_cast<std::int64_t>(sizeof(Entry)));
        }
    }
};

// Adds records to the tables of a level; on the way, those of the `next` one are sent for, line by line.
template <int Features>
class LevelAdder {
  public:
    LevelAdder(const LevelTables& own, const LevelTables& next) : own_(own), next_(next) {}

    void operator()(const Record* from, const Record* to) {
        for (; line_ < next_.bytes && to - from > rows_a_line; line_ += line_bytes, from += rows_a_line) {
            for (int f = 0; f < Features; ++f)
                expect_to_write_later(reinterpret_cast<const char*>(next_.entries[f]) + line_);
            add(from, from + rows_a_line);
        }
        add(from, to);
    }

  private:
    void add(const Record* from, const Record* to) {
        add_records<Features>(own_.entries[0], own_.entries[1], own_.entries[2], own_.entries[3], from, to);
    }

    LevelTables own_, next_;
    std::int64_t line_ = 0;
};

// Memory of one thread, or of all together, that serves group after group: new pages are dear.
class Scratch {
  public:
    Record* records(std::int64_t count) { return reinterpret_cast<Record*>(room(0, count * sizeof(Record))); }
    Entry* table(int feature, std::int64_t entries) {
        return reinterpret_cast<Entry*>(room(1 + feature, entries * sizeof(Entry)));
    }

  private:
    double* room(int which, std::int64_t bytes) {
        const std::int64_t size = bytes / static_cast<std::int64_t>(sizeof(double));
        if (sizes_[which] < size) rooms_[which].reset(new double[size]), sizes_[which] = size;
        return rooms_[which].get();
    }

    std::unique_ptr<double[]> rooms_[1 + most_features];
    std::int64_t sizes_[1 + most_features] = {};
};

// begins: (levels + 2,) where the rows of each level begin, if they stand in the order of their levels.
template <class Level>
void find_begins(const Level* levels, std::int64_t rows, std::int64_t level_count, std::int64_t* begins) {
    constexpr int lanes = 4;  // neighbours of one level need not wait for each other
    constexpr int together = 8 / static_cast<int>(sizeof(Level));  // in one load
    constexpr std::uint64_t mask = std::numeric_limits<Level>::max();
    const std::int64_t size = level_count + 1;
    std::vector<std::uint32_t> counts(lanes * size, 0);
    std::uint32_t* const lane = counts.data();
    std::int64_t i = 0;
    for (; i + together <= rows; i += together) {
        std::uint64_t word;
        std::memcpy(&word, levels + i, sizeof word);
        for (int k = 0; k < together; ++k) ++lane[k % lanes * size + (word >> (8 * sizeof(Level) * k) & mask)];
    }
    for (; i < rows; ++i) ++lane[levels[i]];
    std::int64_t before = 0;
    for (std::int64_t level = 0; level <= level_count; ++level) {
        begins[level] = before;
        for (int k = 0; k < lanes; ++k) before += lane[k * size + level];
    }
    begins[level_count + 1] = before;
}

// How rows are laid out: in rounds, by piece, and in each piece by level; the same for all columns.
class Layout {
  public:
    template <class Level>
    Layout(Crew& crew, const Level* levels, const Rows& rows, std::int64_t pieces)
        : rows_(rows.count),
          levels_(rows.levels),
          round_(std::min({rows.count, round_rows, level_rows * (rows.levels + 1)})),
          piece_((round_ + pieces - 1) / pieces),
          pieces_((round_ + piece_ - 1) / piece_),
          begins_(rounds() * pieces_ * (levels_ + 2)) {
        crew.run(rounds() * pieces_, [&](std::int64_t number, std::int32_t) {
            const std::int64_t from = first(number / pieces_, number % pieces_);
            find_begins(levels + from, size(number / pieces_, number % pieces_), levels_,
                        begins_.data() + number * (levels_ + 2));
        });
    }

    std::int64_t rounds() const { return (rows_ + round_ - 1) / round_; }
    std::int64_t pieces() const { return pieces_; }
    std::int64_t most() const { return round_; }

    // The first row of a piece, how many it has, and where its records stand among those of the round.
    std::int64_t first(std::int64_t round, std::int64_t piece) const { return round * round_ + piece * piece_; }
    std::int64_t size(std::int64_t round, std::int64_t piece) const {
        const std::int64_t end = std::min({rows_, (round + 1) * round_, first(round, piece + 1)});
        return std::max<std::int64_t>(0, end - first(round, piece));
    }
    std::int64_t place(std::int64_t piece) const { return piece * piece_; }

    // (levels + 2,) Where each level of a piece begins among its records; the last one is their end.
    const std::int64_t* begins(std::int64_t round, std::int64_t piece) const {
        return &begins_[(round * pieces_ + piece) * (levels_ + 2)];
    }

  private:
    std::int64_t rows_, levels_, round_, piece_, pieces_;
    std::vector<std::int64_t> begins_;
};

// A few columns whose rows are laid out by level and then counted.
template <int Features, class Level>
class LevelCounter {
  public:
    LevelCounter(const Feature* features, const Level* levels, const Rows& rows, const Layout& layout,
                 LowestRows* sample)
        : features_(features), levels_(levels), rows_(rows), layout_(layout), sample_(sample) {
        for (int f = 0; f < Features; ++f) fills_.push_back(filler_of<std::uint16_t>(features[f], rows.count));
    }

    // `empty`: nothing is in the tables yet, not even zeros. They are set apart when all is counted, where wanted.
    void count(Crew& crew, Scratch& scratch, bool empty) {
        Record* const records = scratch.records(layout_.most() + rows_ahead);
        std::vector<std::unique_ptr<Stretch>> stretches(crew.size());
        for (auto& stretch : stretches) stretch.reset(new Stretch());
        for (std::int64_t round = 0; round < layout_.rounds(); ++round) {
            crew.run(layout_.pieces(), [&](std::int64_t piece, std::int32_t thread) {
                lay_out_piece(round, piece, records + layout_.place(piece), *stretches[thread], thread);
            });
            std::atomic<std::int64_t> next{0};
            crew.run(crew.size(),
                     [&](std::int64_t, std::int32_t) { add_levels(next, round, records, empty && round == 0); });
        }
    }

  private:
    void lay_out_piece(std::int64_t round, std::int64_t piece, Record* records, Stretch& stretch, std::int32_t thread) {
        const std::int64_t first = layout_.first(round, piece), rows = layout_.size(round, piece);
        const std::int64_t* const begins = layout_.begins(round, piece);
        std::vector<Record*> ends(rows_.levels + 1);
        for (std::int64_t level = 0; level <= rows_.levels; ++level) ends[level] = records + begins[level];
        const bool every = begins[rows_.levels] == rows;  // counts
        for (std::int64_t done = 0; done < rows; done += stretch_rows) {
            const std::int64_t here = std::min(stretch_rows, rows - done);
            const Level* const levels = levels_ + first + done;
            const std::int64_t out = every ? 0 : left_out(levels, here, rows_.levels);
            if (out == here) continue;
            if (sample_ != nullptr) sample_->take(first + done, here, levels_, rows_.levels, thread);
            for (int f = 0; f < Features; ++f) fills_[f](first + done, here, stretch.cells[f]);
            pack_cells(stretch.cells, here, stretch.packed);
            const double* objective = view(rows_.objective, first + done, here, stretch.buffer);
            if (out * few_left_out < here) {
                lay_out<false>(levels, stretch.packed, objective, nullptr, here, ends.data());
            } else {
                const std::int64_t counted = gather_counted(levels, here, rows_.levels, stretch.places);
                lay_out<true>(levels, stretch.packed, objective, stretch.places, counted, ends.data());
            }
        }
    }

    // One level after the other, as long as there are any; every thread knows which one it will have next.
    void add_levels(std::atomic<std::int64_t>& next, std::int64_t round, const Record* records, bool empty) {
        const bool last = round + 1 == layout_.rounds();
        const auto tables = [&](std::int64_t level) { return LevelTables(features_, Features, level); };
        const auto from_end = [&](std::int64_t turn) { return rows_.levels - 1 - turn; };  // where the large ones are
        for (std::int64_t turn = next++, following; turn < rows_.levels; turn = following) {
            following = next++;
            const std::int64_t level = from_end(turn);
            const LevelTables own = tables(level),
                              later = tables(from_end(following < rows_.levels ? following : turn));
            for (int f = 0; empty && f < Features; ++f) features_[f].empty(level);
            add_level(LevelAdder<Features>(own, later), round, records, level);
            for (int f = 0; last && f < Features; ++f) features_[f].set_apart(level);
        }
    }

    template <class Adder>
    void add_level(Adder add, std::int64_t round, const Record* records, std::int64_t level) {
        const auto place = [&](std::int64_t piece, std::int64_t end) {
            return records + layout_.place(piece) + layout_.begins(round, piece)[level + end];
        };
        for (std::int64_t piece = 0; piece < layout_.pieces(); ++piece) {
            const char* const ahead =
                reinterpret_cast<const char*>(place(std::min(piece + 1, layout_.pieces() - 1), 0));
            for (std::int64_t line = 0; line < lines_ahead; ++line) expect_to_read(ahead + line * line_bytes);
            add(place(piece, 0), place(piece, 1));
        }
    }

    const Feature* features_;
    const Level* levels_;
    const Rows& rows_;
    const Layout& layout_;
    LowestRows* sample_;
    std::vector<Fill<std::uint16_t>> fills_;
};

inline bool is_worth_ordering(const Rows& rows) { return rows.count >= worth_rows && rows.levels <= most_level_parts; }

template <class Level>
void count_one_by_one(Crew& crew, const Feature* features, int count, const Level* levels, const Rows& rows,
                      bool empty) {
    crew.run(count, [&](std::int64_t f, std::int32_t) {
        for (std::int64_t level = 0; empty && level <= rows.levels; ++level) features[f].empty(level);
        count_directly(features[f], levels, rows);
        for (std::int64_t level = 0; level < rows.levels; ++level) features[f].set_apart(level);
    });
}

// At most `most_features` columns. Those without a table of their own get one here. Without a layout, rows are counted
// one by one.
template <class Level>
void count_group(Crew& crew, Scratch& scratch, const Feature* given, int count, const Level* levels, const Rows& rows,
                 const Layout* layout, LowestRows* sample) {
    Feature features[most_features];
    const bool empty = given->table == nullptr;
    bool narrow = true;
    for (int f = 0; f < count; ++f) {
        features[f] = given[f];
        if (empty) features[f].table = scratch.table(f, (rows.levels + 1) * given[f].width());
        narrow = narrow && given[f].width() <= UINT16_MAX;
    }
    if (layout == nullptr || !narrow) {
        if (sample != nullptr) sample->take_all(crew, rows.count, levels, rows.levels);
        return count_one_by_one(crew, features, count, levels, rows, empty);
    }
    switch (count) {
        case 1:
            return LevelCounter<1, Level>(features, levels, rows, *layout, sample).count(crew, scratch, empty);
        case 2:
            return LevelCounter<2, Level>(features, levels, rows, *layout, sample).count(crew, scratch, empty);
        case 3:
            return LevelCounter<3, Level>(features, levels, rows, *layout, sample).count(crew, scratch, empty);
        default:
            return LevelCounter<4, Level>(features, levels, rows, *layout, sample).count(crew, scratch, empty);
    }
}

// Any number of columns, all with tables or all without. Threads take whole groups of many columns, else parts of each.
// A sample is taken beside the first group. Returns how many entries it has.
template <class Level>
std::int64_t count_features(const Feature* features, std::int64_t count, const Level* levels, const Rows& rows,
                            const Sample* sample, std::int32_t threads) {
    Crew crew(threads);
    const std::int64_t groups = (count + most_features - 1) / most_features;
    const bool whole = groups >= groups_a_thread * crew.size();
    std::unique_ptr<const Layout> layout;
    if (is_worth_ordering(rows))
        layout.reset(new Layout(crew, levels, rows, whole || crew.size() == 1 ? 1 : pieces_a_thread * crew.size()));
    std::vector<Scratch> scratch(crew.size());
    std::unique_ptr<LowestRows> lowest;
    if (sample != nullptr) lowest.reset(new LowestRows(*sample, crew.size()));
    const auto count_one = [&](Crew& own, std::int32_t thread, std::int64_t group) {
        const std::int64_t first = group * most_features;
        const int here = static_cast<int>(std::min<std::int64_t>(most_features, count - first));
        LowestRows* const beside = group == 0 && !whole ? lowest.get() : nullptr;
        count_group(own, scratch[thread], features + first, here, levels, rows, layout.get(), beside);
    };
    if (whole) {
        if (lowest) lowest->take_all(crew, rows.count, levels, rows.levels);
        crew.run(groups, [&](std::int64_t group, std::int32_t thread) {
            Crew alone(1);
            count_one(alone, thread, group);
        });
    } else {
        for (std::int64_t group = 0; group < groups; ++group) count_one(crew, 0, group);
    }
    return lowest ? lowest->write() : 0;
}

}  // namespace pedanova
