// Counting on a card. Every cell is settled by comparing with the grid's own boundaries, so it is the judge's cell
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

template <typename Real, typename Key>
__device__ __forceinline__ u32 slot_of(Real value, Key first, int shift, u32 slots) {
    const Key beyond = (max(order_key(value), first) - first) >> shift;
    return (u32)min(beyond, (Key)(slots - 1));
}

// Rows in each slot of a window over the number line; the last entry counts NaN.
template <typename T, bool Dense>
__global__ void __launch_bounds__(512) count_slots(const T* values, i64 stride, i64 rows, u64 turn, u64 from,
                                                   int shift, u32 slots, u64* counts) {
    typedef typename Keyed<T>::Real Real;
    extern __shared__ u32 held[];
    const typename Keyed<T>::Key first = (typename Keyed<T>::Key)from;
    for (u32 i = threadIdx.x; i <= slots; i += blockDim.x) held[i] = 0;
    __syncthreads();
    const auto count = [&](T stored) {
        const Real value = signed_by((Real)stored, turn);
        atomicAdd(&held[value == value ? slot_of(value, first, shift, slots) : slots], 1u);
    };
    const i64 step = 4ll * gridDim.x * blockDim.x, whole = rows & ~3ll;
    for (i64 at = 4ll * ((i64)blockIdx.x * blockDim.x + threadIdx.x); at < whole; at += step) {
        T four[4];
        take<T, Dense>(values, stride, at, four);
#pragma unroll
        for (int k = 0; k < 4; ++k) count(four[k]);
    }
    if (blockIdx.x == 0 && whole + threadIdx.x < rows) count(values[(whole + threadIdx.x) * stride]);
    __syncthreads();
    for (u32 i = threadIdx.x; i <= slots; i += blockDim.x)
        if (held[i]) atomicAdd(&counts[i], (u64)held[i]);
}

// Order keys of the values in slots marked -1 go to `out`; those marked m >= 0 widen the ends m.
// `kept` has a bit for every slot that is marked. Values wait in a queue of the block, so that few ask for a place.
const int QUEUE = 2048;

template <typename T, bool Dense>
__global__ void __launch_bounds__(512)
    gather_slots(const T* values, i64 stride, i64 rows, u64 turn, u64 from, int shift, u32 slots, const u32* kept,
                 const int* marks, u64* lows, u64* highs, typename Keyed<T>::Key* out, u64* used) {
    typedef typename Keyed<T>::Real Real;
    extern __shared__ u32 bits[];
    __shared__ typename Keyed<T>::Key queue[QUEUE];
    __shared__ u32 waiting;
    __shared__ u64 place;
    const typename Keyed<T>::Key first = (typename Keyed<T>::Key)from;
    for (u32 i = threadIdx.x; i <= slots / 32; i += blockDim.x) bits[i] = kept[i];
    if (threadIdx.x == 0) waiting = 0;
    __syncthreads();
    const auto look = [&](T stored) {
        const Real value = signed_by((Real)stored, turn);
        const u32 slot = slot_of(value, first, shift, slots);
        if (!(bits[slot / 32] >> (slot % 32) & 1u) || value != value) return;
        const int mark = marks[slot];
        if (mark == -1) {
            const u32 own = atomicAdd(&waiting, 1u);
            if (own < QUEUE) queue[own] = order_key(value);
            else out[atomicAdd(used, 1ull)] = order_key(value);
        } else {
            const u64 key = order_key(value);
            if (key < lows[mark]) atomicMin(&lows[mark], key);
            if (key > highs[mark]) atomicMax(&highs[mark], key);
        }
    };
    const i64 each = 16ll * blockDim.x, step = each * gridDim.x, whole = rows & ~3ll;
    for (i64 begin = each * blockIdx.x;; begin += step) {
        const bool last = begin >= rows;
#pragma unroll
        for (int quad = 0; quad < 4; ++quad) {
            const i64 at = begin + 4ll * (quad * blockDim.x + threadIdx.x);
            if (at >= whole) continue;
            T four[4];
            take<T, Dense>(values, stride, at, four);
#pragma unroll
            for (int k = 0; k < 4; ++k) look(four[k]);
        }
        if (last && blockIdx.x == 0 && whole + threadIdx.x < rows) look(values[(whole + threadIdx.x) * stride]);
        __syncthreads();
        const u32 full = min(waiting, (u32)QUEUE);
        if (full > QUEUE / 2 || last) {
            if (threadIdx.x == 0) place = atomicAdd(used, (u64)full);
            __syncthreads();
            for (u32 i = threadIdx.x; i < full; i += blockDim.x) out[place + i] = queue[i];
            if (threadIdx.x == 0) waiting = 0;
            __syncthreads();
        }
        if (last) break;
    }
}

// The level of each row: the number of boundaries at or below it. `table` has the level of every slot of a window
// that no boundary lies in; elsewhere (MIXED) the boundaries are halved.
const u16 MIXED = 65535;

template <typename T, typename Code, bool Dense>
__global__ void __launch_bounds__(512)
    level_codes(const T* values, i64 stride, i64 rows, u64 turn, u64 from, int shift, u32 slots, const u16* table,
                const typename Keyed<T>::Key* boundaries, int count, int nan_level, Code* out) {
    typedef typename Keyed<T>::Real Real;
    extern __shared__ u16 levels[];
    const typename Keyed<T>::Key first = (typename Keyed<T>::Key)from;
    for (u32 i = threadIdx.x; i <= slots; i += blockDim.x) levels[i] = table[i];
    __syncthreads();
    const auto level_of = [&](T stored) {
        const Real value = signed_by((Real)stored, turn);
        int level = value == value ? (int)levels[slot_of(value, first, shift, slots)] : nan_level;
        if (level == MIXED) {
            const typename Keyed<T>::Key key = order_key(value);
            level = 0;
            for (int left = count; left > 0;) {
                const int half = left >> 1;
                const bool behind = boundaries[level + half] <= key;
                level = behind ? level + half + 1 : level;
                left = behind ? left - half - 1 : half;
            }
        }
        return (Code)level;
    };
    const i64 step = 4ll * gridDim.x * blockDim.x, whole = rows & ~3ll;
    for (i64 at = 4ll * ((i64)blockIdx.x * blockDim.x + threadIdx.x); at < whole; at += step) {
        T four[4];
        take<T, Dense>(values, stride, at, four);
        Four<Code> codes;
#pragma unroll
        for (int k = 0; k < 4; ++k) codes.v[k] = level_of(four[k]);
        *reinterpret_cast<Four<Code>*>(out + at) = codes;
    }
    const i64 rest = whole + threadIdx.x;
    if (blockIdx.x == 0 && rest < rows) out[rest] = level_of(values[rest * stride]);
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
    Real origin, scale, doubt;  // doubt: how far from a boundary, in cells, a guess may be wrong
    double lattice_low, lattice_step;  // step 0: none
    const int* lookup;                 // whole numbers with a small range: one look settles the cell
    i64 offset;
    u64 size;
};

template <int Guess, bool Plain, typename Real, typename Rank>
__device__ __forceinline__ int cell_of(const Cells<Real, Rank>& grid, const Rank* ends, Real value) {
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
        const Real place = fmin(fmax(line * grid.scale + grid.origin, Real(0)), Real(grid.cells) - grid.doubt);
        cell = (int)place;
        const Real beyond = place - (Real)cell;
        if (!(grid.doubt < beyond && beyond < Real(1) - grid.doubt)) {
            cell += rank >= ends[cell + 1] ? 1 : 0;
            cell -= rank < ends[cell] ? 1 : 0;
        }
    }
    bool inside = grid.low <= rank && rank <= grid.high;
    if (!Plain && grid.accept_low) inside = grid.accept_low[cell] <= rank && rank <= grid.accept_high[cell];
    if (!Plain && grid.lattice_step != 0.0 && inside)
        inside = fmod((double)value - grid.lattice_low, grid.lattice_step) == 0.0;
    return inside && value == value ? cell : value == value ? grid.cells + 1 : grid.cells;
}

template <int Guess, bool Plain, typename T, typename Real, typename Rank>
__device__ __forceinline__ int placed(const Cells<Real, Rank>& grid, const Rank* ends, T value) {
    if (Guess != LOOKUP) return cell_of<Guess == LOOKUP ? HALVING : Guess, Plain>(grid, ends, (Real)value);
    const u64 slot = (u64)((i64)value - grid.offset);
    return slot < grid.size ? __ldg(&grid.lookup[slot]) : grid.cells + 1;
}

// A sum is made of whole multiples of a level's unit, and of a second unit 2^bits times finer. A unit is the inverse
// of two powers of two: one alone may be beyond the doubles.
struct Unit {
    double first, second;
};
const double MAGIC = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves a whole number in the last bits

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

// Blocks of one group count the levels of that group alone; those of all groups go over the rows together, so that
// the card's cache serves all but the first. Shared memory: the ends of cells, then tables by [level x cell].
template <typename T, typename Real, typename Code, typename Y, int Limbs, bool Dense, int Guess, bool Plain>
__global__ void __launch_bounds__(1024) count_column(
    const T* values, i64 stride, const u8* missing, const Code* codes, const Y* objective, i64 objective_stride,
    i64 rows, const typename Ranked<Real>::Rank* all_ends, const typename Ranked<Real>::Rank* accept_low,
    const typename Ranked<Real>::Rank* accept_high, int cells, typename Ranked<Real>::Rank low,
    typename Ranked<Real>::Rank high, Real origin, Real scale, Real doubt, double lattice_low, double lattice_step, const int* lookup, i64 offset,
    u64 size, int all_levels, int groups, const Unit* all_units, double finer, double size_from,
    double size_to, i64 chunk, u64* counts, i64* sums) {
    extern __shared__ u64 room[];
    const int each = (all_levels + groups - 1) / groups, group = blockIdx.x % groups;
    const int level_from = group * each, levels = min(each, all_levels - level_from);
    const int width = cells + 2, entries = each * width;
    Unit* units = reinterpret_cast<Unit*>(room);
    typedef typename Ranked<Real>::Rank Rank;
    Rank* ends = reinterpret_cast<Rank*>(units + (Limbs > 0 ? each : 0));
    u32* held = reinterpret_cast<u32*>(ends + (Guess == LOOKUP ? 0 : cells + 1));
    u32* first = held + entries;
    u32* second = first + (Limbs > 0 ? 2 * entries : 0);
    if (Guess != LOOKUP)
        for (int i = threadIdx.x; i <= cells; i += blockDim.x) ends[i] = all_ends[i];
    if (Limbs > 0)
        for (int i = threadIdx.x; i < levels; i += blockDim.x) units[i] = all_units[level_from + i];
    for (int i = threadIdx.x; i < (1 + 2 * Limbs) * entries; i += blockDim.x) held[i] = 0;
    __syncthreads();
    const Cells<Real, typename Ranked<Real>::Rank> grid{ends, accept_low, accept_high, cells, low, high, origin, scale, doubt, lattice_low,
                           lattice_step, lookup, offset, size};
    const auto count = [&](i64 row, Code level, T value, Y goal) {
        const int own = (int)level - level_from;
        int cell = placed<Guess, Plain, T>(grid, ends, value);
        if ((unsigned)own >= (unsigned)levels) return;
        if (!Plain && missing && missing[row]) cell = cells;
        const int entry = own * width + cell;
        atomicAdd(&held[entry], 1u);
        if (Limbs == 0 || !is_between((double)goal, size_from, size_to)) return;
        add_to(first, entries, entry, whole_of((double)goal, units[own]));
        if (Limbs > 1) add_to(second, entries, entry, rest_of((double)goal, units[own], finer));
    };
    const int place = blockIdx.x / groups, places = gridDim.x / groups;
    for (i64 begin = place * chunk; begin < rows; begin += places * chunk) {
        const i64 end = min(begin + chunk, rows), whole = begin + (end - begin & ~3ll);
        for (i64 at = begin + 4ll * threadIdx.x; at < whole; at += 8ll * blockDim.x) {
            const i64 next = at + 4ll * blockDim.x;
            Code level[2][4];
            T four[2][4];
            Y goal[2][4];
            take<Code, true>(codes, 1, at, level[0]);
            take<T, Dense>(values, stride, at, four[0]);
            if (Limbs > 0) take<Y, Dense>(objective, objective_stride, at, goal[0]);
            if (next < whole) {
                take<Code, true>(codes, 1, next, level[1]);
                take<T, Dense>(values, stride, next, four[1]);
                if (Limbs > 0) take<Y, Dense>(objective, objective_stride, next, goal[1]);
            }
#pragma unroll
            for (int k = 0; k < 4; ++k) count(at + k, level[0][k], four[0][k], goal[0][k]);
            if (next >= whole) break;
#pragma unroll
            for (int k = 0; k < 4; ++k) count(next + k, level[1][k], four[1][k], goal[1][k]);
        }
        const i64 rest = whole + threadIdx.x;
        if (rest < end)
            count(rest, codes[rest], values[rest * stride], Limbs > 0 ? objective[rest * objective_stride] : Y(0));
        if (Limbs == 0 && begin + places * chunk < rows) continue;
        __syncthreads();  // the table is handed on before a sum can overflow
        for (int i = threadIdx.x; i < levels * width; i += blockDim.x) {
            const i64 to = (i64)level_from * width + i;
            if (held[i]) atomicAdd(&counts[to], (u64)held[i]);
            held[i] = 0;
            if (Limbs > 0) hand_on(sums + 2 * Limbs * to, first[i], first[entries + i]);
            if (Limbs > 0) first[i] = first[entries + i] = 0;
            if (Limbs > 1) hand_on(sums + 2 * Limbs * to + 2, second[i], second[entries + i]);
            if (Limbs > 1) second[i] = second[entries + i] = 0;
        }
        __syncthreads();
    }
}

// The same where the tables are too large for shared memory: every row goes to the card's memory.
template <typename T, typename Real, typename Code, typename Y, int Limbs, bool Dense, int Guess, bool Plain>
__global__ void __launch_bounds__(512) count_large(
    const T* values, i64 stride, const u8* missing, const Code* codes, const Y* objective, i64 objective_stride,
    i64 rows, const typename Ranked<Real>::Rank* ends, const typename Ranked<Real>::Rank* accept_low,
    const typename Ranked<Real>::Rank* accept_high, int cells, typename Ranked<Real>::Rank low,
    typename Ranked<Real>::Rank high, Real origin, Real scale, Real doubt, double lattice_low, double lattice_step, const int* lookup, i64 offset,
    u64 size, int all_levels, int groups, const Unit* all_units, double finer, double size_from,
    double size_to, i64 chunk, u64* counts, i64* sums) {
    const Cells<Real, typename Ranked<Real>::Rank> grid{ends, accept_low, accept_high, cells, low, high, origin, scale, doubt, lattice_low,
                           lattice_step, lookup, offset, size};
    for (i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += (i64)gridDim.x * blockDim.x) {
        const int level = (int)codes[row];
        if (level >= all_levels) continue;
        const int cell = missing && missing[row] ? cells : placed<Guess, Plain, T>(grid, ends, values[row * stride]);
        const i64 to = (i64)level * (cells + 2) + cell;
        atomicAdd(&counts[to], 1ull);
        if (Limbs == 0) continue;
        const double goal = (double)objective[row * objective_stride];
        if (!is_between(goal, size_from, size_to)) continue;
        const u64 whole = (u64)whole_of(goal, all_units[level]);
        hand_on(sums + 2 * Limbs * to, (u32)whole, (u32)(whole >> 32));
        if (Limbs < 2) continue;
        const u64 rest = (u64)rest_of(goal, all_units[level], finer);
        hand_on(sums + 2 * Limbs * to + 2, (u32)rest, (u32)(rest >> 32));
    }
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

// Order keys of the least and the greatest finite number and of the least size above zero; whether some number is
// broken, and how many are NaN.
template <typename T, bool Dense>
__global__ void __launch_bounds__(512) extent(const T* values, i64 stride, i64 rows, u64* ends) {
    typedef typename Keyed<T>::Real Real;
    const Real none = Most<Real>::infinite();
    Real low = none, high = -none, small = none;
    u32 broken = 0, absent = 0;
    const auto look = [&](T stored) {
        const Real value = (Real)stored, size = fabs(value);
        absent += value != value;
        if (!(size <= Most<Real>::finite())) return;
        low = fmin(low, value), high = fmax(high, value);
        small = size > Real(0) ? fmin(small, size) : small;
        broken |= value != floor(value);
    };
    const i64 step = 4ll * gridDim.x * blockDim.x, whole = rows & ~3ll;
    for (i64 at = 4ll * ((i64)blockIdx.x * blockDim.x + threadIdx.x); at < whole; at += step) {
        T four[4];
        take<T, Dense>(values, stride, at, four);
#pragma unroll
        for (int k = 0; k < 4; ++k) look(four[k]);
    }
    if (blockIdx.x == 0 && whole + threadIdx.x < rows) look(values[(whole + threadIdx.x) * stride]);
    for (int half = 16; half; half >>= 1) {
        low = fmin(low, __shfl_down_sync(~0u, low, half));
        high = fmax(high, __shfl_down_sync(~0u, high, half));
        small = fmin(small, __shfl_down_sync(~0u, small, half));
        broken |= __shfl_down_sync(~0u, broken, half);
        absent += __shfl_down_sync(~0u, absent, half);
    }
    if (threadIdx.x % 32) return;
    atomicMin(&ends[0], order_key((double)low));
    atomicMax(&ends[1], order_key((double)high));
    atomicMin(&ends[2], order_key((double)small));
    if (broken) atomicMax(&ends[3], 1ull);
    if (absent) atomicAdd(&ends[4], (u64)absent);
}
