// Sifting 64 rows at a time: the processor moves the bytes that a mask selects to the front in one step.
#include "kernels/sift_impl.hpp"

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

void sift_avx512(const SiftQuery& q) {
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

}  // namespace mnlearn
