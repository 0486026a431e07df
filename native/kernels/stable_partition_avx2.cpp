// Sifting eight rows at a time: a table says for each pattern of bits where the bytes go. (Gathering bits by pext would
// do as well on some processors; others take a hundred times as long for it.)
#include "kernels/stable_partition_impl.hpp"

namespace mnlearn {
namespace {

// Per pattern: the places of the zeros, and from the eighth byte on the places of the ones.
struct Moves {
    alignas(16) std::uint8_t of[256][16];
};
constexpr Moves make_moves() {
    Moves moves{};
    for (unsigned pattern = 0; pattern < 256; ++pattern) {
        unsigned zeros = 0, ones = 8;
        for (std::uint8_t row = 0; row < 8; ++row) moves.of[pattern][pattern >> row & 1 ? ones++ : zeros++] = row;
        for (; zeros < 8; ++zeros) moves.of[pattern][zeros] = 0x80;
        for (; ones < 16; ++ones) moves.of[pattern][ones] = 0x80;
    }
    return moves;
}
constexpr Moves kMoves = make_moves();

struct Rows {
    __m256i half[2] = {};

    [[gnu::always_inline]] void add(std::uint64_t word, std::size_t lane) {
        const __m256i byte_of_row = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
        const __m256i bit_of_row = _mm256_set1_epi64x(static_cast<std::int64_t>(0x8040201008040201));
        const __m256i bit = _mm256_set1_epi8(static_cast<char>(1u << lane));
        for (int k = 0; k < 2; ++k) {
            const __m256i words = _mm256_set1_epi32(static_cast<int>(word >> 32 * k));
            const __m256i spread = _mm256_and_si256(_mm256_shuffle_epi8(words, byte_of_row), bit_of_row);
            half[k] = _mm256_or_si256(half[k], _mm256_and_si256(_mm256_cmpeq_epi8(spread, bit_of_row), bit));
        }
    }
    [[gnu::always_inline]] void store(std::uint8_t* to) const {
        for (int k = 0; k < 2; ++k) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 32 * k), half[k]);
    }
};

template <bool ONES> void move_rows(const PartitionQuery& q, std::uint8_t* to) {
    const auto* by = reinterpret_cast<const std::uint8_t*>(q.by);
    for (std::size_t row = 0; row < q.n_rows; row += 8) {
        const std::size_t left = q.n_rows - row;
        const unsigned valid = left >= 8 ? 0xffu : (1u << left) - 1, pattern = by[row / 8] & valid;
        const __m128i rows = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(q.from + row));
        const __m128i moves = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kMoves.of[pattern] + (ONES ? 8 : 0)));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(rows, moves));
        to += count_of(ONES ? pattern : ~pattern & valid);
    }
}

}  // namespace

void pack_avx2(const PackQuery& query) { pack<Rows>(query); }

// The zeros run over the ones by up to eight bytes, so they go first.
void stable_partition_avx2(const PartitionQuery& query) {
    move_rows<false>(query, query.to);
    move_rows<true>(query, query.to + query.n_zeros);
}

void count_runs_avx2(const RunQuery& query) {
    const __m256i bit = _mm256_set1_epi8(static_cast<char>(1u << query.lane));
    const auto half = [bit](const std::uint8_t* rows) {
        const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows));
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit)));
    };
    count_runs(query, [half](const std::uint8_t* rows) {
        return half(rows) | static_cast<std::uint64_t>(half(rows + 32)) << 32;
    });
}

std::size_t pick_varied_avx2(const VariedRunQuery& q) {
    std::size_t n = 0;
    for (std::size_t k = 0; k < q.n_strata; ++k) {
        const std::uint64_t counts = pair_of(q.below, q.order[k]);
        const std::uint32_t n0 = q.sizes[2 * k], n1 = q.sizes[2 * k + 1],
                            zeros = static_cast<std::uint32_t>(counts + (counts >> 32));
        __builtin_memcpy(q.counts + 2 * n, &counts, sizeof counts);
        __builtin_memcpy(q.varied_sizes + 2 * n, q.sizes + 2 * k, sizeof counts);
        n += (n0 != 0) & (n1 != 0) & (zeros != 0) & (zeros != n0 + n1);
    }
    return n;
}

}  // namespace mnlearn
