// Holds a built kernel to plain loops, on machines (or emulators of them) that have no Python:
//     c++ -std=c++17 packaging/selftest.cpp -o selftest -ldl && ./selftest path/to/_kernel.so
// `tests/` says far more; this one is for wheels that were built for another processor, and for its vector code.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr std::int64_t rows = 50'021, levels = 7, cells = 41;

struct Feature {  // as src/kernel/cells.hpp has it
    const void* data;
    std::int64_t stride;
    std::int32_t dtype, looked_up;
    const std::uint8_t* missing;
    std::int64_t cells;
    const double *inner, *accept_low, *accept_high;
    std::int32_t range, even;
    double origin, scale;
    std::int64_t offset, size;
    const std::int32_t* lookup;
    double* table;
};

using Assign = std::int64_t (*)(const void*, std::int64_t, std::int32_t, double, std::int64_t, const double*, std::int64_t,
                                std::int64_t, std::int32_t, void*);
using Count = std::int64_t (*)(const Feature*, std::int32_t, std::int64_t, std::int32_t, const void*, std::int64_t,
                               const void*, std::int64_t, std::int32_t);

std::uint64_t state = 42;
double uniform() {  // 0 to 1
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) / 9007199254740992.0;
}

std::int64_t cell_of(double value, const std::vector<double>& edges) {
    if (value != value) return cells;                                      // missing
    if (value < edges.front() || value > edges.back()) return cells + 1;  // outside
    const auto inner = std::upper_bound(edges.begin() + 1, edges.end() - 1, value);
    return inner - edges.begin() - 1;
}

int failures = 0;
void expect(bool fine, const char* what) {
    std::printf("%-52s %s\n", what, fine ? "ok" : "WRONG");
    failures += !fine;
}

template <class Number>
void check_counts(Count count, bool even, std::int32_t dtype, const char* what, const std::vector<std::uint8_t>& level,
                  const std::vector<double>& objective) {
    std::vector<double> edges(cells + 1), low(cells), high(cells), table(2 * (levels + 1) * (cells + 2));
    for (std::int64_t i = 0; i <= cells; ++i) {
        const double part = static_cast<double>(i) / cells;
        edges[i] = even ? -5.0 + 10.0 * part : 10.0 * part * part - 5.0;
    }
    for (std::int64_t i = 0; i < cells; ++i) low[i] = edges[i], high[i] = edges[i + 1];
    std::vector<Number> values(rows);
    for (std::int64_t i = 0; i < rows; ++i) {
        values[i] = static_cast<Number>(uniform() * 10.4 - 5.2);                                // some outside
        if (i % 97 == 0) values[i] = static_cast<Number>(edges[i % (cells + 1)]);               // some on a boundary
        if (i % 1001 == 0 && std::is_floating_point_v<Number>) values[i] = static_cast<Number>(std::nan(""));
    }
    const Feature feature{values.data(), sizeof(Number), dtype, 0, nullptr, cells, edges.data() + 1, low.data(),
                          high.data(), 1, even, edges[0], cells / (edges[cells] - edges[0]), 0, 0, nullptr, table.data()};
    auto wanted = std::vector<double>(table.size());
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto place = 2 * (level[i] * (cells + 2) + cell_of(static_cast<double>(values[i]), edges));
        wanted[place] += 1, wanted[place + 1] += objective[i];
    }
    bool fine = count(&feature, 1, rows, 1, level.data(), levels, objective.data(), 8, 1) == 0;
    const auto compared = static_cast<std::size_t>(2 * levels * (cells + 2));  // the last level does not count
    for (std::size_t i = 0; i < compared; ++i)
        fine = fine && (i % 2 == 0 ? table[i] == wanted[i] : std::fabs(table[i] - wanted[i]) < 1e-9);
    expect(fine, what);
}

void check_levels(Assign assign, const std::vector<double>& objective, std::vector<std::uint8_t>& level) {
    std::vector<double> boundaries(levels - 1);
    for (std::int64_t i = 0; i + 1 < levels; ++i) boundaries[i] = static_cast<double>(i + 1) / levels;
    bool fine = assign(objective.data(), 8, 1, 1.0, rows, boundaries.data(), levels - 1, levels, 1, level.data()) == 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto place = std::lower_bound(boundaries.begin(), boundaries.end(), objective[i]) - boundaries.begin();
        fine = fine && level[i] == place;
    }
    expect(fine, "levels of doubles");
}

}  // namespace

int main(int count, char** arguments) {
    void* library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : nullptr;
    if (library == nullptr) return std::printf("usage: selftest _kernel.so (%s)\n", count == 2 ? dlerror() : ""), 2;
    const auto version = reinterpret_cast<const char* (*)()>(dlsym(library, "pedanova_version"));
    const auto processor = reinterpret_cast<const char* (*)()>(dlsym(library, "pedanova_processor"));
    std::printf("kernel of pedanova %s, for %s\n", version(), processor());
#if defined(__x86_64__) && !defined(__clang__)  // Zig has no __cpu_model
    __builtin_cpu_init();
    const char* best = __builtin_cpu_supports("avx512f") ? "AVX-512" : __builtin_cpu_supports("avx2") ? "AVX2" : "base";
    expect(std::strcmp(processor(), best) == 0, "the best loops that this processor can run");
#endif
    const auto assign = reinterpret_cast<Assign>(dlsym(library, "pedanova_assign_levels"));
    const auto counted = reinterpret_cast<Count>(dlsym(library, "pedanova_count_features"));
    std::vector<double> objective(rows);
    for (auto& value : objective) value = uniform();
    std::vector<std::uint8_t> level(rows);
    check_levels(assign, objective, level);
    for (bool even : {true, false}) {
        check_counts<double>(counted, even, 1, even ? "even cells of doubles" : "uneven cells of doubles", level, objective);
        check_counts<float>(counted, even, 0, even ? "even cells of floats" : "uneven cells of floats", level, objective);
        check_counts<std::int32_t>(counted, even, 4, even ? "even cells of whole numbers" : "uneven cells of whole numbers",
                                   level, objective);
    }
    std::printf(failures ? "%d checks failed\n" : "all is well\n", failures);
    return failures != 0;
}
