// Scores of binary y, 2 at a time.
#include "kernels/binary_scores_impl.hpp"

namespace mnlearn {

void score_binary_portable(const BinaryRow& row) {
    if (looks_up(row.form)) look_up(row);
    add_values<2>(row);
}

void score_column_portable(PearsonColumn& column) { add_pearson_column(column); }

void finish_odds_portable(double* first, double* second, std::size_t n_ys) { finish_odds<2>(first, second, n_ys); }

}  // namespace mnlearn
