// Loops that must become vector code stand alone in functions of their own: inlined, they get entangled with their
// callers' branches. On x86-64 each is compiled for several processors and the best is chosen at run time, by a branch
// for a block of rows: loaders that choose (ifunc) are not on every system. Elsewhere the base instruction set already
// has what they need (NEON), or the compiler cannot do it and builds them once.
//
//     PEDANOVA_LOOP(bool, any_negative, (const double* values, std::int64_t rows), (values, rows)) { … }
#pragma once

// `PEDANOVA_BODY` is what several such functions have in common: it becomes part of each, for each processor.
#if defined(__GNUC__)
#define PEDANOVA_BODY inline __attribute__((always_inline))
#define PEDANOVA_APART __attribute__((noinline))
#else
#define PEDANOVA_BODY inline
#define PEDANOVA_APART
#endif

#if defined(__x86_64__) && \
    (defined(__clang__) || (defined(__GNUC__) && !defined(_WIN32)))  // GCC's stack there is too odd
#include <cpuid.h>
#define PEDANOVA_CHOOSES 1
#else
#define PEDANOVA_CHOOSES 0
#endif

namespace pedanova {

enum class Processor { plain, avx2, avx512 };

#if PEDANOVA_CHOOSES
// What the processor can do and the system saves (`xgetbv`) when it changes threads.
inline Processor find_processor() {
    unsigned a, b, c, d, saved, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return Processor::plain;
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    constexpr unsigned ymm = 0x06, zmm = 0xe6;
    if ((saved & ymm) != ymm || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2)) return Processor::plain;
    return (saved & zmm) == zmm && (b & bit_AVX512F) ? Processor::avx512 : Processor::avx2;
}

static const Processor processor = find_processor();

#define PEDANOVA_FOR(processor_name) __attribute__((noinline, target(processor_name)))
#define PEDANOVA_LOOP(result, name, takes, gives)                                            \
    __attribute__((always_inline)) static inline result name##_loop takes;                   \
    PEDANOVA_FOR("avx512f") static result name##_avx512 takes { return name##_loop gives; }  \
    PEDANOVA_FOR("avx2") static result name##_avx2 takes { return name##_loop gives; }       \
    __attribute__((noinline)) static result name##_plain takes { return name##_loop gives; } \
    static inline result name takes {                                                        \
        return processor == Processor::avx512 ? name##_avx512 gives                          \
               : processor == Processor::avx2 ? name##_avx2 gives                            \
                                              : name##_plain gives;                          \
    }                                                                                        \
    __attribute__((always_inline)) static inline result name##_loop takes
#else
constexpr Processor processor = Processor::plain;
#if defined(__GNUC__)
#define PEDANOVA_LOOP(result, name, takes, gives) __attribute__((noinline)) static result name takes
#else
#define PEDANOVA_LOOP(result, name, takes, gives) static result name takes
#endif
#endif

// A line of memory that will be written to soon; fetching it now costs nobody a wait.
inline void expect_to_write(const void* where) {
#if defined(__GNUC__)
    __builtin_prefetch(where, 1);
#else
    (void)where;
#endif
}

// The same into the second-level cache.
inline void expect_to_write_later(const void* where) {
#if defined(__GNUC__)
    __builtin_prefetch(where, 1, 2);
#else
    (void)where;
#endif
}

inline void expect_to_read(const void* where) {
#if defined(__GNUC__)
    __builtin_prefetch(where);
#else
    (void)where;
#endif
}

}  // namespace pedanova
