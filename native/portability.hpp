// What the C++ standard leaves to compilers: wide vectors, forced inlining, 128-bit numbers, questions to the
// processor. GNU extensions occur in this file only; GCC and clang have those used here, on every system.
//
// Every function is always inlined: the instruction sets must not share one (kernels/scratch.hpp).
#pragma once

#if !defined(__GNUC__) && !defined(__clang__)
#error "mnlearn needs GCC 12 or clang 14; on Windows, clang-cl."
#endif

#include <cstddef>
#include <cstdint>
#include <utility>

#define MNLEARN_INLINE [[gnu::always_inline]]
#define MNLEARN_NOINLINE [[gnu::noinline]]

namespace mnlearn {

// Vectors: N numbers side by side, with the operators of one number.

template <class T, std::size_t N> struct VectorOf {
    typedef T Type __attribute__((vector_size(N * sizeof(T))));
    typedef T Aliasing __attribute__((vector_size(N * sizeof(T)), may_alias));  // may point into an array of T
};
template <class T, std::size_t N> using Vec = typename VectorOf<T, N>::Type;
template <class T, std::size_t N> using AliasingVec = typename VectorOf<T, N>::Aliasing;

// Lane by lane to another type of number.
template <class To, class From> MNLEARN_INLINE inline To converted(From from) {
    return __builtin_convertvector(from, To);
}

// The lanes of a, then those of b, at places that are known to the compiler.
template <int... PLACES, class V> MNLEARN_INLINE inline V shuffled(V a, V b) {
    static_assert(sizeof...(PLACES) == sizeof(V) / sizeof(a[0]));
    return __builtin_shufflevector(a, b, PLACES...);
}

// The last lane first.
template <class V, int... K> MNLEARN_INLINE inline V reversed_by(V v, std::integer_sequence<int, K...>) {
    return __builtin_shufflevector(v, v, (static_cast<int>(sizeof...(K)) - 1 - K)...);
}
template <class V> MNLEARN_INLINE inline V reversed(V v) {
    return reversed_by(v, std::make_integer_sequence<int, sizeof(V) / sizeof(v[0])>{});
}

MNLEARN_INLINE inline int count_ones(std::uint64_t bits) { return __builtin_popcountll(bits); }
MNLEARN_INLINE inline unsigned lowest_one(std::uint64_t bits) {  // of bits != 0: no branch, unlike std::countr_zero
    return static_cast<unsigned>(__builtin_ctzll(bits));
}
MNLEARN_INLINE inline std::uint64_t swap_bytes(std::uint64_t bits) { return __builtin_bswap64(bits); }

// Whether a + b leaves the range of T; *sum is its low bits.
template <class T> MNLEARN_INLINE inline bool add_overflows(T a, T b, T* sum) {
    return __builtin_add_overflow(a, b, sum);
}

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UnsignedInt128;

// The nearest double. The conversion of 128 bits that compilers call is in no library that clang-cl links.
MNLEARN_INLINE inline double to_double(std::int64_t number) { return static_cast<double>(number); }
MNLEARN_INLINE inline double to_double(Int128 number) {
    const bool negative = number < 0;
    auto size = static_cast<UnsignedInt128>(number);
    if (negative) size = 0 - size;
    double scale = negative ? -1.0 : 1.0;
    bool lost = false;
    for (; size >> 64; size >>= 1, scale *= 2.0) lost = lost || (size & 1);
    return static_cast<double>(static_cast<std::uint64_t>(size) | lost) * scale;  // the lost bits break ties only
}

struct HighLow {
    std::uint64_t high, low;
};
MNLEARN_INLINE inline HighLow multiply_wide(std::uint64_t a, std::uint64_t b) {
    const UnsignedInt128 product = static_cast<UnsignedInt128>(a) * b;
    return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
}

// LOCALITY: 3 keeps the line in every cache, 2 in all but the first.
template <bool WRITE = false, int LOCALITY = 3> MNLEARN_INLINE inline void prefetch(const void* place) {
    __builtin_prefetch(place, WRITE, LOCALITY);
}

// Hides where a number comes from: what is computed from it inside a loop is computed again each time.
template <class T> MNLEARN_INLINE inline void forget_origin(T& number) { asm volatile("" : "+r"(number)); }
template <class V> MNLEARN_INLINE inline void forget_origin_of_vector(V& vector) {
#if defined(__AVX512F__)
    asm volatile("" : "+v"(vector));
#elif defined(__x86_64__)
    asm volatile("" : "+x"(vector));
#elif defined(__aarch64__)
    asm volatile("" : "+w"(vector));
#else
    asm volatile("" : "+m"(vector));
#endif
}

// Not __builtin_cpu_supports, whose table is part of no library that clang-cl links.
#if defined(__x86_64__)
struct Registers {
    std::uint32_t a, b, c, d;
};
MNLEARN_INLINE inline Registers cpuid(std::uint32_t leaf, std::uint32_t part) {
    Registers r;
    asm volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(part));
    return r;
}
// Which registers the operating system saves; only with the OSXSAVE bit of cpuid(1, 0).
MNLEARN_INLINE inline std::uint32_t saved_registers() {
    std::uint32_t low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}
#endif

}  // namespace mnlearn
