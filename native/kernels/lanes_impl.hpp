// The count in lanes, written once over 16-byte vectors, which every processor has, and compiled once per
// instruction set.
#pragma once

#include <cstring>

#include "kernels/lanes.hpp"
#include "kernels/scratch.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace lanes {

using Bytes = Vec<std::uint8_t, 16>;
using HalfBytes = Vec<std::uint8_t, 8>;
using Counters = Vec<std::uint16_t, 8>;

constexpr std::size_t kRowsTogether = 16;

inline Bytes low(Bytes a, Bytes b) { return shuffled<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b); }
inline Bytes high(Bytes a, Bytes b) {
    return shuffled<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b);
}

// 1 where the lane counts the row, for sixteen rows. The last rows of all are copied to where sixteen can be read.
inline Bytes indicators(const Lane& lane, std::size_t row, std::size_t n) {
    if (lane.all) return Bytes{} + std::uint8_t{1};
    if (!lane.codes) return Bytes{};
    Bytes codes = Bytes{} - lane.state - std::uint8_t{1};  // none of them the state
    std::memcpy(&codes, lane.codes + row, n);
    return reinterpret_cast<Bytes>(codes == Bytes{} + lane.state) & std::uint8_t{1};
}

// From eight lanes of sixteen rows to sixteen rows of eight lanes, two rows a vector.
inline void transpose(Bytes* v) {
    const Bytes a0 = low(v[0], v[4]), a1 = low(v[1], v[5]), a2 = low(v[2], v[6]), a3 = low(v[3], v[7]);
    const Bytes b0 = high(v[0], v[4]), b1 = high(v[1], v[5]), b2 = high(v[2], v[6]), b3 = high(v[3], v[7]);
    const Bytes c0 = low(a0, a2), c1 = low(a1, a3), c2 = high(a0, a2), c3 = high(a1, a3);
    const Bytes d0 = low(b0, b2), d1 = low(b1, b3), d2 = high(b0, b2), d3 = high(b1, b3);
    v[0] = low(c0, c1), v[1] = high(c0, c1), v[2] = low(c2, c3), v[3] = high(c2, c3);
    v[4] = low(d0, d1), v[5] = high(d0, d1), v[6] = low(d2, d3), v[7] = high(d2, d3);
}

inline void add_row(Counters* counters, std::uint32_t set, const void* indicator_bytes) {
    HalfBytes bytes;
    std::memcpy(&bytes, indicator_bytes, sizeof bytes);
    counters[set] += converted<Counters>(bytes);
}

// Rows [begin, end), fewer than 2^16 of them: no counter overflows.
inline void count_rows(const LaneQuery& q, std::size_t begin, std::size_t end, Counters* counters) {
    Bytes v[kCountLanes];
    std::size_t row = begin;
    for (; row + kRowsTogether <= end; row += kRowsTogether) {
        for (std::size_t lane = 0; lane < kCountLanes; ++lane) v[lane] = indicators(q.lanes[lane], row, kRowsTogether);
        transpose(v);
        const auto* bytes = reinterpret_cast<const unsigned char*>(v);
        for (std::size_t k = 0; k < kRowsTogether; ++k) add_row(counters, q.sets[row + k], bytes + 8 * k);
    }
    if (row == end) return;
    for (std::size_t lane = 0; lane < kCountLanes; ++lane) v[lane] = indicators(q.lanes[lane], row, end - row);
    transpose(v);
    for (std::size_t k = 0; row + k < end; ++k)
        add_row(counters, q.sets[row + k], reinterpret_cast<const unsigned char*>(v) + 8 * k);
}

inline void count_lanes(const LaneQuery& q) {
    constexpr std::size_t kMostRows = 65'520;  // a multiple of sixteen below 2^16
    const Scratch<Counters> counters(q.n_sets);
    for (std::size_t begin = 0; begin < q.n_rows; begin += kMostRows) {
        const std::size_t end = q.n_rows - begin < kMostRows ? q.n_rows : begin + kMostRows;
        count_rows(q, begin, end, counters.data());
        for (std::size_t set = 0; set < q.n_sets; ++set) {
            for (std::size_t lane = 0; lane < kCountLanes; ++lane)
                q.counts[set * kCountLanes + lane] += counters[set][lane];
            counters[set] = Counters{};
        }
    }
}

template <class Code>
inline void append(std::uint16_t* __restrict keys, const Code* __restrict codes, std::uint16_t card, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) keys[k] = static_cast<std::uint16_t>(keys[k] * card + codes[k]);
}

// Block by block: the keys stay in the first cache while all digits are appended.
inline void make_keys(const KeyQuery& q) {
    constexpr std::size_t kKeysTogether = 4096;
    for (std::size_t begin = 0; begin < q.n_rows; begin += kKeysTogether) {
        const std::size_t n = smaller(kKeysTogether, q.n_rows - begin);
        for (std::size_t d = 0; d < q.n_digits; ++d) {
            const auto card = static_cast<std::uint16_t>(q.digits[d].card);  // 2^16 itself only for a single digit
            if (q.digits[d].narrow)
                append(q.keys + begin, q.digits[d].narrow + begin, card, n);
            else
                append(q.keys + begin, q.digits[d].wide + begin, card, n);
        }
    }
}

}  // namespace lanes
}  // namespace
}  // namespace mnlearn
