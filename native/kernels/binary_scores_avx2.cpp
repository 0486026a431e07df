// Scores of binary y, 4 at a time.
#include "kernels/binary_scores_impl.hpp"

namespace mnlearn {

void score_binary_avx2(const BinaryRow& row) {
    if (looks_up(row.form)) look_up_by_loads<4>(row);
    add_values<4>(row);
}

void score_column_avx2(PearsonColumn& column) { add_pearson_column(column); }

void finish_odds_avx2(double* first, double* second, std::size_t n_ys) { finish_odds<4>(first, second, n_ys); }

}  // namespace mnlearn
