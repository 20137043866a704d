// The rows of a sample of whole configurations: those whose number is below a limit, where the number of a row follows
// from its values alone. counting/few_rows.py: mixed_draws has the same arithmetic, to the last digit.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

const int MOST_LOADED = 6;  // columns whose values are all loaded before any is used

// Adds weight * (the fraction of value * factor) to the numbers of four rows, for the one or two factors of a column;
// each operation is rounded on its own.
__device__ __forceinline__ void add_terms(const double values[4], const double* own, double total[4]) {
    const double weight = own[2];
#pragma unroll
    for (int f = 0; f < 2; ++f) {
        const double factor = own[f];
        if (f && factor == 0.0) break;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const double scaled = __dmul_rn(values[k], factor);
            total[k] = __dadd_rn(total[k], __dmul_rn(__dsub_rn(scaled, floor(scaled)), weight));
        }
    }
}

template <typename T>
struct __align__(4 * sizeof(T)) Four {
    T v[4];
};

struct Values {
    double v[4];
};

template <bool Whole, typename T>
__device__ __forceinline__ Values four_of(const T* column, i64 stride, i64 first, i64 rows) {
    Values values = {};
    if (Whole) {
        const Four<T> four = *reinterpret_cast<const Four<T>*>(column + first);
#pragma unroll
        for (int k = 0; k < 4; ++k) values.v[k] = (double)four.v[k];
    } else {
        for (int k = 0; k < 4; ++k)
            if (first + k < rows) values.v[k] = (double)column[(first + k) * stride];
    }
    return values;
}

// The numbers of four rows, whole: all of which are there, side by side. They still have to be reduced to fractions.
template <bool Whole, typename... Types>
__device__ __forceinline__ void add_columns(i64 first, i64 rows, const double* numbers, const i64* strides,
                                            double total[4], const Types*... columns) {
    int column = 0;
    if constexpr (sizeof...(Types) <= MOST_LOADED) {
        const Values values[] = {four_of<Whole>(columns, strides[column++], first, rows)...};
#pragma unroll
        for (int c = 0; c < (int)sizeof...(Types); ++c) add_terms(values[c].v, numbers + 3 * c, total);
    } else {
        ((add_terms(four_of<Whole>(columns, strides[column], first, rows).v, numbers + 3 * column, total), ++column),
         ...);
    }
}

template <typename T>
__device__ __forceinline__ u64 bits_of(T value) {
    u64 bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

// numbers: (columns, 3) two factors and the weight. strides: (1 + columns,) of the objective and the columns. out: how
// many rows were found, and for each of the first `most`: its place, the objective and the values, 8 bytes each.
template <bool Dense, typename Goal, typename... Types>
__global__ void choose_rows(i64 rows, double limit, i64 most, int every, const double* __restrict__ numbers,
                            const i64* __restrict__ strides, u64* out, const Goal* __restrict__ goal,
                            const Types* __restrict__... columns) {
    const i64 step = 4ll * gridDim.x * blockDim.x;
    for (i64 first = 4ll * (blockIdx.x * (i64)blockDim.x + threadIdx.x); first < rows; first += step) {
        double total[4] = {};
        const bool whole = Dense && first + 4 <= rows;
        if (whole) add_columns<Dense>(first, rows, numbers, strides + 1, total, columns...);
        else add_columns<false>(first, rows, numbers, strides + 1, total, columns...);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const i64 row = first + k;
            if (!(total[k] - floor(total[k]) < limit) || row >= rows) continue;
            const Goal objective = goal[row * strides[0]];
            if (!every && objective != objective) continue;
            if (*(volatile u64*)out > (u64)most) continue;  // too many already
            const u64 place = atomicAdd(out, 1ull);
            if (place >= (u64)most) continue;
            u64* record = out + 1 + place * (sizeof...(Types) + 2);
            *record++ = (u64)row;
            *record++ = bits_of(objective);
            int at = 0;
            ((*record++ = bits_of(columns[row * strides[++at]])), ...);
        }
    }
}
