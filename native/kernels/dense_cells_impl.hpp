// Tables of bits, written once and compiled once per instruction set: counting bits takes one step here.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#pragma once

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <cstring>

#include "kernels/dense_cells.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace dense_cells {

constexpr std::uint64_t kFirstOfPairs = 0x5555'5555'5555'5555;

// One bit for each pair: whether either is set, whether both are.
inline std::uint64_t either(std::uint64_t cells) { return (cells | cells >> 1) & kFirstOfPairs; }
inline std::uint64_t both(std::uint64_t cells) { return cells & cells >> 1 & kFirstOfPairs; }
inline std::uint32_t count_of(std::uint64_t word) { return static_cast<std::uint32_t>(count_ones(word)); }
// The cells with the first state of the member whose bit in the number of a cell this is.
constexpr std::uint64_t kFirsts[6] = {0x5555'5555'5555'5555, 0x3333'3333'3333'3333, 0x0f0f'0f0f'0f0f'0f0f,
                                      0x00ff'00ff'00ff'00ff, 0x0000'ffff'0000'ffff, 0x0000'0000'ffff'ffff};
inline std::uint64_t bits_below(unsigned bit) { return (std::uint64_t{1} << bit) - 1; }

// The rows of a pair in one number: neither half of a sum runs over into the other.
inline std::uint64_t pair_at(const std::uint32_t* sizes, std::size_t k) {
    std::uint64_t pair;
    std::memcpy(&pair, sizes + 2 * k, sizeof pair);
    return pair;
}
inline void put_pair(std::uint32_t* sizes, std::size_t k, std::uint64_t pair) {
    std::memcpy(sizes + 2 * k, &pair, sizeof pair);
}

// 32 configurations with one state of the member singled out.
struct Side {
    std::uint64_t cells;        // in the places of the first state
    std::uint64_t whole;        // which configurations of their word occur
    const std::uint32_t* rows;  // those of the first of them
    unsigned up;                // how far the cells stand above their places

    MNLEARN_INLINE std::uint64_t pair(unsigned bit) const {
        return pair_at(rows, count_of(whole & bits_below(bit + up)));
    }
};

// visit(k, first, second): all configurations of the others, in order, the k-th time.
template <class Visit> MNLEARN_INLINE inline void each_facing(const DenseCells& t, unsigned bit, Visit visit) {
    const auto rows = [&](std::size_t w) { return t.sizes + 2 * std::size_t{t.numbers[w]}; };
    if (bit < 6) {
        const unsigned up = 1u << bit;
        const std::uint64_t firsts = kFirsts[bit];
        for (std::size_t w = 0; w < t.n_words; ++w) {
            const std::uint64_t cells = t.occupied[w], whole = either(cells);
            if (cells)
                visit(w, Side{cells & firsts, whole, rows(w), 0}, Side{cells >> up & firsts, whole, rows(w), up});
        }
        return;
    }
    const std::size_t step = std::size_t{1} << (bit - 6);
    for (std::size_t k = 0; k < t.n_words / 2; ++k) {
        const std::size_t w = k + (k & ~(step - 1));  // the words with the first state
        const std::uint64_t first = t.occupied[w], second = t.occupied[w + step];
        if (first | second)
            visit(k, Side{first, either(first), rows(w), 0}, Side{second, either(second), rows(w + step), 0});
    }
}

// The k-th configurations of the others, put where they stand once the member has left: closer together by its bit.
inline void put_left(const DropQuery& q, std::size_t k, std::uint64_t cells) {
    if (q.bit > 5) {
        q.occupied[k] = cells;
        return;
    }
    for (unsigned bit = q.bit; bit < 5; ++bit) cells = (cells | cells >> (1u << bit)) & kFirsts[bit + 1];
    q.occupied[k / 2] |= cells << k % 2 * 32;
}

inline void find_varied(VariedQuery& q) {
    std::size_t n = 0, n_all = 0;
    each_facing(q.table, q.bit, [&](std::size_t, const Side& first, const Side& second) {
        const std::uint64_t any = first.cells | second.cells;
        n_all += count_of(either(any));
        for (std::uint64_t rest = both(any) & either(first.cells) & either(second.cells); rest; rest &= rest - 1) {
            const auto bit = lowest_one(rest);
            const std::uint64_t count = first.pair(bit);
            put_pair(q.counts, n, count);
            put_pair(q.sizes, n, count + second.pair(bit));
            ++n;
        }
    });
    q.n_varied = n;
    q.n_all = n_all;
}

inline void drop(const DropQuery& q) {
    std::size_t n = 0;
    each_facing(q.table, q.bit, [&](std::size_t k, const Side& first, const Side& second) {
        put_left(q, k, first.cells | second.cells);
        for (std::uint64_t rest = either(first.cells | second.cells); rest; rest &= rest - 1) {
            const auto bit = lowest_one(rest);
            // What is not there is read from the next and counts for nothing.
            const std::uint64_t in_first = 0 - (either(first.cells) >> bit & 1),
                                in_second = 0 - (either(second.cells) >> bit & 1);
            put_pair(q.sizes, n++, (first.pair(bit) & in_first) + (second.pair(bit) & in_second));
        }
    });
}

inline void append(const CellQuery& q) {
    for (std::size_t row = 0; row < q.n_rows; ++row) q.cells[row] ^= std::uint32_t{q.bytes[row]} << q.up;
}

// Rows in turn to several tables; then all in the first.
template <std::size_t TABLES>
inline void count_in(const std::uint32_t* cells, std::size_t n_rows, std::uint32_t* tables, std::size_t n_cells) {
    std::size_t row = 0;
    for (; row + TABLES <= n_rows; row += TABLES)
        for (std::size_t k = 0; k < TABLES; ++k) ++tables[k * n_cells + cells[row + k]];
    for (; row < n_rows; ++row) ++tables[cells[row]];
    for (std::size_t k = 1; k < TABLES; ++k)
        for (std::size_t cell = 0; cell < n_cells; ++cell) tables[cell] += tables[k * n_cells + cell];
}

inline void count(const std::uint32_t* cells, std::size_t n_rows, std::uint32_t* tables, std::size_t n_cells) {
    if (n_cells <= kFewForSeveral)
        count_in<kSeveralTables>(cells, n_rows, tables, n_cells);
    else
        count_in<1>(cells, n_rows, tables, n_cells);
}

inline void mark(const std::uint32_t* cells, std::size_t n_rows, std::uint64_t* occupied) {
    for (std::size_t row = 0; row < n_rows; ++row) occupied[cells[row] / 64] |= std::uint64_t{1} << cells[row] % 64;
}

inline std::uint32_t number(const std::uint64_t* occupied, std::size_t n_words, std::uint32_t* numbers) {
    std::uint32_t total = 0;
    for (std::size_t w = 0; w < n_words; ++w) {
        numbers[w] = total;
        total += count_of(either(occupied[w]));
    }
    return total;
}

inline void tally(const TallyQuery& q) {
    for (std::size_t row = 0; row < q.n_rows; ++row) {
        const std::uint32_t cell = q.cells[row], word = cell / 64;
        const std::uint64_t before = either(q.table.occupied[word]) & bits_below(cell % 64 & ~1u);
        ++q.sizes[2 * std::size_t{q.table.numbers[word] + count_of(before)} + cell % 2];
    }
}

#ifdef __AVX512F__

// Eight configurations at a time: the rows of those that occur are spread over eight lanes, those requested put
// together.
// One bit for each pair, close together.
std::uint32_t by_pair(std::uint64_t pairs) { return static_cast<std::uint32_t>(_pext_u64(pairs, kFirstOfPairs)); }

// The pairs of 8 of the 32 configurations of a word; 0 for those that do not occur.
__m512i spread(std::uint32_t occur, const std::uint32_t* rows, unsigned group) {
    const std::uint32_t before = count_of(occur & bits_below(8 * group));
    const auto here = static_cast<__mmask8>(occur >> 8 * group);
    return _mm512_maskz_expand_epi64(here, _mm512_loadu_si512(rows + 2 * before));
}

// Both states of the member in 8 configurations of the others.
struct Pairs {
    __m512i first, second;
};
Pairs facing(const Side& first, const Side& second, unsigned group) {
    const std::uint32_t whole = by_pair(second.whole);
    const __m512i firsts = spread(by_pair(first.whole), first.rows, group);
    const unsigned apart = second.up / 2;  // in configurations; none where the second state has words of its own
    if (apart == 0 || apart >= 8) return {firsts, spread(whole, second.rows, group + apart / 8)};
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    return {firsts, _mm512_maskz_permutexvar_epi64(0xff, _mm512_add_epi64(lane, _mm512_set1_epi64(apart)), firsts)};
}

void put(std::uint32_t* to, std::size_t n, __mmask8 which, __m512i pairs) {
    _mm512_storeu_si512(to + 2 * n, _mm512_maskz_compress_epi64(which, pairs));
}

void find_varied_by_eight(VariedQuery& q) {
    std::size_t n = 0, n_all = 0;
    each_facing(q.table, q.bit, [&](std::size_t, const Side& first, const Side& second) {
        const std::uint64_t any = first.cells | second.cells;
        n_all += count_of(either(any));
        const std::uint32_t varied = by_pair(both(any) & either(first.cells) & either(second.cells));
        for (unsigned group = 0; group < 4; ++group) {
            const auto here = static_cast<__mmask8>(varied >> 8 * group);
            if (!here) continue;
            const Pairs pairs = facing(first, second, group);
            put(q.counts, n, here, pairs.first);
            put(q.sizes, n, here, _mm512_add_epi64(pairs.first, pairs.second));
            n += count_of(here);
        }
    });
    q.n_varied = n;
    q.n_all = n_all;
}

void drop_by_eight(const DropQuery& q) {
    std::size_t n = 0;
    each_facing(q.table, q.bit, [&](std::size_t k, const Side& first, const Side& second) {
        put_left(q, k, first.cells | second.cells);
        const std::uint32_t occur = by_pair(either(first.cells | second.cells));
        for (unsigned group = 0; group < 4; ++group) {
            const auto here = static_cast<__mmask8>(occur >> 8 * group);
            if (!here) continue;
            const Pairs pairs = facing(first, second, group);
            put(q.sizes, n, here, _mm512_add_epi64(pairs.first, pairs.second));
            n += count_of(here);
        }
    });
}

constexpr DenseCellKernels kKernels{append, count, mark, number, tally, find_varied_by_eight, drop_by_eight};

#else

constexpr DenseCellKernels kKernels{append, count, mark, number, tally, find_varied, drop};

#endif

}  // namespace dense_cells
}  // namespace
}  // namespace mnlearn
