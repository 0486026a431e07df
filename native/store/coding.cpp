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
constexpr std::size_t kLanes = 8, kWord = 64;

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

template <class Number> bool code_by_distance(std::span<const Number> values, std::int64_t low, std::uint8_t* codes) {
    std::uint64_t any = 0;  // beyond a byte if one of the distances is
    std::uint8_t least = 255;
    for (std::size_t k = 0; k < values.size(); ++k) {
        const auto distance =
            static_cast<std::uint64_t>(static_cast<std::int64_t>(values[k])) - static_cast<std::uint64_t>(low);
        any |= distance;
        codes[k] = static_cast<std::uint8_t>(distance + 1);
        least = std::min(least, codes[k]);
    }
    return any < 256 && least > 0;
}

}  // namespace

template <class Number> bool code_near(std::span<const Number> values, std::int64_t low, std::uint8_t* codes) {
    return code_by_distance(values, low, codes);
}

// In the range of bytes the subtraction is one of bytes: sixteen at a time.
template <> bool code_near(std::span<const std::uint8_t> values, std::int64_t low, std::uint8_t* codes) {
    if (low < 0 || low > 255) return code_by_distance(values, low, codes);
    const auto shift = static_cast<std::uint8_t>(low);
    std::uint8_t lowest = 255, highest = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
        lowest = std::min(lowest, values[k]);
        highest = std::max(highest, values[k]);
        codes[k] = static_cast<std::uint8_t>(values[k] - shift + 1);
    }
    return values.empty() || (lowest >= shift && highest - shift < 255);
}

template bool code_near(std::span<const std::int8_t>, std::int64_t, std::uint8_t*);
template bool code_near(std::span<const std::int16_t>, std::int64_t, std::uint8_t*);
template bool code_near(std::span<const std::int32_t>, std::int64_t, std::uint8_t*);
template bool code_near(std::span<const std::int64_t>, std::int64_t, std::uint8_t*);
template bool code_near(std::span<const std::uint16_t>, std::int64_t, std::uint8_t*);
template bool code_near(std::span<const std::uint32_t>, std::int64_t, std::uint8_t*);

void recode(std::span<std::uint8_t> codes, CodeTable table) {
    for (std::uint8_t& code : codes) code = table[code];
}

void add_planes(std::span<const std::uint8_t> codes, std::uint8_t first, std::size_t n, std::uint64_t* words,
                std::size_t lane, std::int64_t* totals) {
    for (std::size_t start = 0; start < codes.size(); start += kWord, words += kLanes) {
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
