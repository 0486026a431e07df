// Eight configurations at a time: the rows of those that occur are spread over eight lanes, those asked for put
// together.
#include <immintrin.h>

#include "kernels/dense_cells_impl.hpp"

namespace mnlearn {
namespace {

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

}  // namespace

const DenseCellKernels kDenseCellsAvx512{append, count, mark, number, tally, find_varied_by_eight, drop_by_eight};

}  // namespace mnlearn
