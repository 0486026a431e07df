// The bit-plane count in plain C++: the path of every processor, and the one the others are compared with.
#pragma once

#include "kernels/planes.hpp"
#include "kernels/transpose.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace planes {

// Adds neighbours pairwise; written out so that compilers vectorise a loop of them.
inline std::uint64_t popcount(std::uint64_t v) {
    v = v - ((v >> 1) & 0x5555555555555555u);
    v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    v += v >> 8;  // byte sums stay below 256, so no multiplication is needed
    v += v >> 16;
    v += v >> 32;
    return v & 0x7f;
}

std::int64_t make_plane(const NewPlane& plane) {
    std::int64_t total = 0;
    for (std::size_t word = 0; word < plane.n_words; ++word) {
        const std::uint64_t rows = rows_with(plane.codes + 64 * word, plane.state);
        plane.out[word * kLanes] = rows;
        total += static_cast<std::int64_t>(popcount(rows));
    }
    return total;
}

std::int64_t count_bits(const std::uint64_t* set, std::size_t words) {
    std::uint64_t total = 0;
    for (std::size_t w = 0; w < words; ++w) total += popcount(set[w]);
    return static_cast<std::int64_t>(total);
}

std::uint64_t probe_popcount(std::size_t rounds) {
    std::uint64_t states[kLanes] = {1, 2, 3, 4, 5, 6, 7, 8}, sums[kLanes] = {}, rows = 0x123456789abcdef;
    for (std::size_t step = 0; step < 16 * rounds; ++step) {
        forget_origin(rows);  // else the compiler would count once and multiply
        for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += popcount(states[lane] & rows);
    }
    for (const std::uint64_t sum : sums) rows += sum;
    return rows;
}

void count_planes(const PlaneQuery& q) {
    const std::size_t stride = kLanes * q.n_groups;
    for (std::size_t g = 0; g < q.n_groups; ++g) {
        const std::uint64_t* planes = q.planes + static_cast<std::size_t>(q.groups[g]) * q.words * kLanes;
        for (std::size_t s = 0; s < q.n_sets; ++s) {
            const std::uint64_t* set = q.sets + s * q.words;
            std::uint64_t sums[kLanes] = {};
            for (std::size_t w = 0; w < q.words; ++w) {
                const std::uint64_t rows = set[w];
                for (std::size_t lane = 0; lane < kLanes; ++lane)
                    sums[lane] += popcount(planes[w * kLanes + lane] & rows);
            }
            std::uint32_t* out = q.counts + s * stride + g * kLanes;
            for (std::size_t lane = 0; lane < kLanes; ++lane) out[lane] = static_cast<std::uint32_t>(sums[lane]);
        }
    }
}

}  // namespace planes
}  // namespace
}  // namespace mnlearn
