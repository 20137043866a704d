// Loops that must become vector code stand alone in functions of their own: inlined, they get entangled with their
// callers' branches. On x86 they are compiled for several processors and the loader picks the best; elsewhere the base
// instruction set already has what they need (NEON), or the compiler cannot do it and builds them once.
#pragma once

#include <cstdint>  // tells __GLIBC__, without which the loader cannot choose

// `PEDANOVA_BODY` is what several such functions have in common: it becomes part of each, for each processor.
#if defined(__GNUC__)
#define PEDANOVA_BODY inline __attribute__((always_inline))
#define PEDANOVA_APART __attribute__((noinline))
#else
#define PEDANOVA_BODY inline
#define PEDANOVA_APART
#endif

#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define PEDANOVA_LOOP __attribute__((noinline, target_clones("avx512f", "avx2", "default"))) static
#elif defined(__GNUC__)
#define PEDANOVA_LOOP __attribute__((noinline)) static
#else
#define PEDANOVA_LOOP static
#endif

namespace pedanova {

// A line of memory that will be written to soon; fetching it now costs nobody a wait.
inline void expect_to_write(const void* where) {
#if defined(__GNUC__)
    __builtin_prefetch(where, 1);
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
