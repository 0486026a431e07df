// Common rows with AVX2: bits of each nibble by a table in a register.
#include <immintrin.h>

#include "kernels/intersections_impl.hpp"

namespace mnlearn {
namespace {

struct Avx2Bits {
    static __m256i load(const std::uint64_t* p) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(p)); }
    static std::uint32_t common(const std::uint64_t* a, const std::uint64_t* b, const std::uint64_t* c,
                                std::size_t words) {
        constexpr std::size_t kWordsPerByteSum = 4 * 31;  // a byte of the running count gains at most 8 a step
        const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3,
                                               1, 2, 2, 3, 2, 3, 3, 4);
        const __m256i low = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
        __m256i total = zero;
        for (std::size_t w = 0; w < words;) {
            const std::size_t end = words - w < kWordsPerByteSum ? words : w + kWordsPerByteSum;
            __m256i sum = zero;
            for (; w < end; w += 4) {
                const __m256i rows = _mm256_and_si256(_mm256_and_si256(load(a + w), load(b + w)), load(c + w));
                sum = _mm256_add_epi8(sum, _mm256_shuffle_epi8(table, _mm256_and_si256(rows, low)));
                sum =
                    _mm256_add_epi8(sum, _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(rows, 4), low)));
            }
            total = _mm256_add_epi64(total, _mm256_sad_epu8(sum, zero));
        }
        const __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
        return static_cast<std::uint32_t>(_mm_cvtsi128_si64(pair) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(pair, pair)));
    }
};

}  // namespace

void count_intersections_avx2(const IntersectionQuery& query) { count_intersections<Avx2Bits>(query); }

}  // namespace mnlearn
