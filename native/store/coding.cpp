#include "store/coding.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace mnlearn {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101, kTops = 0x8080808080808080;
constexpr std::size_t kPlaneLanes = 8, kWord = 64;

// Which of eight codes are equal to one: eight bits, the first code's lowest.
std::uint64_t equal_bits(std::uint64_t eight, std::uint64_t wanted) {
    const std::uint64_t other = eight ^ wanted;  // a byte is 0 where they agree
    const std::uint64_t agree = ~(((other & ~kTops) + ~kTops) | other) & kTops;
    return (agree >> 7) * 0x0102040810204080 >> 56;  // gathers the top bits; no two of the products meet
}

// The rows among up to 64 that have one state; rows beyond the last have none.
std::uint64_t some_rows(const std::uint8_t* codes, std::size_t n, std::uint8_t state) {
    const std::uint64_t wanted = kOnes * state;
    std::uint64_t bits = 0;
    for (std::size_t k = 0; k < n; k += 8) {
        std::uint64_t eight = ~wanted;
        std::memcpy(&eight, codes + k, std::min<std::size_t>(n - k, 8));
        bits |= equal_bits(eight, wanted) << k;
    }
    return bits;
}

#ifdef __SSE2__  // every x86-64 has it
std::uint64_t all_rows(const std::uint8_t* codes, std::uint8_t state) {
    const __m128i wanted = _mm_set1_epi8(static_cast<char>(state));
    std::uint64_t bits = 0;
    for (std::size_t k = 0; k < kWord; k += 16) {
        const __m128i found = _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + k)), wanted);
        bits |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(found))) << k;
    }
    return bits;
}
#else
std::uint64_t all_rows(const std::uint8_t* codes, std::uint8_t state) { return some_rows(codes, kWord, state); }
#endif

}  // namespace

void recode(std::span<std::uint8_t> codes, CodeTable table) {
    for (std::uint8_t& code : codes) code = table[code];
}

void add_planes(std::span<const std::uint8_t> codes, std::uint8_t first, std::size_t n, std::uint64_t* words,
                std::size_t lane, std::int64_t* totals) {
    for (std::size_t start = 0; start < codes.size(); start += kWord, words += kPlaneLanes) {
        const std::size_t rows = std::min(kWord, codes.size() - start);
        for (std::size_t k = 0; k < n; ++k) {
            const auto state = static_cast<std::uint8_t>(first + k);
            const std::uint8_t* from = codes.data() + start;
            const std::uint64_t bits = rows == kWord ? all_rows(from, state) : some_rows(from, rows, state);
            words[lane + k] = bits;
            totals[lane + k] += std::popcount(bits);
        }
    }
}

}  // namespace mnlearn
