// Counting on a GPU. Every cell is settled by comparing with the grid's own boundaries, so it is the judge's cell
// whatever the guess before it. Sums are whole numbers of a fixed unit, so no order of the threads can change them.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

const u64 TOP = 1ull << 63;
const int HALVING = 0, EVEN = 1, LOG = 2, LOOKUP = 3;  // ways to a cell

template <typename T>
struct __align__(4 * sizeof(T)) Four {
    T v[4];
};

// Four rows from `first` on, all of which are there.
template <typename T, bool Dense>
__device__ __forceinline__ void take(const T* from, i64 stride, i64 first, T out[4]) {
    if (Dense) {
        const Four<T> four = *reinterpret_cast<const Four<T>*>(from + first);
#pragma unroll
        for (int k = 0; k < 4; ++k) out[k] = four.v[k];
    } else {
#pragma unroll
        for (int k = 0; k < 4; ++k) out[k] = from[(first + k) * stride];
    }
}

// Rises with the number; -0 is 0. Singles are compared by such keys: arithmetic here may take the smallest for 0.
__device__ __forceinline__ u64 order_key(double value) {
    const i64 bits = __double_as_longlong(value + 0.0);
    return (u64)bits ^ ((u64)(bits >> 63) | TOP);
}
__device__ __forceinline__ u32 order_key(float value) {
    const u32 stored = __float_as_uint(value), bits = stored == 1u << 31 ? 0u : stored;
    return bits ^ ((u32)((int)bits >> 31) | 1u << 31);
}
__device__ __forceinline__ double signed_by(double value, u64 turn) { return turn ? -value : value; }
__device__ __forceinline__ float signed_by(float value, u64 turn) {
    return __uint_as_float(__float_as_uint(value) ^ (u32)(turn >> 32));
}

// As a double. Of singles arithmetic here would take the smallest for 0.
__device__ __forceinline__ double exactly(double value) { return value; }
__device__ __forceinline__ double exactly(float value) {
    const u32 bits = __float_as_uint(value);
    if (bits >> 23 & 255u) return (double)value;
    const double size = (double)(int)(bits & 0x7fffffu) * 1.401298464324817e-45;
    return bits >> 31 ? -size : size;
}
template <typename T>
struct Keyed {
    typedef double Real;
    typedef u64 Key;
};
template <>
struct Keyed<float> {
    typedef float Real;
    typedef u32 Key;
};

// The bits of a number's size, the greatest finite one, and the number behind an order key or a size.
__device__ __forceinline__ u64 size_of(double value) { return (u64)__double_as_longlong(value) & ~TOP; }
__device__ __forceinline__ u32 size_of(float value) { return __float_as_uint(value) & ~(1u << 31); }
__device__ __forceinline__ u64 finite_size(u64) { return 0x7fefffffffffffffull; }
__device__ __forceinline__ u32 finite_size(u32) { return 0x7f7fffffu; }
__device__ __forceinline__ double number_of(u64 key) {
    return __longlong_as_double((i64)(key & TOP ? key ^ TOP : ~key));
}
__device__ __forceinline__ double number_of(u32 key) {
    return exactly(__uint_as_float(key & 1u << 31 ? key ^ 1u << 31 : ~key));
}

// What numbers are compared by.
template <typename Real>
struct Ranked {
    typedef double Rank;
    static __device__ __forceinline__ double of(double value) { return value; }
};
template <>
struct Ranked<float> {
    typedef u32 Rank;
    static __device__ __forceinline__ u32 of(float value) { return order_key(value); }
};

template <typename Key>
__device__ __forceinline__ u32 slot_of(Key key, Key first, int shift, u32 slots) {
    const Key beyond = (max(key, first) - first) >> shift;
    return (u32)min(beyond, (Key)(slots - 1));
}

template <typename Real>
struct Most {
    static __device__ double finite() { return 1.7976931348623157e308; }
    static __device__ double infinite() { return __longlong_as_double(0x7ffll << 52); }
};
template <>
struct Most<float> {
    static __device__ float finite() { return 3.402823466e38f; }
    static __device__ float infinite() { return __int_as_float(0x7f800000); }
};

// Order keys of the least and the greatest finite number and of the least size above zero (of both least ones the
// complement, so that all begin with 0); whether some number is broken, and how many are NaN.
template <typename Real, typename Key>
struct Extent {
    Key low = ~Key(0), high = 0, small = ~Key(0);
    u32 broken = 0, absent = 0;

    __device__ __forceinline__ void look(Real value, Key key) {
        const Key size = size_of(value);
        if (size > finite_size(size)) return;
        low = min(low, key), high = max(high, key);
        small = min(small, size - 1);  // zero is beyond all
    }
    __device__ __forceinline__ void look_closely(Real value) {
        look(value, order_key(value));
        absent += value != value;
        broken |= fabs(value) <= Most<Real>::finite() && value != floor(value);
    }
    __device__ void hand_on(u64* ends) {
        for (int half = 16; half; half >>= 1) {
            low = min(low, __shfl_down_sync(~0u, low, half));
            high = max(high, __shfl_down_sync(~0u, high, half));
            small = min(small, __shfl_down_sync(~0u, small, half));
            broken |= __shfl_down_sync(~0u, broken, half);
            absent += __shfl_down_sync(~0u, absent, half);
        }
        if (threadIdx.x % 32 || low > high) return hand_on_absent(ends);
        const Key top = ~(~Key(0) >> 1);
        atomicMax(&ends[0], ~order_key(number_of(low)));
        atomicMax(&ends[1], order_key(number_of(high)));
        if (small < top) atomicMax(&ends[2], ~order_key(number_of((Key)(small + 1 | top))));
        if (broken) atomicMax(&ends[3], 1ull);
        hand_on_absent(ends);
    }
    __device__ void hand_on_absent(u64* ends) {
        if (threadIdx.x % 32 == 0 && absent) atomicAdd(&ends[4], (u64)absent);
    }
};

// Every row of an array: `four` takes four that lie side by side, `one` those at the end. Several fours are on their
// way before the first is looked at.
template <typename T, bool Dense, typename Fours, typename One>
__device__ __forceinline__ void each_four(const T* values, i64 stride, i64 rows, Fours four, One one) {
    const int deep = sizeof(T) > 4 ? 2 : 4;
    const i64 step = 4ll * gridDim.x * blockDim.x, whole = rows & ~3ll;
    for (i64 at = 4ll * ((i64)blockIdx.x * blockDim.x + threadIdx.x); at < whole; at += deep * step) {
        T held[deep][4];
#pragma unroll
        for (int q = 0; q < deep; ++q)
            if (at + q * step < whole) take<T, Dense>(values, stride, at + q * step, held[q]);
#pragma unroll
        for (int q = 0; q < deep; ++q)
            if (at + q * step < whole) four(at + q * step, held[q]);
    }
    if (blockIdx.x == 0 && whole + threadIdx.x < rows) one(whole + threadIdx.x, values[(whole + threadIdx.x) * stride]);
}
template <typename T, bool Dense, typename Look>
__device__ __forceinline__ void each_row(const T* values, i64 stride, i64 rows, Look look) {
    const auto all = [&](i64, const T held[4]) {
#pragma unroll
        for (int k = 0; k < 4; ++k) look(held[k]);
    };
    each_four<T, Dense>(values, stride, rows, all, [&](i64, T value) { look(value); });
}

template <typename T, bool Dense>
__global__ void __launch_bounds__(512) extent(const T* values, i64 stride, i64 rows, u64* ends) {
    typedef typename Keyed<T>::Real Real;
    Extent<Real, typename Keyed<T>::Key> all;
    each_row<T, Dense>(values, stride, rows, [&](T stored) { all.look_closely((Real)stored); });
    all.hand_on(ends);
}

// Rows in each slot of a window over the number line, the last entry counts NaN; and the extent of all. Whether
// numbers are whole is told of doubles alone.
template <typename T, bool Dense>
__global__ void __launch_bounds__(512) count_slots(const T* values, i64 stride, i64 rows, u64 turn, u64 from, int shift,
                                                   u32 slots, u64* counts, u64* ends) {
    typedef typename Keyed<T>::Real Real;
    typedef typename Keyed<T>::Key Key;
    extern __shared__ u32 held[];
    const Key first = (Key)from;
    for (u32 i = threadIdx.x; i <= slots; i += blockDim.x) held[i] = 0;
    __syncthreads();
    Extent<Real, Key> all;
    each_row<T, Dense>(values, stride, rows, [&](T stored) {
        const Real value = signed_by((Real)stored, turn);
        const Key key = order_key(value);
        all.look(value, key);
        if (sizeof(Real) > 4) all.broken |= fabs(value) <= Most<Real>::finite() && value != floor(value);
        atomicAdd(&held[value == value ? slot_of(key, first, shift, slots) : slots], 1u);
    });
    if (sizeof(Real) == 4) all.broken = 1;
    all.hand_on(ends);
    __syncthreads();
    for (u32 i = threadIdx.x; i <= slots; i += blockDim.x)
        if (held[i]) atomicAdd(&counts[i], (u64)held[i]);
}

// Order keys of the values in slots marked -1 go to `out`; those marked m >= 0 widen the ends m.
// `kept` has a bit for every slot that is marked. Values wait in a queue of the block, so that few ask for a place.
template <typename T, bool Dense>
__global__ void __launch_bounds__(512)
    gather_slots(const T* values, i64 stride, i64 rows, u64 turn, u64 from, int shift, u32 slots, const u32* kept,
                 const int* marks, u64* lows, u64* highs, u64* used, typename Keyed<T>::Key* out) {
    typedef typename Keyed<T>::Real Real;
    typedef typename Keyed<T>::Key Key;
    const u32 most = 65536 / sizeof(Key);
    extern __shared__ u64 room[];
    Key* queue = reinterpret_cast<Key*>(room);
    u32* bits = reinterpret_cast<u32*>(queue + most);
    __shared__ u32 waiting;
    __shared__ u64 place;
    const Key first = (Key)from;
    for (u32 i = threadIdx.x; i <= slots / 32; i += blockDim.x) bits[i] = kept[i];
    if (threadIdx.x == 0) waiting = 0;
    __syncthreads();
    each_row<T, Dense>(values, stride, rows, [&](T stored) {
        const Real value = signed_by((Real)stored, turn);
        const Key key = order_key(value);
        const u32 slot = slot_of(key, first, shift, slots);
        if (!(bits[slot / 32] >> (slot % 32) & 1u) || value != value) return;
        const int mark = marks[slot];
        if (mark == -1) {
            const u32 own = atomicAdd(&waiting, 1u);
            if (own < most) queue[own] = key;
            else out[atomicAdd(used, 1ull)] = key;
        } else {
            if (key < lows[mark]) atomicMin(&lows[mark], (u64)key);
            if (key > highs[mark]) atomicMax(&highs[mark], (u64)key);
        }
    });
    __syncthreads();
    const u32 full = min(waiting, most);
    if (threadIdx.x == 0) place = atomicAdd(used, (u64)full);
    __syncthreads();
    for (u32 i = threadIdx.x; i < full; i += blockDim.x) out[place + i] = queue[i];
}

// The level of each row: the number of boundaries at or below it. `table` has the number of boundaries below every slot
// of a window, and the bit MIXED where some lie inside it.
const u32 MIXED = 1u << 15;

template <typename T, typename Code, bool Dense>
__global__ void __launch_bounds__(512)
    level_codes(const T* values, i64 stride, i64 rows, u64 turn, u64 from, int shift, u32 slots, const u16* table,
                const typename Keyed<T>::Key* boundaries, int count, int nan_level, Code* out) {
    typedef typename Keyed<T>::Real Real;
    typedef typename Keyed<T>::Key Key;
    extern __shared__ u16 levels[];
    const Key first = (Key)from;
    for (u32 i = threadIdx.x; i <= slots; i += blockDim.x) levels[i] = table[i];
    __syncthreads();
    const auto level_of = [&](T stored) {
        const Real value = signed_by((Real)stored, turn);
        const Key key = order_key(value);
        u32 level = levels[slot_of(key, first, shift, slots)];
        if (level & MIXED)
            for (level ^= MIXED; level < (u32)count && boundaries[level] <= key;) ++level;
        return (Code)(value == value ? level : nan_level);
    };
    const auto four = [&](i64 at, const T held[4]) {
        Four<Code> codes;
#pragma unroll
        for (int k = 0; k < 4; ++k) codes.v[k] = level_of(held[k]);
        *reinterpret_cast<Four<Code>*>(out + at) = codes;
    };
    each_four<T, Dense>(values, stride, rows, four, [&](i64 row, T value) { out[row] = level_of(value); });
}

__device__ __forceinline__ float log_of(float value) { return __log2f(value); }
__device__ __forceinline__ double log_of(double value) {
    const u64 bits = (u64)__double_as_longlong(value);
    const double digits = __longlong_as_double((i64)(bits & ~(0x7ffull << 52) | 0x3ffull << 52));
    return value > 0.0 ? (double)((int)(bits >> 52) - 1023) + (double)__log2f((float)digits) : -1e30;
}

// What tells the cell of a value. Real is float where the column is: boundaries are then rounded to where no float is
// lost. A guess may be wrong beside a boundary, by at most one cell: comparing with both ends settles it there.
template <typename Real, typename Rank>
struct Cells {
    const Rank* ends;         // (cells + 1,) where cells begin, from the least to the greatest rank
    const Rank* accept_low;   // (cells,) where the cells do not touch,
    const Rank* accept_high;  // else none
    int cells;
    Rank low, high;
    Real origin, scale, doubt;         // a guess, and how far from a boundary, in cells, it may be wrong
    Real sure_low, sure_high;          // guesses between these are in the space
    double lattice_low, lattice_step;  // step 0: none
    const int* lookup;                 // whole numbers with a small range: one look settles the cell
    i64 offset;
    u64 size;
};

template <int Guess, bool Plain, typename Real, typename Rank>
__device__ __forceinline__ int settled(const Cells<Real, Rank>& grid, const Rank* ends, Real value) {
    const Rank rank = Ranked<Real>::of(value);
    int cell = 0;
    if (Guess == HALVING) {
        for (int left = grid.cells - 1; left > 0;) {
            const int half = left >> 1;
            const bool behind = ends[cell + half + 1] <= rank;
            cell = behind ? cell + half + 1 : cell;
            left = behind ? left - half - 1 : half;
        }
    } else {
        // The least for what has no logarithm.
        const Real line = Guess == EVEN ? value : log_of(value);
        const Real place = line * grid.scale + grid.origin + Real(0.5);
        cell = (int)fmin(fmax(place, Real(0)), Real(grid.cells) - grid.doubt);
        cell += cell + 1 < grid.cells && rank >= ends[cell + 1] ? 1 : 0;
        cell -= rank < ends[cell] ? 1 : 0;
    }
    bool inside = grid.low <= rank && rank <= grid.high;
    if (!Plain && grid.accept_low) inside = grid.accept_low[cell] <= rank && rank <= grid.accept_high[cell];
    if (!Plain && grid.lattice_step != 0.0 && inside)
        inside = fmod((double)value - grid.lattice_low, grid.lattice_step) == 0.0;
    return inside && value == value ? cell : value == value ? grid.cells + 1 : grid.cells;
}

// Adding it leaves a whole number in the last bits: the nearest, and the guess lies half a cell lower.
template <typename Real>
struct Nearest {
    static __device__ __forceinline__ double magic() { return 6755399441055744.0; }
    static __device__ __forceinline__ int of(double moved) { return __double2loint(moved); }
};
template <>
struct Nearest<float> {
    static __device__ __forceinline__ float magic() { return 12582912.0f; }
    static __device__ __forceinline__ int of(float moved) { return __float_as_int(moved) - 0x4b400000; }
};

// The cell, where the guess is far enough from a boundary to be right; else -1, and the boundaries decide.
template <int Guess, typename Real, typename Rank>
__device__ __forceinline__ int guessed(const Cells<Real, Rank>& grid, Real value) {
    const Real line = Guess == EVEN ? value : log_of(value);
    const Real place = fma(line, grid.scale, grid.origin);
    const Real moved = place + Nearest<Real>::magic();
    const Real aside = place - (moved - Nearest<Real>::magic());
    const bool sure = fabs(aside) < Real(0.5) - grid.doubt && grid.sure_low < place && place < grid.sure_high;
    return sure ? Nearest<Real>::of(moved) : -1;
}

template <int Guess, bool Plain, typename T, typename Real, typename Rank>
__device__ __forceinline__ int placed(const Cells<Real, Rank>& grid, const Rank* ends, T value) {
    if (Guess != LOOKUP) return settled<Guess == LOOKUP ? HALVING : Guess, Plain>(grid, ends, (Real)value);
    const u64 slot = (u64)((i64)value - grid.offset);
    return slot < grid.size ? __ldg(&grid.lookup[slot]) : grid.cells + 1;
}

// The cells of four rows: guesses first, so that all wait together for the few that are unsure.
template <int Guess, bool Plain, typename T, typename Real, typename Rank>
__device__ __forceinline__ void place_four(const Cells<Real, Rank>& grid, const Rank* ends, const T value[4],
                                           int out[4]) {
    const bool guesses = Plain && (Guess == EVEN || Guess == LOG);
    bool unsure = !guesses;
    if (guesses) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            out[k] = guessed<Guess == LOG ? LOG : EVEN>(grid, (Real)value[k]);
            unsure |= out[k] < 0;
        }
    }
    if (!unsure) return;
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (!guesses || out[k] < 0) out[k] = placed<Guess, Plain, T>(grid, ends, value[k]);
}

// A sum is a whole number of a level's unit. Wide: signed multiples, and a second sum of a unit 2^42 times finer; a
// unit is the inverse of two powers of two, since one alone may be beyond the doubles. Narrow: multiples from the
// level's first number on, most of them below 2^32; the unit's second number is MAGIC less that first number.
struct Unit {
    double first, second;
};
const double MAGIC = 6755399441055744.0;   // 1.5 * 2^52: adding it leaves a whole number in the last bits
const int NONE = 0, NARROW = 1, WIDE = 2;  // ways to a sum

// Numbers that a plain conversion would lose; what is not finite counts as zero, which is added as less than the
// level's first number.
__device__ __forceinline__ bool is_odd(double value) { return !(fabs(value) <= Most<double>::finite()); }
__device__ __forceinline__ bool is_odd(float value) {
    return (__float_as_uint(value) & 0x7fffffffu) - 0x800000u >= 0x7f000000u;
}
template <typename Y>
__device__ __forceinline__ double finite_part(Y value) {
    return fabs(value) <= Most<Y>::finite() ? exactly(value) : 0.0;
}
__device__ __forceinline__ double narrow_of(double goal, Unit unit) { return fma(goal, unit.first, unit.second); }

__device__ __forceinline__ i64 whole_of(double value, Unit unit) {
    const double moved = value * unit.first * unit.second + MAGIC;
    return __double_as_longlong(moved) - __double_as_longlong(MAGIC);
}
__device__ __forceinline__ i64 rest_of(double value, Unit unit, double finer) {
    const double large = value * unit.first * unit.second;
    const double rest = (large - ((large + MAGIC) - MAGIC)) * finer;
    return __double_as_longlong(rest + MAGIC) - __double_as_longlong(MAGIC);
}
// Sizes are summed in bands where they differ too much for one unit; what is not finite is in none.
__device__ __forceinline__ bool is_between(double value, double from, double to) {
    return from <= fabs(value) && fabs(value) < to;
}

// 64 bits in two words of shared memory: two quick additions, and a carry where the lower one wraps.
__device__ __forceinline__ void add_to(u32* words, int size, int entry, i64 value) {
    const u32 low = (u32)value;
    const u32 before = atomicAdd(&words[entry], low);
    const u32 high = (u32)((u64)value >> 32) + (before + low < before ? 1u : 0u);
    if (high) atomicAdd(&words[size + entry], high);
}

// Halves of 32 bits, each to an own place: their sums stay far below 2^63.
__device__ __forceinline__ void hand_on(i64* to, u32 low, u32 high) {
    if (high) atomicAdd((u64*)&to[0], (u64)(i64)(int)high);
    if (low) atomicAdd((u64*)&to[1], (u64)low);
}

// Counts of 16 bits, two in a word; `own` is the bit that an entry counts by. A count that wraps goes to the GPU's
// memory, and so does the neighbour that the wrap raised by one: the word before tells exactly what an addition did,
// whoever comes between.
__device__ __forceinline__ bool wraps(u32 before, u32 own) {
    const u32 all = own * 0xffffu;
    return (before & all) == all;
}
__device__ __noinline__ void pass_on(u64* counts, u32 before, int entry, int used) {
    atomicAdd(&counts[entry], 1ull << 16);
    if (entry & 1 || entry + 1 >= used) return;
    atomicAdd(&counts[entry + 1], before >> 16 == 0xffffu ? 0xffffull : ~0ull);
}

// The tables of a block, by [level x cell]: counts alone; of narrow levels counts in halves of a word and the lower
// words of sums; else counts and two sums of two words each.
template <typename Y, int Sums>
struct Tables {
    u32 *held, *first, *second;
    const Unit* units;
    int entries, used;  // a table's, and those of levels that there are
    double finer, size_from, size_to;
    u64* counts;  // in the GPU's memory, from the group's first level on
    i64* sums;

    __device__ static constexpr int words(int entries) {
        return Sums == NONE ? entries : Sums == NARROW ? (entries + 1) / 2 + entries : 5 * entries;
    }
    // Four rows; an entry below 0 does not count.
    __device__ __forceinline__ void add(const int entry[4], const int own[4], const Y goal[4]) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (entry[k] < 0) continue;
            atomicAdd(&held[entry[k]], 1u);
            if (Sums == NONE || !is_between(exactly(goal[k]), size_from, size_to)) continue;
            add_to(first, entries, entry[k], whole_of(exactly(goal[k]), units[own[k]]));
            add_to(second, entries, entry[k], rest_of(exactly(goal[k]), units[own[k]], finer));
        }
    }
    __device__ __forceinline__ void add_narrow(const int entry[4], const int own[4], const Y goal[4]) {
        u32 counted[4], bit[4], low[4], before[4];
        int high[4];
        double plain[4];
        bool rare = false, odd = false;
#pragma unroll
        for (int k = 0; k < 4; ++k) plain[k] = (double)goal[k], odd |= is_odd(goal[k]);
        if (odd) {
#pragma unroll
            for (int k = 0; k < 4; ++k) plain[k] = finite_part(goal[k]);
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            bit[k] = 1u << (entry[k] << 4 & 16);
            const double moved = narrow_of(plain[k], units[own[k]]);
            low[k] = (u32)__double2loint(moved), high[k] = __double2hiint(moved) - __double2hiint(MAGIC);
            counted[k] = before[k] = 0;
            if (entry[k] < 0) continue;
            counted[k] = atomicAdd(&held[entry[k] >> 1], bit[k]);
            before[k] = atomicAdd(&first[entry[k]], low[k]);
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            high[k] += before[k] + low[k] < low[k] ? 1 : 0;
            rare |= high[k] != 0 || wraps(counted[k], bit[k]);
        }
        if (!rare) return;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (entry[k] < 0) continue;
            if (high[k]) atomicAdd((u64*)&sums[2 * entry[k]], (u64)(i64)high[k]);
            if (wraps(counted[k], bit[k])) pass_on(counts, counted[k], entry[k], used);
        }
    }
    __device__ __forceinline__ void hand_over(int i) {
        if (Sums == NARROW) {
            const u32 many = held[i >> 1] >> (i & 1 ? 16 : 0) & 0xffffu;
            if (many) atomicAdd(&counts[i], (u64)many);
            if (first[i]) atomicAdd((u64*)&sums[2 * i + 1], (u64)first[i]);
            return;
        }
        if (held[i]) atomicAdd(&counts[i], (u64)held[i]);
        if (Sums == NONE) return;
        hand_on(sums + 4 * i, first[i], first[entries + i]);
        hand_on(sums + 4 * i + 2, second[i], second[entries + i]);
        held[i] = first[i] = first[entries + i] = second[i] = second[entries + i] = 0;
    }
};

// Levels of four rows in one word.
template <typename Code>
struct Packed {
    typedef u32 Word;
};
template <>
struct Packed<u16> {
    typedef u64 Word;
};

// Rows that a thread holds: those of the next turn are on their way while those of this one are counted.
template <typename T, typename Code, typename Y, int Deep>
struct Quads {
    typename Packed<Code>::Word levels[Deep];
    T value[Deep][4];
    Y goal[Deep][4];
};

// Blocks of one group count the levels of that group alone; those of all groups go over the rows together, so that
// the GPU's cache serves all but the first. Shared memory: units, the ends of cells, tables.
template <typename T, typename Real, typename Code, typename Y, int Sums, bool Dense, int Guess, bool Plain>
__global__ void __launch_bounds__(1024)
    count_column(const T* values, i64 stride, const u8* missing, const Code* codes, const Y* objective,
                 i64 objective_stride, i64 rows, const typename Ranked<Real>::Rank* all_ends,
                 const typename Ranked<Real>::Rank* accept_low, const typename Ranked<Real>::Rank* accept_high,
                 int cells, typename Ranked<Real>::Rank low, typename Ranked<Real>::Rank high, Real origin, Real scale,
                 Real doubt, Real sure_low, Real sure_high, double lattice_low, double lattice_step, const int* lookup,
                 i64 offset, u64 size, int all_levels, int groups, const Unit* all_units, double finer,
                 double size_from, double size_to, i64 chunk, u64* counts, i64* sums) {
    typedef typename Ranked<Real>::Rank Rank;
    extern __shared__ u64 room[];
    const int each = (all_levels + groups - 1) / groups, group = blockIdx.x % groups;
    const int level_from = group * each, levels = min(each, all_levels - level_from);
    const int width = cells + 2, entries = each * width;
    Unit* units = reinterpret_cast<Unit*>(room);
    Rank* ends = reinterpret_cast<Rank*>(units + (Sums != NONE ? each : 0));
    u32* held = reinterpret_cast<u32*>(ends + (Guess == LOOKUP ? 0 : cells + 1));
    u32* first = held + (Sums == NARROW ? (entries + 1) / 2 : entries);
    const i64 start = (i64)level_from * width;
    const Cells<Real, Rank> grid{ends,  accept_low, accept_high, cells,       low,          high,   origin, scale,
                                 doubt, sure_low,   sure_high,   lattice_low, lattice_step, lookup, offset, size};
    Tables<Y, Sums> tables{held,
                           first,
                           first + 2 * entries,
                           units,
                           entries,
                           levels * width,
                           finer,
                           size_from,
                           size_to,
                           counts + start,
                           sums + (Sums == NONE     ? 0
                                   : Sums == NARROW ? 2
                                                    : 4) *
                                      start};
    if (Guess != LOOKUP)
        for (int i = threadIdx.x; i <= cells; i += blockDim.x) ends[i] = all_ends[i];
    if (Sums != NONE)
        for (int i = threadIdx.x; i < levels; i += blockDim.x) units[i] = all_units[level_from + i];
    for (int i = threadIdx.x; i < tables.words(entries); i += blockDim.x) held[i] = 0;
    __syncthreads();
    const auto count = [&](i64 row, typename Packed<Code>::Word level, const T value[4], const Y goal[4], int many) {
        int entry[4], own[4];
        place_four<Guess, Plain, T>(grid, ends, value, entry);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (!Plain && k < many && missing && missing[row + k]) entry[k] = cells;
            const u32 from = (u32)(Code)(level >> 8 * sizeof(Code) * k) - level_from;
            entry[k] = k < many && from < (u32)levels ? (int)from * width + entry[k] : -1;
            own[k] = min(from, (u32)each - 1u);
        }
        if (Sums == NARROW) tables.add_narrow(entry, own, goal);
        else tables.add(entry, own, goal);
    };
    const int places = gridDim.x / groups;
    for (i64 begin = blockIdx.x / groups * chunk; begin < rows; begin += places * chunk) {
        const i64 end = min(begin + chunk, rows), whole = begin + (end - begin & ~3ll);
        const int deep = Sums == NONE ? 2 : 1;
        typedef Quads<T, Code, Y, deep> Held;
        const auto fetch = [&](i64 at, Held& to) {
#pragma unroll
            for (int q = 0; q < deep; ++q) {
                const i64 row = at + 4ll * q * blockDim.x;
                if (row >= whole) continue;
                to.levels[q] = *reinterpret_cast<const typename Packed<Code>::Word*>(codes + row);
                take<T, Dense>(values, stride, row, to.value[q]);
                if (Sums != NONE) take<Y, Dense>(objective, objective_stride, row, to.goal[q]);
            }
        };
        const auto use = [&](i64 at, const Held& held) {
#pragma unroll
            for (int q = 0; q < deep; ++q) {
                const i64 row = at + 4ll * q * blockDim.x;
                if (row < whole) count(row, held.levels[q], held.value[q], held.goal[q], 4);
            }
        };
        Held one, other;
        const i64 step = 4ll * deep * blockDim.x;
        i64 at = begin + 4ll * threadIdx.x;
        for (fetch(at, one); at < whole; at += step) {
            fetch(at + step, other);
            use(at, one);
            if ((at += step) >= whole) break;
            fetch(at + step, one);
            use(at, other);
        }
        const i64 rest = whole + threadIdx.x;
        if (rest < end) {
            const T value[4] = {values[rest * stride]};
            const Y goal[4] = {Sums != NONE ? objective[rest * objective_stride] : Y(0)};
            count(rest, codes[rest], value, goal, 1);
        }
        if (Sums != WIDE && begin + places * chunk < rows) continue;
        __syncthreads();  // wide sums are handed on before one can overflow
        for (int i = threadIdx.x; i < levels * width; i += blockDim.x) tables.hand_over(i);
        __syncthreads();
    }
}

// The same where the tables are too large for shared memory: every row goes to the GPU's memory.
template <typename T, typename Real, typename Code, typename Y, int Sums, bool Dense, int Guess, bool Plain>
__global__ void __launch_bounds__(512)
    count_large(const T* values, i64 stride, const u8* missing, const Code* codes, const Y* objective,
                i64 objective_stride, i64 rows, const typename Ranked<Real>::Rank* all_ends,
                const typename Ranked<Real>::Rank* accept_low, const typename Ranked<Real>::Rank* accept_high,
                int cells, typename Ranked<Real>::Rank low, typename Ranked<Real>::Rank high, Real origin, Real scale,
                Real doubt, Real sure_low, Real sure_high, double lattice_low, double lattice_step, const int* lookup,
                i64 offset, u64 size, int all_levels, int groups, const Unit* all_units, double finer, double size_from,
                double size_to, i64 chunk, u64* counts, i64* sums) {
    const Cells<Real, typename Ranked<Real>::Rank> grid{
        all_ends, accept_low, accept_high, cells,       low,          high,   origin, scale,
        doubt,    sure_low,   sure_high,   lattice_low, lattice_step, lookup, offset, size};
    for (i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += (i64)gridDim.x * blockDim.x) {
        const int level = (int)codes[row];
        if (level >= all_levels) continue;
        int cell = placed<Guess, Plain, T>(grid, grid.ends, values[row * stride]);
        if (missing && missing[row]) cell = grid.cells;
        const i64 to = (i64)level * (grid.cells + 2) + cell;
        atomicAdd(&counts[to], 1ull);
        if (Sums == NONE) continue;
        const double goal = exactly(objective[row * objective_stride]);
        const Unit unit = all_units[level];
        if (Sums == NARROW) {
            const double moved = narrow_of(finite_part(goal), unit);
            hand_on(sums + 2 * to, (u32)__double2loint(moved), (u32)(__double2hiint(moved) - __double2hiint(MAGIC)));
            continue;
        }
        if (!is_between(goal, size_from, size_to)) continue;
        const u64 whole = (u64)whole_of(goal, unit), rest = (u64)rest_of(goal, unit, finer);
        hand_on(sums + 4 * to, (u32)whole, (u32)(whole >> 32));
        hand_on(sums + 4 * to + 2, (u32)rest, (u32)(rest >> 32));
    }
}

// Sums as doubles. Of narrow levels: the multiples, and as often as there are rows the level's first number, in 128
// bits, so that nothing is lost where they cancel out.
template <int Sums>
__global__ void __launch_bounds__(512)
    finish_sums(const u64* counts, const i64* sums, i64 entries, int width, const Unit* units, double* out) {
    const double word = 4294967296.0;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < entries; i += (i64)gridDim.x * blockDim.x) {
        const Unit unit = units[i / width];
        if (Sums == WIDE) {
            const double whole = (double)sums[4 * i] * word + (double)sums[4 * i + 1];
            const double rest = (double)sums[4 * i + 2] * word + (double)sums[4 * i + 3];
            out[i] = (whole + rest / 4398046511104.0) / unit.first / unit.second;
            continue;
        }
        const i64 first = (i64)(MAGIC - unit.second), rows = (i64)counts[i];
        const u64 parts[3] = {(u64)(first * rows), (u64)sums[2 * i] << 32, (u64)sums[2 * i + 1]};
        u64 low = 0, high = (u64)__mul64hi(first, rows) + (u64)(sums[2 * i] >> 32);
        for (int k = 0; k < 3; ++k) low += parts[k], high += low < parts[k] ? 1 : 0;
        const bool minus = (i64)high < 0;
        if (minus) low = ~low + 1, high = ~high + (low ? 0 : 1);
        const double size = ((double)high * word * word + (double)low) / unit.first;
        out[i] = minus ? -size : size;
    }
}

// How many numbers have each of the 2,048 exponents of doubles.
template <typename T, bool Dense>
__global__ void __launch_bounds__(512) exponents(const T* values, i64 stride, i64 rows, u64* counts) {
    extern __shared__ u32 held[];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) held[i] = 0;
    __syncthreads();
    for (i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += (i64)gridDim.x * blockDim.x)
        atomicAdd(&held[__double_as_longlong((double)values[row * stride]) >> 52 & 2047], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        if (held[i]) atomicAdd(&counts[i], (u64)held[i]);
}
