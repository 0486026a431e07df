// What sifting has in common, compiled once per instruction set.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#include <immintrin.h>

#include "kernels/stable_partition.hpp"

namespace mnlearn {
namespace {

inline unsigned count_of(std::uint64_t word) { return static_cast<unsigned>(__builtin_popcountll(word)); }

// Rows::make(word, lane): 64 bytes, bit `lane` of each as the word says.
template <class Rows> [[gnu::always_inline]] inline void pack(const PackQuery& q) {
    static constexpr std::uint64_t kNone = 0;
    const std::uint64_t* sets[kSiftLanes];
    std::size_t strides[kSiftLanes];
    for (std::size_t k = 0; k < kSiftLanes; ++k) {
        sets[k] = k < q.n_sets ? q.sets[k] : &kNone;
        strides[k] = k < q.n_sets ? q.stride : 0;
    }
    for (std::size_t row = 0; row < q.n_rows; row += 64) {
        Rows rows;
        for (std::size_t k = 0; k < kSiftLanes; ++k) {
            rows.add(*sets[k], k);
            sets[k] += strides[k];
        }
        rows.store(q.to + row);
    }
    for (std::size_t k = (q.n_rows + 63) / 64 * 64; k < q.n_rows + kSiftSpare; ++k) q.to[k] = 0;
}

// lane(rows): the bits of 64 rows.
template <class Lane> [[gnu::always_inline]] inline void count_runs(const RunQuery& q, Lane lane) {
    std::uint32_t total = 0;
    const std::size_t words = (q.n_rows + 63) / 64;
    for (std::size_t w = 0; w < words; ++w) {
        q.room[w] = total;
        q.set[w] = lane(q.rows + 64 * w);
        total += count_of(q.set[w]);
    }
    q.room[words] = total;
    q.set[words] = 0;
    for (std::size_t k = 0; k < q.n_ends; ++k) {
        const std::size_t word = q.ends[k] / 64;
        q.below[k] = q.room[word] + count_of(_bzhi_u64(q.set[word], q.ends[k] % 64));
    }
}

// The two counts of a stratum in one number. What is below ascends, so neither difference runs over into the other.
[[gnu::always_inline]] inline std::uint64_t pair_of(const std::uint32_t* below, std::size_t stratum) {
    std::uint64_t begins, ends;
    __builtin_memcpy(&begins, below + 2 * stratum, sizeof begins);
    __builtin_memcpy(&ends, below + 2 * stratum + 1, sizeof ends);
    return ends - begins;
}

}  // namespace
}  // namespace mnlearn
