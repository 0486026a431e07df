// Tables of bits, written once and compiled once per instruction set: counting bits takes one step here.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#include "kernels/dense_cells.hpp"

namespace mnlearn {
namespace {

constexpr std::uint64_t kFirstOfPairs = 0x5555'5555'5555'5555;

// One bit for each pair: whether either is set, whether both are.
inline std::uint64_t either(std::uint64_t cells) { return (cells | cells >> 1) & kFirstOfPairs; }
inline std::uint64_t both(std::uint64_t cells) { return cells & cells >> 1 & kFirstOfPairs; }
inline std::uint32_t count_of(std::uint64_t word) { return static_cast<std::uint32_t>(__builtin_popcountll(word)); }
// The cells with the first state of the member whose bit in the number of a cell this is.
constexpr std::uint64_t kFirsts[6] = {0x5555'5555'5555'5555, 0x3333'3333'3333'3333, 0x0f0f'0f0f'0f0f'0f0f,
                                      0x00ff'00ff'00ff'00ff, 0x0000'ffff'0000'ffff, 0x0000'0000'ffff'ffff};
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

// visit(k, first, second): all configurations of the others, in order, the k-th time.
template <class Visit> [[gnu::always_inline]] inline void each_facing(const DenseCells& t, unsigned bit, Visit visit) {
    const auto rows = [&](std::size_t w) { return t.sizes + 2 * std::size_t{t.numbers[w]}; };
    if (bit < 6) {
        const unsigned up = 1u << bit;
        const std::uint64_t firsts = kFirsts[bit];
        for (std::size_t w = 0; w < t.n_words; ++w) {
            const std::uint64_t cells = t.occupied[w], whole = either(cells);
            if (cells)
                visit(w, Side{cells & firsts, whole, rows(w), 0}, Side{cells >> up & firsts, whole, rows(w), up});
        }
        return;
    }
    const std::size_t step = std::size_t{1} << (bit - 6);
    for (std::size_t k = 0; k < t.n_words / 2; ++k) {
        const std::size_t w = k + (k & ~(step - 1));  // the words with the first state
        const std::uint64_t first = t.occupied[w], second = t.occupied[w + step];
        if (first | second)
            visit(k, Side{first, either(first), rows(w), 0}, Side{second, either(second), rows(w + step), 0});
    }
}

// The k-th configurations of the others, put where they stand once the member has left: closer together by its bit.
inline void put_left(const DropQuery& q, std::size_t k, std::uint64_t cells) {
    if (q.bit > 5) {
        q.occupied[k] = cells;
        return;
    }
    for (unsigned bit = q.bit; bit < 5; ++bit) cells = (cells | cells >> (1u << bit)) & kFirsts[bit + 1];
    q.occupied[k / 2] |= cells << k % 2 * 32;
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

inline void drop(const DropQuery& q) {
    std::size_t n = 0;
    each_facing(q.table, q.bit, [&](std::size_t k, const Side& first, const Side& second) {
        put_left(q, k, first.cells | second.cells);
        for (std::uint64_t rest = either(first.cells | second.cells); rest; rest &= rest - 1) {
            const auto bit = static_cast<unsigned>(__builtin_ctzll(rest));
            // What is not there is read from the next and counts for nothing.
            const std::uint64_t in_first = 0 - (either(first.cells) >> bit & 1),
                                in_second = 0 - (either(second.cells) >> bit & 1);
            put_pair(q.sizes, n++, (first.pair(bit) & in_first) + (second.pair(bit) & in_second));
        }
    });
}

inline void append(const CellQuery& q) {
    for (std::size_t row = 0; row < q.n_rows; ++row) q.cells[row] ^= std::uint32_t{q.bytes[row]} << q.up;
}

// Rows in turn to several tables; then all in the first.
template <std::size_t TABLES>
inline void count_in(const std::uint32_t* cells, std::size_t n_rows, std::uint32_t* tables, std::size_t n_cells) {
    std::size_t row = 0;
    for (; row + TABLES <= n_rows; row += TABLES)
        for (std::size_t k = 0; k < TABLES; ++k) ++tables[k * n_cells + cells[row + k]];
    for (; row < n_rows; ++row) ++tables[cells[row]];
    for (std::size_t k = 1; k < TABLES; ++k)
        for (std::size_t cell = 0; cell < n_cells; ++cell) tables[cell] += tables[k * n_cells + cell];
}

inline void count(const std::uint32_t* cells, std::size_t n_rows, std::uint32_t* tables, std::size_t n_cells) {
    if (n_cells <= kFewForSeveral)
        count_in<kSeveralTables>(cells, n_rows, tables, n_cells);
    else
        count_in<1>(cells, n_rows, tables, n_cells);
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

}  // namespace
}  // namespace mnlearn
