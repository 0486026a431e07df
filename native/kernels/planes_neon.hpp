// The bit-plane count with NEON: the processor counts the bits of each byte, in up to four row sets at a time.
#pragma once

#include "kernels/neon.hpp"
#include "kernels/planes.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace planes {

// SETS row sets against the eight planes of one group: counts(k) are those of the k-th set. Words of a set are STRIDE
// words apart.
template <int SETS, std::size_t STRIDE> struct Tile {
    static constexpr int kParts = 4;  // eight lanes are four registers of two

    uint32x4_t sums[SETS][kParts];

    MNLEARN_INLINE void count(const std::uint64_t* const* sets, const std::uint64_t* group, std::size_t words) {
        for (auto& parts : sums)
            for (uint32x4_t& sum : parts) sum = vdupq_n_u32(0);
        for (std::size_t w = 0; w < words;) {
            const std::size_t end = words - w < neon::kVectorsPerByteSum ? words : w + neon::kVectorsPerByteSum;
            uint8x16_t bytes[SETS][kParts];
            for (auto& parts : bytes)
                for (uint8x16_t& part : parts) part = vdupq_n_u8(0);
            for (; w < end; ++w) {
                uint64x2_t states[kParts];
                for (int p = 0; p < kParts; ++p) states[p] = neon::load(group + w * kLanes + 2 * p);
                for (int k = 0; k < SETS; ++k) {
                    const uint64x2_t rows = vdupq_n_u64(sets[k][w * STRIDE]);
                    for (int p = 0; p < kParts; ++p) neon::add_bits(bytes[k][p], vandq_u64(states[p], rows));
                }
            }
            for (int k = 0; k < SETS; ++k)
                for (int p = 0; p < kParts; ++p) sums[k][p] = vpadalq_u16(sums[k][p], vpaddlq_u8(bytes[k][p]));
        }
    }
    // A lane is two neighbouring sums.
    MNLEARN_INLINE void store(int k, std::uint32_t* counts) const {
        vst1q_u32(counts, vpaddq_u32(sums[k][0], sums[k][1]));
        vst1q_u32(counts + 4, vpaddq_u32(sums[k][2], sums[k][3]));
    }
};

template <int SETS> void count_sets(const PlaneQuery& q, std::size_t s, std::size_t g) {
    const std::uint64_t* sets[SETS];
    for (int k = 0; k < SETS; ++k) sets[k] = q.sets + (s + static_cast<std::size_t>(k)) * q.words;
    Tile<SETS, 1> tile;
    tile.count(sets, q.planes + static_cast<std::size_t>(q.groups[g]) * q.words * kLanes, q.words);
    for (int k = 0; k < SETS; ++k)
        tile.store(k, q.counts + (s + static_cast<std::size_t>(k)) * kLanes * q.n_groups + g * kLanes);
}

void count_planes(const PlaneQuery& q) {
    for (std::size_t g = 0; g < q.n_groups; ++g) {
        std::size_t s = 0;
        for (; s + 4 <= q.n_sets; s += 4) count_sets<4>(q, s, g);
        for (; s + 2 <= q.n_sets; s += 2) count_sets<2>(q, s, g);
        if (s < q.n_sets) count_sets<1>(q, s, g);
    }
}

std::int64_t make_plane(const NewPlane& plane) {
    const uint8x16_t state = vdupq_n_u8(plane.state);
    std::int64_t total = 0;
    for (std::size_t word = 0; word < plane.n_words; ++word) {
        const std::uint8_t* codes = plane.codes + 64 * word;
        const auto with_state = [&](std::size_t k) { return vceqq_u8(vld1q_u8(codes + 16 * k), state); };
        const std::uint64_t rows = neon::bits_of(with_state(0), with_state(1), with_state(2), with_state(3));
        plane.out[word * kLanes] = rows;
        total += count_ones(rows);
    }
    return total;
}

std::int64_t count_bits(const std::uint64_t* set, std::size_t words) {
    const std::size_t whole = words / 8 * 8;
    std::int64_t total = 0;
    // Blocks whose sums fit 32 bits.
    constexpr std::size_t kWordsPerSum = std::size_t{1} << 24;
    for (std::size_t w = 0; w < whole; w += kWordsPerSum) {
        const std::size_t n = whole - w < kWordsPerSum ? whole - w : kWordsPerSum;
        neon::Size size;
        size.add(n / 2, [&](std::size_t k) { return neon::load(set + w + 2 * k); });
        total += size.bits();
    }
    for (std::size_t w = whole; w < words; ++w) total += count_ones(set[w]);
    return total;
}

std::uint64_t probe_popcount(std::size_t rounds) {
    uint64x2_t rows = vdupq_n_u64(0x123456789abcdef);
    uint8x16_t bytes[4] = {};
    for (std::size_t step = 0; step < 16 * rounds; ++step)
        for (uint8x16_t& part : bytes) {
            uint64x2_t states = rows;
            forget_origin_of_vector(states);  // else the compiler would count once and multiply
            neon::add_bits(part, vandq_u64(rows, states));
        }
    for (const uint8x16_t& part : bytes) rows = vpadalq_u32(rows, vpaddlq_u16(vpaddlq_u8(part)));
    return vgetq_lane_u64(rows, 0);
}

}  // namespace planes
}  // namespace
}  // namespace mnlearn
