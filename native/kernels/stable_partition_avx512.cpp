// Sifting 64 rows at a time: the processor moves the bytes that a mask selects to the front in one step.
#include "kernels/stable_partition_impl.hpp"

namespace mnlearn {
namespace {

struct Rows {
    __m512i bytes = _mm512_setzero_si512();

    [[gnu::always_inline]] void add(std::uint64_t word, std::size_t lane) {
        bytes = _mm512_mask_add_epi8(bytes, word, bytes, _mm512_set1_epi8(static_cast<char>(1u << lane)));
    }
    [[gnu::always_inline]] void store(std::uint8_t* to) const { _mm512_storeu_si512(to, bytes); }
};

constexpr std::uint64_t first_bits(std::size_t n) { return n < 64 ? (std::uint64_t{1} << n) - 1 : ~std::uint64_t{0}; }

}  // namespace

void pack_avx512(const PackQuery& query) { pack<Rows>(query); }

void stable_partition_avx512(const PartitionQuery& q) {
    std::uint8_t *zeros = q.to, *ones = q.to + q.n_zeros;
    std::uint8_t* const end = ones;
    for (std::size_t row = 0; row < q.n_rows; row += 64) {
        const std::uint64_t valid = first_bits(q.n_rows - row), one = q.by[row / 64] & valid, zero = ~one & valid;
        const __m512i rows = _mm512_loadu_si512(q.from + row);
        const __m512i first = _mm512_maskz_compress_epi8(zero, rows);
        const unsigned n_zeros = count_of(zero);
        // The zeros must not run over the ones; the ones run into the spare bytes only.
        if (end - zeros >= 64)
            _mm512_storeu_si512(zeros, first);
        else
            _mm512_mask_storeu_epi8(zeros, first_bits(n_zeros), first);
        _mm512_storeu_si512(ones, _mm512_maskz_compress_epi8(one, rows));
        zeros += n_zeros;
        ones += count_of(one);
    }
}

void count_runs_avx512(const RunQuery& query) {
    const __m512i bit = _mm512_set1_epi8(static_cast<char>(1u << query.lane));
    count_runs(query, [bit](const std::uint8_t* rows) {
        return static_cast<std::uint64_t>(_mm512_test_epi8_mask(_mm512_loadu_si512(rows), bit));
    });
}

// First all pairs of counts, one by one (gathering is slow on many processors), then eight strata at a time those that
// are varied.
std::size_t pick_varied_avx512(const VariedRunQuery& q) {
    constexpr std::size_t kTogether = 512;
    const __m512i low = _mm512_set1_epi64(0xffffffff);
    const auto both = [low](__m512i pair) {  // the sum of its two numbers
        return _mm512_add_epi64(_mm512_and_epi64(pair, low), _mm512_maskz_srli_epi64(0xff, pair, 32));
    };
    std::uint64_t pairs[kTogether];
    std::size_t n = 0;
    for (std::size_t begin = 0; begin < q.n_strata; begin += kTogether) {
        const std::size_t here = q.n_strata - begin < kTogether ? q.n_strata - begin : kTogether;
        for (std::size_t k = 0; k < here; ++k) pairs[k] = pair_of(q.below, q.order[begin + k]);
        for (std::size_t k = 0; k < here; k += 8) {
            const auto valid = static_cast<__mmask8>(first_bits(here - k));
            const __m512i counts = _mm512_maskz_loadu_epi64(valid, pairs + k), zeros = both(counts),
                          sizes = _mm512_maskz_loadu_epi64(valid, q.sizes + 2 * (begin + k));
            const __mmask16 any_x = _mm512_test_epi32_mask(sizes, sizes);
            const __mmask8 x = static_cast<__mmask8>(_pext_u32(any_x & any_x >> 1, 0x5555));
            const __mmask8 y = _mm512_test_epi64_mask(zeros, zeros) & _mm512_cmpneq_epi64_mask(zeros, both(sizes));
            _mm512_storeu_si512(q.counts + 2 * n, _mm512_maskz_compress_epi64(x & y, counts));
            _mm512_storeu_si512(q.varied_sizes + 2 * n, _mm512_maskz_compress_epi64(x & y, sizes));
            n += count_of(x & y);
        }
    }
    return n;
}

}  // namespace mnlearn
