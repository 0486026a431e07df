// Sifting 64 rows at a time: the processor gathers the bits that a mask selects in one step.
#include <immintrin.h>

#include "kernels/sift.hpp"

namespace mnlearn {
namespace {

// Bits appended one piece after the other to words in memory.
struct Stream {
    std::uint64_t* place;
    std::uint64_t pending;  // the bits of the word at `place` so far
    unsigned filled;

    [[gnu::always_inline]] void append(std::uint64_t bits, unsigned count) {
        const std::uint64_t word = pending | bits << filled;
        *place = word;
        const unsigned total = filled + count;
        const bool full = total >= 64;
        // What did not fit, shifted in two steps: there may be none of it, and no shift is by 64.
        pending = full ? (bits >> 1) >> (63 - filled) : word;
        place += full;
        filled = total & 63;
    }
};

[[gnu::always_inline]] inline void append(std::uint64_t set, std::uint64_t by, std::uint64_t valid, Stream& zeros,
                                          Stream& ones) {
    const auto n_ones = static_cast<unsigned>(_mm_popcnt_u64(by));
    const auto n_all = static_cast<unsigned>(_mm_popcnt_u64(valid));
    zeros.append(_pext_u64(set, ~by & valid), n_all - n_ones);
    ones.append(_pext_u64(set, by), n_ones);
}

}  // namespace

void sift_bmi2(const SiftQuery& q) {
    const std::size_t whole = q.n_rows / 64, left = q.n_rows % 64;
    Stream zeros{q.to, 0, 0}, ones{q.to + q.n_zeros / 64, 0, static_cast<unsigned>(q.n_zeros % 64)};
    std::uint64_t* const shared = ones.place;
    std::uint64_t first = 0;  // the word that both share is kept here until the zeros are done
    bool kept = false;
    for (std::size_t w = 0; w < whole; ++w) {
        append(q.from[w], q.by[w], ~std::uint64_t{0}, zeros, ones);
        if (!kept && ones.place != shared) {
            first = *shared;
            kept = true;
        }
    }
    if (left) append(q.from[whole], q.by[whole], (std::uint64_t{1} << left) - 1, zeros, ones);
    if (!kept && ones.place != shared) {
        first = *shared;
        kept = true;
    }
    *ones.place = ones.pending;
    if (!kept) first = ones.pending;
    *shared = first | zeros.pending;
}

void count_runs_bmi2(const RunQuery& q) {
    std::uint32_t total = 0;
    for (std::size_t w = 0; w < q.words; ++w) {
        q.room[w] = total;
        total += static_cast<std::uint32_t>(_mm_popcnt_u64(q.set[w]));
    }
    q.room[q.words] = total;
    for (std::size_t k = 0; k < q.n_ends; ++k) {
        const std::size_t word = q.ends[k] / 64;
        const std::uint64_t bits = word < q.words ? q.set[word] : 0;
        q.below[k] = q.room[word] + static_cast<std::uint32_t>(_mm_popcnt_u64(_bzhi_u64(bits, q.ends[k] % 64)));
    }
}

}  // namespace mnlearn
