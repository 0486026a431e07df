// Scores of binary y, eight at a time. In strata of at most 63 rows the tables that are looked up fit registers.
#include "kernels/binary_scores_impl.hpp"

namespace mnlearn {
namespace {

using W = Wide<8>;
typedef std::uint32_t Indices __attribute__((vector_size(32)));

// gcc 12 makes two halves of a conversion, and warns of the unmasked form.
inline W::Masks widened(Indices k) {
    return reinterpret_cast<W::Masks>(_mm512_maskz_cvtepu32_epi64(0xff, reinterpret_cast<__m256i>(k)));
}

// k -> table[k] + table[n − k], in 2 * PAIRS registers. Up to n = 15 as it is; it is symmetric, so half of it is enough
// up to n = 32 PAIRS − 1.
template <int PAIRS, bool HALF> struct Folded {
    W::D part[2 * PAIRS];
    std::uint32_t n;

    Folded(const double* table, std::uint32_t rows) : n(rows) {
        double entries[16 * PAIRS] = {};
        for (std::uint32_t k = 0; k <= (HALF ? rows / 2 : rows); ++k) entries[k] = table[k] + table[rows - k];
        for (int p = 0; p < 2 * PAIRS; ++p) part[p] = W::load(entries + 8 * p);
    }
    [[gnu::always_inline]] W::D operator()(Indices k) const {
        const Indices mirrored = n - k;
        const W::Masks place = widened(HALF ? (k < mirrored ? k : mirrored) : k);
        W::D found = __builtin_shuffle(part[0], part[1], place);
        for (int p = 1; p < PAIRS; ++p)
            found = (place >> 4) == p ? __builtin_shuffle(part[2 * p], part[2 * p + 1], place) : found;
        return found;
    }
};

// Eight values at a time, straight into the sums where few steps follow; the exponential needs the registers itself.
template <int PAIRS, bool HALF> void score_in_registers(const BinaryRow& row) {
    using Table = Folded<PAIRS, HALF>;
    const Table zeros(row.cell, row.n0), ones(row.cell, row.n1), margins(row.column, row.n0 + row.n1);
    const auto value = [&](std::size_t k) {
        const std::size_t left = row.n_ys - k;
        const auto a = reinterpret_cast<Indices>(W::counts(row.zero + k, left)),
                   b = reinterpret_cast<Indices>(W::counts(row.one + k, left));
        return row.base + ((zeros(a) + ones(b)) - margins(a + b));
    };
    if (row.form == BinaryForm::plain) return add_plain<8>(row, value);
    if (row.form == BinaryForm::tested) return add_tested<8>(row, value);
    for (std::size_t k = 0; k < row.n_ys; k += 8) W::store(row.values + k, value(k));
    add_values<8>(row);
}

}  // namespace

void score_binary_avx512(const BinaryRow& row) {
    const std::uint32_t n = row.n0 + row.n1;
    if (!looks_up(row.form)) return add_values<8>(row);
    if (row.n_ys < 8 || n > 63) {
        look_up_by_loads<8>(row);
        return add_values<8>(row);
    }
    if (n <= 15) return score_in_registers<1, false>(row);
    if (n <= 31) return score_in_registers<1, true>(row);
    score_in_registers<2, true>(row);
}

void score_column_avx512(PearsonColumn& column) { add_pearson_column(column); }

void finish_odds_avx512(double* first, double* second, std::size_t n_ys) { finish_odds<8>(first, second, n_ys); }

}  // namespace mnlearn
