// Bits, written once over vectors of words that compilers keep in registers, and compiled once per instruction set.
#pragma once

#include <cstring>

#include "kernels/binary_gibbs.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace binary_gibbs {

template <std::size_t W> using Words = Vec<std::uint64_t, W>;

// The generators of all words. Vectors go by reference: how they would go by value depends on the instruction set.
template <std::size_t W> struct Xoshiro {
    Words<W> s0, s1, s2, s3;

    explicit Xoshiro(const std::uint64_t* from) {
        std::memcpy(&s0, from, sizeof s0);
        std::memcpy(&s1, from + W, sizeof s1);
        std::memcpy(&s2, from + 2 * W, sizeof s2);
        std::memcpy(&s3, from + 3 * W, sizeof s3);
    }
    void save(std::uint64_t* to) const {
        std::memcpy(to, &s0, sizeof s0);
        std::memcpy(to + W, &s1, sizeof s1);
        std::memcpy(to + 2 * W, &s2, sizeof s2);
        std::memcpy(to + 3 * W, &s3, sizeof s3);
    }
    void next(Words<W>& number) {
        const Words<W> sum = s0 + s3, shifted = s1 << 17;
        number = ((sum << 23) | (sum >> 41)) + s0;
        s2 ^= s0;
        s3 ^= s1;
        s1 ^= s2;
        s0 ^= s3;
        s2 ^= shifted;
        s3 = (s3 << 45) | (s3 >> 19);
    }
};

// Which rows have which configuration of the neighbours: a mask for each.
template <std::size_t W> inline std::size_t make_masks(const BinaryUpdate& u, Words<W>* masks) {
    std::size_t n = 1;
    masks[0] = ~Words<W>{};
    for (std::size_t o = 0; o < u.n_around; ++o) {
        Words<W> values;
        std::memcpy(&values, u.states + static_cast<std::size_t>(u.around[o]) * W, sizeof values);
        for (std::size_t c = n; c-- > 0;) {
            const Words<W> mask = masks[c];
            masks[2 * c + 1] = mask & values;
            masks[2 * c] = mask & ~values;
        }
        n *= 2;
    }
    return n;
}

// Bit k of every row's threshold.
template <std::size_t W>
inline void find_level(const BinaryUpdate& u, const Words<W>* masks, std::size_t n, int k, Words<W>& level) {
    level = Words<W>{};
    for (std::size_t c = 0; c < n; ++c)  // no branch: it would be unpredictable
        level |= masks[c] & (std::uint64_t{0} - ((u.thresholds[c] >> k) & 1));
    for (std::size_t row = 0; u.lanes && row < 64 * W; ++row)
        level[row / 64] |= std::uint64_t{(u.lanes[row] >> k) & 1} << (row % 64);
}

template <std::size_t W> inline void update_words(const BinaryUpdate& u) {
    Words<W> masks[std::size_t{1} << kMostAroundBits], level, number, reached{}, open = ~Words<W>{};
    const std::size_t n = u.lanes ? 0 : make_masks<W>(u, masks);
    Xoshiro<W> random(u.random);
    std::uint64_t any = 1;
    for (int k = 31; k >= 0 && any; --k) {
        random.next(number);
        find_level<W>(u, masks, n, k, level);
        reached |= open & number & ~level;
        open &= ~(number ^ level);
        any = 0;
        for (std::size_t w = 0; w < W; ++w) any |= open[w];
    }
    random.save(u.random);
    reached |= open;
    std::memcpy(u.states + u.x * W, &reached, sizeof reached);
}

inline void update_binary(const BinaryUpdate& u) {
    if (u.n_words == 8) return update_words<8>(u);
    if (u.n_words == 4) return update_words<4>(u);
    if (u.n_words == 2) return update_words<2>(u);
    return update_words<1>(u);
}

}  // namespace binary_gibbs
}  // namespace
}  // namespace mnlearn
