// Sorting row lists with AVX-512: numbers are compressed in registers and stored whole (VBMI2).
#include <immintrin.h>

#include "kernels/sort_rows.hpp"

namespace mnlearn {
namespace {

// Half of the bytes, each as a number of 16 bits. gcc 12 warns of the unmasked forms.
template <int HALF> __m512i widened(__m512i bytes) {
    return _mm512_maskz_cvtepu8_epi16(~__mmask32{0}, _mm512_maskz_extracti64x4_epi64(0xf, bytes, HALF));
}

// The low bytes of all entries, 64 rows at a time: their keys and places.
void make_low_bytes(const SortQuery& q, __m512i* low) {
    alignas(64) std::uint8_t counting[64];
    for (std::size_t k = 0; k < 64; ++k) counting[k] = static_cast<std::uint8_t>(q.key << 6 | k);
    const __m512i plain = _mm512_load_si512(counting);
    for (std::size_t w = 0; w < q.words; ++w) low[w] = plain;
    for (std::size_t p = 0; p < q.n_planes; ++p) {
        const __m512i change = _mm512_set1_epi8(static_cast<char>(q.planes[p].change << 6));
        for (std::size_t w = 0; w < q.words; ++w)
            low[w] = _mm512_xor_si512(low[w], _mm512_maskz_mov_epi8(q.planes[p].bits[w * q.planes[p].step], change));
    }
}

// The entries of a set in ascending order; returns how many. With `step` 64 instead of 256 they are rows.
std::size_t list_entries(const std::uint64_t* set, std::size_t words, const __m512i* low, short step,
                         std::uint16_t* entries) {
    const __m512i next_word = _mm512_set1_epi16(step);
    __m512i word = _mm512_setzero_si512();
    std::uint16_t* next = entries;
    for (std::size_t w = 0; w < words; ++w) {
        const __m512i bytes = _mm512_maskz_compress_epi8(set[w], low[w]);
        const int size = __builtin_popcountll(set[w]);
        _mm512_storeu_si512(next, _mm512_or_si512(widened<0>(bytes), word));
        if (size > 32) _mm512_storeu_si512(next + 32, _mm512_or_si512(widened<1>(bytes), word));
        next += size;
        word = _mm512_add_epi16(word, next_word);
    }
    return static_cast<std::size_t>(next - entries);
}

inline __m512i rows_of(__m512i entries) {
    const __m512i word = _mm512_maskz_srli_epi16(~__mmask32{0}, entries, 2), within = _mm512_set1_epi16(63);
    return _mm512_or_si512(_mm512_and_si512(word, _mm512_set1_epi16(0x3fc0)), _mm512_and_si512(entries, within));
}
inline void put(std::uint16_t*& to, __mmask32 which, __m512i rows) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi16(which, rows));
    to += __builtin_popcount(which);
}
inline __mmask32 first_lanes(std::size_t n) { return n < 32 ? (__mmask32{1} << n) - 1 : ~__mmask32{0}; }

// n entries, in their order, as rows to a list for each key, keys below 2 or 4. The first list takes the place of
// `from`.
void part_in_two(const std::uint16_t* from, std::size_t n, std::uint16_t** to) {
    const __m512i low_bit = _mm512_set1_epi16(0x40);
    for (std::size_t k = 0; k < n; k += 32) {
        const __m512i entries = _mm512_loadu_si512(from + k), rows = rows_of(entries);
        const __mmask32 one = _mm512_test_epi16_mask(entries, low_bit), all = first_lanes(n - k);
        put(to[0], all & ~one, rows);
        put(to[1], all & one, rows);
    }
}
void part_in_four(const std::uint16_t* from, std::size_t n, std::uint16_t** to) {
    const __m512i low_bit = _mm512_set1_epi16(0x40), high_bit = _mm512_set1_epi16(0x80);
    std::uint16_t *a = to[0], *b = to[1], *c = to[2], *d = to[3];
    for (std::size_t k = 0; k < n; k += 32) {
        const __m512i entries = _mm512_loadu_si512(from + k), rows = rows_of(entries);
        const __mmask32 low = _mm512_test_epi16_mask(entries, low_bit), all = first_lanes(n - k);
        const __mmask32 high = _mm512_test_epi16_mask(entries, high_bit);
        put(a, all & ~(high | low), rows);
        put(b, all & ~high & low, rows);
        put(c, all & high & ~low, rows);
        put(d, all & high & low, rows);
    }
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
}

}  // namespace

void sort_rows_avx512(const SortQuery& q) {
    alignas(64) __m512i low[kSortWords];
    make_low_bytes(q, low);
    const std::size_t n_keys = std::size_t{1} << q.key_bits;
    std::uint16_t* next = q.rows;
    for (std::size_t s = 0; s < q.n_sets; ++s) {
        const std::size_t n = list_entries(q.sets + s * q.stride, q.words, low, n_keys == 1 ? 64 : 256, next);
        const std::size_t room = n + kSortSpill;
        std::uint16_t* ends[4] = {next, next + room, next + 2 * room, next + 3 * room};
        if (n_keys == 1) ends[0] += n;
        if (n_keys == 2) part_in_two(next, n, ends);
        if (n_keys == 4) part_in_four(next, n, ends);
        for (std::size_t key = 0; key < n_keys; ++key, next += room) {
            q.starts[s * n_keys + key] = static_cast<std::uint32_t>(next - q.rows);
            q.sizes[s * n_keys + key] = static_cast<std::uint32_t>(ends[key] - next);
            for (int k = 0; k < 4; ++k) ends[key][k] = q.empty;
        }
    }
}

}  // namespace mnlearn
