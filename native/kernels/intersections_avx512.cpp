// Common rows with AVX-512 VPOPCNTDQ: four of the others at a time.
#include "kernels/intersections.hpp"
#include "kernels/lane_sums_avx512.hpp"

namespace mnlearn {
namespace {

template <int N>
void tile(const std::uint64_t* set, const IntersectionQuery& q, const std::uint64_t* const* others,
          std::uint32_t* counts) {
    __m512i sums[4] = {};
    for (std::size_t w = 0; w < q.words; w += 8) {
        const __m512i rows = _mm512_and_si512(_mm512_load_si512(set + w), _mm512_load_si512(q.second + w));
        for (int k = 0; k < N; ++k)
            sums[k] = _mm512_add_epi64(sums[k],
                                       _mm512_popcnt_epi64(_mm512_and_si512(rows, _mm512_load_si512(others[k] + w))));
    }
    alignas(16) std::uint32_t totals[4];
    _mm_store_si128(reinterpret_cast<__m128i*>(totals), four_totals(sums));
    for (int k = 0; k < N; ++k) counts[k] = totals[k];
}

}  // namespace

void count_intersections_avx512(const IntersectionQuery& q) {
    for (std::size_t s = 0; s < q.n_sets; ++s) {
        const std::uint64_t* set = q.sets + s * q.words;
        std::uint32_t* counts = q.counts + s * q.n_others;
        std::size_t k = 0;
        for (; k + 4 <= q.n_others; k += 4) tile<4>(set, q, q.others + k, counts + k);
        if (q.n_others - k == 3) tile<3>(set, q, q.others + k, counts + k);
        if (q.n_others - k == 2) tile<2>(set, q, q.others + k, counts + k);
        if (q.n_others - k == 1) tile<1>(set, q, q.others + k, counts + k);
    }
}

}  // namespace mnlearn
