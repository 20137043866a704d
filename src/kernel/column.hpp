// A column of numbers in memory: any machine type, any stride, aligned or not.
#pragma once

#include <cstdint>
#include <cstring>

namespace pedanova {

enum class Dtype : std::int32_t { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };

constexpr bool is_known(std::int32_t code) { return code >= 0 && code <= static_cast<std::int32_t>(Dtype::u64); }

struct Column {
    const char* data;     // first row
    std::int64_t stride;  // bytes from one row to the next, may be negative
    Dtype dtype;
};

// Rows are taken through small blocks that stay in the first-level cache.
constexpr std::int64_t block_rows = 2048;
constexpr std::int64_t run_rows = 256;  // few enough that most runs hold nothing odd

template <class Stored, class Wanted>
void load_as(const Column& column, std::int64_t first, std::int64_t rows, Wanted* out) {
    const char* from = column.data + first * column.stride;
    if (column.stride == static_cast<std::int64_t>(sizeof(Stored))) {  // contiguous: the compiler vectorises this one
        for (std::int64_t i = 0; i < rows; ++i) {
            Stored value;
            std::memcpy(&value, from + i * static_cast<std::int64_t>(sizeof(Stored)), sizeof value);
            out[i] = static_cast<Wanted>(value);
        }
        return;
    }
    for (std::int64_t i = 0; i < rows; ++i) {
        Stored value;
        std::memcpy(&value, from + i * column.stride, sizeof value);
        out[i] = static_cast<Wanted>(value);
    }
}

// Floats are never loaded as whole numbers: the callers check `is_whole` first.
template <class Wanted>
void load(const Column& column, std::int64_t first, std::int64_t rows, Wanted* out) {
    switch (column.dtype) {
        case Dtype::f32:
            return load_as<float>(column, first, rows, out);
        case Dtype::f64:
            return load_as<double>(column, first, rows, out);
        case Dtype::i8:
            return load_as<std::int8_t>(column, first, rows, out);
        case Dtype::i16:
            return load_as<std::int16_t>(column, first, rows, out);
        case Dtype::i32:
            return load_as<std::int32_t>(column, first, rows, out);
        case Dtype::i64:
            return load_as<std::int64_t>(column, first, rows, out);
        case Dtype::u8:
            return load_as<std::uint8_t>(column, first, rows, out);
        case Dtype::u16:
            return load_as<std::uint16_t>(column, first, rows, out);
        case Dtype::u32:
            return load_as<std::uint32_t>(column, first, rows, out);
        case Dtype::u64:
            return load_as<std::uint64_t>(column, first, rows, out);
    }
}

// Where they lie, if they lie as an array of this type does.
template <class Stored>
const Stored* as_array(const Column& column, Dtype dtype, std::int64_t first) {
    const char* from = column.data + first * column.stride;
    const bool plain = column.dtype == dtype && column.stride == static_cast<std::int64_t>(sizeof(Stored));
    const bool aligned = reinterpret_cast<std::uintptr_t>(from) % alignof(Stored) == 0;
    return plain && aligned ? reinterpret_cast<const Stored*>(from) : nullptr;
}

// Rows as doubles: where they lie if they are such, else in `buffer`.
inline const double* view(const Column& column, std::int64_t first, std::int64_t rows, double* buffer) {
    const double* const array = as_array<double>(column, Dtype::f64, first);
    if (array != nullptr) return array;
    load(column, first, rows, buffer);
    return buffer;
}

// sign * rows, likewise.
inline const double* signed_view(const Column& column, double sign, std::int64_t first, std::int64_t rows,
                                 double* buffer) {
    const double* values = view(column, first, rows, buffer);
    if (sign == 1.0) return values;
    for (std::int64_t i = 0; i < rows; ++i) buffer[i] = sign * values[i];
    return buffer;
}

constexpr bool is_whole(Dtype dtype) { return dtype != Dtype::f32 && dtype != Dtype::f64; }

constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;

// A double's bits, rearranged so that unsigned order is numeric order. -0.0 and 0.0 share a key.
inline std::uint64_t order_key(double value) {
    value += 0.0;
    std::int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<std::uint64_t>(bits) ^
           (static_cast<std::uint64_t>(bits >> 63) | top_bit);  // all bits, if negative
}

// The number behind a key that is not NaN's.
inline double value_of_key(std::uint64_t key) {
    const std::uint64_t bits = key & top_bit ? key ^ top_bit : ~key;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

}  // namespace pedanova
