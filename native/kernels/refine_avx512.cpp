// Parting row lists with AVX-512: many rows at a time look into one window of a plane (VBMI), then are compressed
// (VBMI2). gcc 12 warns of the unmasked forms.
#include <immintrin.h>

#include "kernels/refine_impl.hpp"

namespace mnlearn {
namespace {

// A vector of row numbers of two bytes, and how it looks into a plane: 128 bytes of it, byte by byte.
struct Short {
    using Row = std::uint16_t;
    using Mask = __mmask32;
    static constexpr std::size_t kLanes = 32;

    static __m512i places(__m512i rows) { return _mm512_maskz_srli_epi16(~Mask{0}, rows, 3); }
    static __m512i bits(__m512i rows) {
        const __m512i within = _mm512_and_si512(rows, _mm512_set1_epi16(7));
        return _mm512_maskz_sllv_epi16(~Mask{0}, _mm512_set1_epi16(1), within);
    }
    // Which of these lanes the window that begins with the place of `row` covers, and of those which are in the plane.
    static Mask look(__m512i places, __m512i bits, Mask lanes, Row row, const std::uint64_t* plane, Mask& covered) {
        const auto* window = reinterpret_cast<const std::uint8_t*>(plane) + (row >> 3);
        const __m512i at = _mm512_sub_epi16(places, _mm512_set1_epi16(static_cast<short>(row >> 3)));
        const __m512i found = _mm512_maskz_permutex2var_epi8(~std::uint64_t{0}, _mm512_loadu_si512(window), at,
                                                             _mm512_loadu_si512(window + 64));
        covered = _mm512_mask_cmplt_epu16_mask(lanes, at, _mm512_set1_epi16(128));
        return _mm512_mask_test_epi16_mask(covered, found, bits);
    }
    static __m512i compress(Mask lanes, __m512i rows) { return _mm512_maskz_compress_epi16(lanes, rows); }
};

// The same for row numbers of four bytes: 32 words of four bytes.
struct Long {
    using Row = std::uint32_t;
    using Mask = __mmask16;
    static constexpr std::size_t kLanes = 16;

    static __m512i places(__m512i rows) { return _mm512_maskz_srli_epi32(0xffff, rows, 5); }
    static __m512i bits(__m512i rows) {
        const __m512i within = _mm512_and_si512(rows, _mm512_set1_epi32(31));
        return _mm512_maskz_sllv_epi32(0xffff, _mm512_set1_epi32(1), within);
    }
    static Mask look(__m512i places, __m512i bits, Mask lanes, Row row, const std::uint64_t* plane, Mask& covered) {
        const auto* window = reinterpret_cast<const unsigned char*>(plane) + 4 * std::size_t{row >> 5};
        const __m512i at = _mm512_sub_epi32(places, _mm512_set1_epi32(static_cast<int>(row >> 5)));
        const __m512i found =
            _mm512_maskz_permutex2var_epi32(0xffff, _mm512_loadu_si512(window), at, _mm512_loadu_si512(window + 64));
        covered = _mm512_mask_cmplt_epu32_mask(lanes, at, _mm512_set1_epi32(32));
        return _mm512_mask_test_epi32_mask(covered, found, bits);
    }
    static __m512i compress(Mask lanes, __m512i rows) { return _mm512_maskz_compress_epi32(lanes, rows); }
};

// Which of these rows, in any order, are in the plane. Ascending rows close together need one window.
template <class Form>
typename Form::Mask in_plane(const typename Form::Row* rows, __m512i numbers, typename Form::Mask lanes,
                             const std::uint64_t* plane) {
    const __m512i places = Form::places(numbers), bits = Form::bits(numbers);
    typename Form::Mask found = 0, covered = 0;
    while (lanes) {
        found |= Form::look(places, bits, lanes, rows[__builtin_ctz(lanes)], plane, covered);
        lanes &= static_cast<typename Form::Mask>(~covered);
    }
    return found;
}

template <class Form> void put(typename Form::Row*& to, typename Form::Mask lanes, __m512i rows) {
    _mm512_storeu_si512(to, Form::compress(lanes, rows));
    to += __builtin_popcount(lanes);
}

template <class Form>
void part_by_windows(const RefineQuery<typename Form::Row>& q, const typename Form::Row* rows, std::size_t n,
                     typename Form::Row** parts) {
    using Mask = typename Form::Mask;
    typename Form::Row *first = parts[0], *last = parts[q.card - 1];
    for (std::size_t k = 0; k < n; k += Form::kLanes) {
        const __m512i numbers = _mm512_loadu_si512(rows + k);
        Mask left = static_cast<Mask>(n - k < Form::kLanes ? (Mask{1} << (n - k)) - 1 : ~Mask{0});
        for (std::uint32_t a = 0; a + 1 < q.card; ++a) {
            const Mask found = in_plane<Form>(rows + k, numbers, left, q.planes + a * q.stride);
            put<Form>(a == 0 ? first : parts[a], found, numbers);
            left &= static_cast<Mask>(~found);
        }
        put<Form>(last, left, numbers);
    }
    parts[0] = first, parts[q.card - 1] = last;
}

// Rows far apart would need a window each few: then row by row.
template <class Form> void refine(const RefineQuery<typename Form::Row>& query) {
    constexpr std::size_t kFar = 96;  // rows of the data to one of the list
    refine_lists(query, [](const auto& q, const auto* rows, std::size_t n, auto** parts) {
        if (q.n_rows > kFar * n)
            part_row_by_row(q, rows, n, parts);
        else
            part_by_windows<Form>(q, rows, n, parts);
    });
}

}  // namespace

void refine_short_avx512(const RefineQuery<std::uint16_t>& query) { refine<Short>(query); }
void refine_long_avx512(const RefineQuery<std::uint32_t>& query) { refine<Long>(query); }

}  // namespace mnlearn
