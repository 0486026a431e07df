// The vertical count, written once over a vector type and compiled once per instruction set.
//
// Bit p of 512 counters stands in "digit" p, a row of 512 bits. Adding rows is then binary addition column by column:
// a carry-save adder takes three bits of the same weight to one of that weight and one of twice the weight. A tree of
// 63 adders swallows 64 rows and leaves a single carry of weight 64 for the higher digits.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#include <bit>
#include <cstring>

#include "kernels/ceilings.hpp"
#include "kernels/vertical.hpp"

namespace mnlearn {
namespace {

constexpr int kTreeDigits = 6;  // 64 rows a tree
constexpr int kMaxDigits = 32;  // lists of fewer than 2^32 rows

template <class V> struct Counter {
    static constexpr std::size_t kBytes = sizeof(V);
    static constexpr std::size_t kSlices = kRowWords * 8 / kBytes;  // vectors in a row of bits

    const unsigned char* bits;  // of this slice of the columns
    V digits[kMaxDigits];
    int n_digits;

    V load(std::uint32_t row) const {
        V v;
        std::memcpy(&v, bits + static_cast<std::size_t>(row) * (kRowWords * 8), kBytes);
        return v;
    }
    // a + b + digit -> digit, carry.
    static V add(V& digit, V a, V b) {
        const V either = a ^ b;
        const V carry = (a & b) | (either & digit);
        digit ^= either;
        return carry;
    }
    static V push(V& digit, V carry) {
        const V next = digit & carry;
        digit ^= carry;
        return next;
    }
    // Adds 2^L rows to the digits below L; returns the carry of weight 2^L.
    template <int L> [[gnu::always_inline]] V add_rows(const std::uint32_t* rows, V* low) const {
        if constexpr (L == 1)
            return add(low[0], load(rows[0]), load(rows[1]));
        else {
            const V first = add_rows<L - 1>(rows, low);
            const V second = add_rows<L - 1>(rows + (1 << (L - 1)), low);
            return add(low[L - 1], first, second);
        }
    }
    // Adds 2^L rows and lets the carry run up to the last digit.
    template <int L> [[gnu::always_inline]] void take(const std::uint32_t*& rows, std::size_t& left, V* low) {
        V carry = add_rows<L>(rows, low);
        for (int p = L; p < kTreeDigits; ++p) carry = push(low[p], carry);  // a fixed range: `low` stays in registers
        for (int p = kTreeDigits; p < n_digits; ++p) carry = push(digits[p], carry);
        rows += 1 << L;
        left -= std::size_t{1} << L;
    }
    void fetch(const std::uint32_t* rows) const {
        for (int k = 0; k < 64; ++k) __builtin_prefetch(bits + static_cast<std::size_t>(rows[k]) * (kRowWords * 8));
    }
    void count(const std::uint32_t* rows, std::size_t n_rows, bool ahead) {
        n_digits = std::bit_width(n_rows);
        V low[kTreeDigits] = {};  // in registers
        for (int p = kTreeDigits; p < n_digits; ++p) digits[p] = V{};
        while (n_rows >= 64) {
            if (ahead && n_rows >= 128) fetch(rows + 64);
            take<6>(rows, n_rows, low);
        }
        if (n_rows >= 32) take<5>(rows, n_rows, low);
        if (n_rows >= 16) take<4>(rows, n_rows, low);
        if (n_rows >= 8) take<3>(rows, n_rows, low);
        if (n_rows >= 4) take<2>(rows, n_rows, low);
        for (int p = 0; p < kTreeDigits; ++p) digits[p] = low[p];
    }
    // From digits to numbers, 32 columns at a time: each digit's word is compared with the bit of each column.
    void write(std::uint32_t* counts) const {
        typedef std::uint32_t Numbers __attribute__((vector_size(sizeof(V))));
        constexpr int kWide = static_cast<int>(sizeof(V) / 4), kParts = 32 / kWide;
        Numbers column_bit[kParts];
        for (int j = 0; j < 32; ++j) column_bit[j / kWide][j % kWide] = std::uint32_t{1} << j;
        for (std::size_t chunk = 0; chunk < kBytes / 4; ++chunk) {
            Numbers numbers[kParts] = {};
            for (int p = 0; p < n_digits; ++p) {
                std::uint32_t word;
                std::memcpy(&word, reinterpret_cast<const unsigned char*>(&digits[p]) + 4 * chunk, 4);
                const std::uint32_t weight = std::uint32_t{1} << p;
                for (int part = 0; part < kParts; ++part)
                    numbers[part] |= reinterpret_cast<Numbers>((column_bit[part] & word) == column_bit[part]) & weight;
            }
            std::memcpy(counts + 32 * chunk, numbers, sizeof numbers);
        }
    }
};

template <class V> std::uint64_t load_rows(const std::uint64_t* rows, std::size_t n_rows) {
    constexpr std::size_t kParts = kRowWords * 8 / sizeof(V);
    V seen[kParts] = {};
    for (std::size_t row = 0; row < n_rows; ++row)
        for (std::size_t part = 0; part < kParts; ++part) {
            V v;
            std::memcpy(&v, rows + row * kRowWords + part * sizeof(V) / 8, sizeof(V));
            seen[part] |= v;
        }
    std::uint64_t result = 0;
    for (std::size_t part = 0; part < kParts; ++part) {
        std::uint64_t first;
        std::memcpy(&first, &seen[part], 8);
        result |= first;
    }
    return result;
}

// Write: how the digits of a counter become numbers.
template <class V, class Write> void count_vertical(const VerticalQuery& q, Write write) {
    for (std::size_t set = 0; set < q.n_sets; ++set) {
        const std::uint32_t* rows = q.rows + q.begin[set];
        const std::size_t n_rows = q.begin[set + 1] - q.begin[set];
        for (std::size_t slice = 0; slice < Counter<V>::kSlices; ++slice) {
            Counter<V> counter;
            counter.bits = reinterpret_cast<const unsigned char*>(q.bits) + slice * Counter<V>::kBytes;
            counter.count(rows, n_rows, q.ahead);
            write(counter, q.counts + set * q.stride + slice * Counter<V>::kBytes * 8);
        }
    }
}

}  // namespace
}  // namespace mnlearn
