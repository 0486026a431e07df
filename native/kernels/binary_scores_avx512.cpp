// Scores of binary y, eight at a time. In strata of at most 63 rows the tables that are looked up fit registers.
#include "kernels/binary_scores_impl.hpp"

namespace mnlearn {
namespace {

using W = Wide<8>;
typedef std::uint32_t Indices __attribute__((vector_size(32)));

// k -> table[k] + table[n − k], in 2 * PAIRS registers. It is symmetric, so half of it is enough: up to n = 32 PAIRS
// − 1.
template <int PAIRS> struct Folded {
    W::D part[2 * PAIRS];
    std::uint32_t n;

    Folded(const double* table, std::uint32_t rows) : n(rows) {
        double entries[16 * PAIRS] = {};
        for (std::uint32_t k = 0; k <= rows / 2; ++k) entries[k] = table[k] + table[rows - k];
        for (int p = 0; p < 2 * PAIRS; ++p) part[p] = W::load(entries + 8 * p);
    }
    [[gnu::always_inline]] W::D operator()(Indices k) const {
        const Indices mirrored = n - k;
        const W::Masks place = __builtin_convertvector(k < mirrored ? k : mirrored, W::Masks);
        W::D found = __builtin_shuffle(part[0], part[1], place);
        for (int p = 1; p < PAIRS; ++p)
            found = (place >> 4) == p ? __builtin_shuffle(part[2 * p], part[2 * p + 1], place) : found;
        return found;
    }
};

template <int PAIRS> void look_up_in_registers(const BinaryRow& row) {
    const Folded<PAIRS> zeros(row.cell, row.n0), ones(row.cell, row.n1), margins(row.column, row.n0 + row.n1);
    for (std::size_t k = 0; k < row.n_ys; k += 8) {
        const std::size_t left = row.n_ys - k;
        const auto a = reinterpret_cast<Indices>(W::counts(row.zero + k, left)),
                   b = reinterpret_cast<Indices>(W::counts(row.one + k, left));
        W::store(row.values + k, row.base + ((zeros(a) + ones(b)) - margins(a + b)));
    }
}

void look_up_fast(const BinaryRow& row) {
    const std::uint32_t n = row.n0 + row.n1;
    if (row.n_ys < 8 || n > 63) return look_up_by_loads<8>(row);
    if (n <= 31)
        look_up_in_registers<1>(row);
    else
        look_up_in_registers<2>(row);
}

}  // namespace

void score_binary_avx512(const BinaryRow& row) {
    if (looks_up(row.form)) look_up_fast(row);
    add_values<8>(row);
}

void score_column_avx512(PearsonColumn& column) { add_pearson_column(column); }

void finish_odds_avx512(double* first, double* second, std::size_t n_ys) { finish_odds<8>(first, second, n_ys); }

}  // namespace mnlearn
