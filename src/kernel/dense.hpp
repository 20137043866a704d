// What the model asks of dense arrays: the inverse of a triangular matrix, and the order of numbers in each line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace pedanova {

// The inverse of a lower triangular matrix, both (size, size) by rows; `inverse` is zero at first. Each entry is the
// result of the same subtractions in the same order as in base/kernel/dense.py; four rows at a time are subtracted, so
// that a row is loaded and stored less often.
inline void invert_triangle(const float* lower, std::int64_t size, float* inverse) {
    for (std::int64_t i = 0; i < size; ++i) {
        const float* factors = lower + i * size;
        float* row = inverse + i * size;
        std::int64_t k = 0;
        for (; k + 4 <= i; k += 4) {
            const float a = factors[k], b = factors[k + 1], c = factors[k + 2], d = factors[k + 3];
            const float *first = inverse + k * size, *second = first + size, *third = second + size;
            const float* fourth = third + size;
            for (std::int64_t j = 0; j < k + 4; ++j)
                row[j] = (((row[j] - a * first[j]) - b * second[j]) - c * third[j]) - d * fourth[j];
        }
        for (; k < i; ++k) {
            const float* other = inverse + k * size;
            for (std::int64_t j = 0; j <= k; ++j) row[j] -= factors[k] * other[j];
        }
        const float scale = 1.0f / factors[i];
        for (std::int64_t j = 0; j < i; ++j) row[j] *= scale;
        row[i] = scale;
    }
}

// The places that sort each line of `values` (lines, size), lowest first, equal numbers in the order of their places:
// a radix sort by digits of 11 bits. No value is NaN; -0 and 0 are equal.
inline void sort_lines(const float* values, std::int64_t lines, std::int64_t size, std::int64_t* order) {
    constexpr int bits = 11, digits = 3, width = 1 << bits;
    struct Entry {
        std::uint32_t key, place;
    };
    std::vector<Entry> one(size), two(size);
    std::vector<std::uint32_t> starts(digits * width);
    for (std::int64_t line = 0; line < lines; ++line, values += size, order += size) {
        std::fill(starts.begin(), starts.end(), 0u);
        for (std::int64_t i = 0; i < size; ++i) {
            std::uint32_t number;
            std::memcpy(&number, values + i, sizeof number);
            const std::uint32_t magnitude = number & 0x7FFFFFFFu;
            const std::uint32_t key = number == magnitude ? 0x80000000u + magnitude : 0x80000000u - magnitude;
            one[i] = {key, static_cast<std::uint32_t>(i)};
            for (int digit = 0; digit < digits; ++digit)
                ++starts[digit * width + ((key >> (digit * bits)) & (width - 1))];
        }
        for (int digit = 0; digit < digits; ++digit) {
            std::uint32_t before = 0;
            for (int code = 0; code < width; ++code) {
                const std::uint32_t here = starts[digit * width + code];
                starts[digit * width + code] = before;
                before += here;
            }
        }
        for (const Entry& entry : one) two[starts[entry.key & (width - 1)]++] = entry;
        for (const Entry& entry : two) one[starts[width + ((entry.key >> bits) & (width - 1))]++] = entry;
        for (const Entry& entry : one) order[starts[2 * width + (entry.key >> (2 * bits))]++] = entry.place;
    }
}

}  // namespace pedanova
