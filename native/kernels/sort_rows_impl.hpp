// Sorting row lists with AVX-512: numbers are compressed in registers and stored whole (VBMI2).
//
// Two bits of the key part the rows of a set while they still stand in the order of the bits, so that these bits are
// the masks to compress by. The other bits go with the rows and part each list again, in four or in two.
#pragma once

#include <immintrin.h>

#include "kernels/sort_rows.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace sort_rows {

constexpr int kBelow = 3;  // bits of an entry below the row

struct List {
    std::uint16_t *begin, *end;
    std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

inline void put(std::uint16_t*& to, __mmask32 which, __m512i numbers) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi16(which, numbers));
    to += count_ones(which);
}

// gcc 12 warns of the unmasked form.
template <bool ROWS> __m512i finished(__m512i entries) {
    return ROWS ? _mm512_maskz_srli_epi16(~__mmask32{0}, entries, kBelow) : entries;
}

// To 2^BITS parts, by where the bits of the key are clear.
template <int BITS>
MNLEARN_INLINE inline void put_parts(List* to, __mmask32 all, __mmask32 low, __mmask32 high, __m512i numbers) {
    if constexpr (BITS == 0) put(to[0].end, all, numbers);
    if constexpr (BITS == 1) {
        put(to[0].end, all & low, numbers);
        put(to[1].end, all & ~low, numbers);
    }
    if constexpr (BITS == 2) {
        put(to[0].end, all & high & low, numbers);
        put(to[1].end, all & high & ~low, numbers);
        put(to[2].end, all & ~high & low, numbers);
        put(to[3].end, all & ~(high | low), numbers);
    }
}

// The rows of a set by the BITS highest bits of their keys; the LEFT others go with them.
template <int BITS, int LEFT> void part_set(const SortQuery& q, const std::uint64_t* set, List* lists) {
    alignas(64) std::uint16_t counting[32];
    for (std::size_t k = 0; k < 32; ++k) counting[k] = static_cast<std::uint16_t>(k << kBelow);
    __m512i plain = _mm512_load_si512(counting);
    const __m512i step = _mm512_set1_epi16(32 << kBelow);
    const std::uint64_t *low = BITS > 0 ? q.planes[LEFT] : nullptr, *high = BITS > 1 ? q.planes[LEFT + 1] : nullptr;
    List to[1 << BITS];
    for (int k = 0; k < 1 << BITS; ++k) to[k] = lists[k];
    for (std::size_t w = 0; w < q.words; ++w)
        for (int half = 0; half < 64; half += 32) {
            const auto masked = [&](const std::uint64_t* bits) { return static_cast<__mmask32>(bits[w] >> half); };
            __m512i entries = plain;
            for (int bit = 0; bit < LEFT; ++bit)
                entries = _mm512_mask_add_epi16(entries, masked(q.planes[bit]), entries,
                                                _mm512_set1_epi16(static_cast<short>(1 << bit)));
            put_parts<BITS>(to, masked(set), BITS > 0 ? masked(low) : 0, BITS > 1 ? masked(high) : 0,
                            finished<LEFT == 0>(entries));
            plain = _mm512_add_epi16(plain, step);
        }
    for (int k = 0; k < 1 << BITS; ++k) lists[k] = to[k];
}

// A list of entries by BITS bits of their keys, above the LEFT lowest.
template <int BITS, int LEFT> void part_list(const List& from, List* lists) {
    const __m512i low_bit = _mm512_set1_epi16(1 << LEFT), high_bit = _mm512_set1_epi16(2 << LEFT);
    List to[1 << BITS];
    for (int k = 0; k < 1 << BITS; ++k) to[k] = lists[k];
    for (std::size_t k = 0, n = from.size(); k < n; k += 32) {
        const __m512i entries = _mm512_loadu_si512(from.begin + k);
        const __mmask32 all = n - k < 32 ? (__mmask32{1} << (n - k)) - 1 : ~__mmask32{0};
        const __mmask32 low = _mm512_test_epi16_mask(entries, low_bit);
        const __mmask32 high = BITS > 1 ? _mm512_test_epi16_mask(entries, high_bit) : 0;
        put_parts<BITS>(to, all, low, high, finished<LEFT == 0>(entries));
    }
    for (int k = 0; k < 1 << BITS; ++k) lists[k] = to[k];
}

class Sorter {
public:
    explicit Sorter(const SortQuery& query) : q_(query), next_(query.rows) {}

    // LEFT bits of the key are left after the first step, which takes BITS of them.
    template <int BITS, int LEFT> void run() {
        for (std::size_t s = 0; s < q_.n_sets; ++s) {
            const std::uint64_t* set = q_.sets + s * q_.stride;
            List lists[1 << BITS];
            if constexpr (LEFT == 0) {
                std::size_t size = 0;
                for (std::size_t w = 0; w < q_.words; ++w) size += static_cast<std::size_t>(count_ones(set[w]));
                place(lists, 1 << BITS, size);
                part_set<BITS, LEFT>(q_, set, lists);
                finish(lists, 1 << BITS);
            } else {
                for (int k = 0; k < 1 << BITS; ++k) lists[k] = scratch(k);
                part_set<BITS, LEFT>(q_, set, lists);
                for (const List& list : lists) sort<LEFT>(list);
            }
        }
    }

private:
    template <int LEFT> void sort(const List& from) {
        List lists[4];
        if constexpr (LEFT == 3) {
            for (int k = 0; k < 4; ++k) lists[k] = scratch(4 + k);
            part_list<2, 1>(from, lists);
            for (const List& list : lists) sort<1>(list);
        } else {
            place(lists, 1 << LEFT, from.size());
            part_list<LEFT, 0>(from, lists);
            finish(lists, 1 << LEFT);
        }
    }

    List scratch(int k) const {
        std::uint16_t* begin = q_.scratch + static_cast<std::size_t>(k) * (kSortScratch / 8);
        return {begin, begin};
    }
    // Room for n_lists lists, each of which might get all rows.
    void place(List* lists, int n_lists, std::size_t size) {
        for (int k = 0; k < n_lists; ++k, next_ += size + kSortSpill) lists[k] = {next_, next_};
    }
    void finish(const List* lists, int n_lists) {
        for (int k = 0; k < n_lists; ++k, ++list_) {
            q_.lists[list_] = {static_cast<std::uint32_t>(lists[k].begin - q_.rows),
                               static_cast<std::uint32_t>(lists[k].size())};
            for (std::size_t pad = 0; pad < kListStep; ++pad) lists[k].end[pad] = q_.empty;
        }
    }

    const SortQuery& q_;
    std::uint16_t* next_;
    std::size_t list_ = 0;
};

void sort_rows(const SortQuery& query) {
    Sorter sorter(query);
    switch (query.key_bits) {
        case 0:
            return sorter.run<0, 0>();
        case 1:
            return sorter.run<1, 0>();
        case 2:
            return sorter.run<2, 0>();
        case 3:
            return sorter.run<2, 1>();
        case 4:
            return sorter.run<2, 2>();
        default:
            return sorter.run<2, 3>();
    }
}

}  // namespace sort_rows
}  // namespace
}  // namespace mnlearn
