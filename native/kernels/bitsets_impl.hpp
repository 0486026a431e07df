// Sets, written once over a vector type and compiled once per instruction set.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#include <cstring>

#include "kernels/bitsets.hpp"

namespace mnlearn {
namespace {

template <class V> inline void split_words(const SplitQuery& q, std::size_t w, std::size_t bytes) {
    V whole{}, state{};
    std::memcpy(&whole, q.whole + w, bytes);
    std::memcpy(&state, q.state + w, bytes);
    const V inside = whole & state, outside = whole & ~state;
    std::memcpy(q.inside + w, &inside, bytes);
    std::memcpy(q.outside + w, &outside, bytes);
}

template <class V> inline void split_set(const SplitQuery& q) {
    constexpr std::size_t kTogether = sizeof(V) / 8;
    std::size_t w = 0;
    for (; w + kTogether <= q.words; w += kTogether) split_words<V>(q, w, sizeof(V));
    if (w < q.words) split_words<V>(q, w, 8 * (q.words - w));
}

// Four at a time: how many bits a word has is hard to foretell, that it has no more than four, or eight, is not.
inline std::uint32_t* list_by_fours(const std::uint64_t* set, std::size_t words, std::uint32_t* rows) {
    for (std::size_t w = 0; w < words; ++w) {
        std::uint64_t left = set[w];
        const int size = __builtin_popcountll(left);
        for (int done = 0; done < size; done += 4)
            for (int k = 0; k < 4; ++k) {
                rows[done + k] = static_cast<std::uint32_t>(64 * w) +
                                 static_cast<std::uint32_t>(__builtin_ctzll(left | std::uint64_t{1} << 63));
                left &= left - 1;
            }
        rows += size;
    }
    return rows;
}

}  // namespace
}  // namespace mnlearn
