// Tables of bits, written once and compiled once per instruction set: counting bits takes one step here.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#include "kernels/bit_cells.hpp"

namespace mnlearn {
namespace {

constexpr std::uint64_t kFirstOfPairs = 0x5555'5555'5555'5555;

// One bit for each pair: whether either is set, whether both are.
inline std::uint64_t either(std::uint64_t cells) { return (cells | cells >> 1) & kFirstOfPairs; }
inline std::uint64_t both(std::uint64_t cells) { return cells & cells >> 1 & kFirstOfPairs; }
inline std::uint32_t count_of(std::uint64_t word) { return static_cast<std::uint32_t>(__builtin_popcountll(word)); }
inline std::uint64_t bits_below(unsigned bit) { return (std::uint64_t{1} << bit) - 1; }

// The rows of a pair in one number: neither half of a sum runs over into the other.
inline std::uint64_t pair_at(const std::uint32_t* sizes, std::size_t k) {
    std::uint64_t pair;
    __builtin_memcpy(&pair, sizes + 2 * k, sizeof pair);
    return pair;
}
inline void put_pair(std::uint32_t* sizes, std::size_t k, std::uint64_t pair) {
    __builtin_memcpy(sizes + 2 * k, &pair, sizeof pair);
}

// 32 configurations with one state of the member singled out.
struct Side {
    std::uint64_t cells;        // in the places of the first state
    std::uint64_t whole;        // which configurations of their word occur
    const std::uint32_t* rows;  // those of the first of them
    unsigned up;                // how far the cells stand above their places

    [[gnu::always_inline]] std::uint64_t pair(unsigned bit) const {
        return pair_at(rows, count_of(whole & bits_below(bit + up)));
    }
};

// visit(word, first, second): all configurations of the others, in order.
template <class Visit> [[gnu::always_inline]] inline void each_facing(const BitCells& t, unsigned bit, Visit visit) {
    const auto rows = [&](std::size_t w) { return t.sizes + 2 * std::size_t{t.numbers[w]}; };
    if (bit < 6) {
        const unsigned up = 1u << bit;
        std::uint64_t firsts = 0;
        for (unsigned cell = 0; cell < 64; ++cell) firsts |= std::uint64_t{(cell >> bit & 1) == 0} << cell;
        for (std::size_t w = 0; w < t.n_words; ++w) {
            const std::uint64_t cells = t.occupied[w], whole = either(cells);
            if (cells)
                visit(w, Side{cells & firsts, whole, rows(w), 0}, Side{cells >> up & firsts, whole, rows(w), up});
        }
        return;
    }
    const std::size_t step = std::size_t{1} << (bit - 6);
    for (std::size_t begin = 0; begin < t.n_words; begin += 2 * step)
        for (std::size_t w = begin; w < begin + step; ++w) {
            const std::uint64_t first = t.occupied[w], second = t.occupied[w + step];
            if (first | second)
                visit(w, Side{first, either(first), rows(w), 0}, Side{second, either(second), rows(w + step), 0});
        }
}

inline void find_varied(VariedQuery& q) {
    std::size_t n = 0, n_all = 0;
    each_facing(q.table, q.bit, [&](std::size_t, const Side& first, const Side& second) {
        const std::uint64_t any = first.cells | second.cells;
        n_all += count_of(either(any));
        for (std::uint64_t rest = both(any) & either(first.cells) & either(second.cells); rest; rest &= rest - 1) {
            const auto bit = static_cast<unsigned>(__builtin_ctzll(rest));
            const std::uint64_t count = first.pair(bit);
            put_pair(q.counts, n, count);
            put_pair(q.sizes, n, count + second.pair(bit));
            ++n;
        }
    });
    q.n_varied = n;
    q.n_all = n_all;
}

inline void drop(DropQuery& q) {
    std::size_t n = 0;
    each_facing(q.table, q.bit, [&](std::size_t w, const Side& first, const Side& second) {
        q.occupied[w] = first.cells | second.cells;
        for (std::uint64_t rest = either(q.occupied[w]); rest; rest &= rest - 1) {
            const auto bit = static_cast<unsigned>(__builtin_ctzll(rest));
            // What is not there is read from the next and counts for nothing.
            const std::uint64_t in_first = 0 - (either(first.cells) >> bit & 1),
                                in_second = 0 - (either(second.cells) >> bit & 1);
            put_pair(q.sizes, n++, (first.pair(bit) & in_first) + (second.pair(bit) & in_second));
        }
    });
    q.n_all = n;
}

inline void append(const CellQuery& q) {
    for (std::size_t row = 0; row < q.n_rows; ++row) q.cells[row] ^= std::uint32_t{q.bytes[row]} << q.up;
}

inline void mark(const std::uint32_t* cells, std::size_t n_rows, std::uint64_t* occupied) {
    for (std::size_t row = 0; row < n_rows; ++row) occupied[cells[row] / 64] |= std::uint64_t{1} << cells[row] % 64;
}

inline std::uint32_t number(const std::uint64_t* occupied, std::size_t n_words, std::uint32_t* numbers) {
    std::uint32_t total = 0;
    for (std::size_t w = 0; w < n_words; ++w) {
        numbers[w] = total;
        total += count_of(either(occupied[w]));
    }
    return total;
}

inline void tally(const TallyQuery& q) {
    for (std::size_t row = 0; row < q.n_rows; ++row) {
        const std::uint32_t cell = q.cells[row], word = cell / 64;
        const std::uint64_t before = either(q.table.occupied[word]) & bits_below(cell % 64 & ~1u);
        ++q.sizes[2 * std::size_t{q.table.numbers[word] + count_of(before)} + cell % 2];
    }
}

constexpr BitCellKernels kKernels{append, mark, number, tally, find_varied, drop};

}  // namespace
}  // namespace mnlearn
