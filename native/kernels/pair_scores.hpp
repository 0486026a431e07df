// Scoring a binary x with many binary y when there are no strata: from the counts to the numbers handed out in one go.
//
// All tables of one x have the same n0 and n1, and all tables of one y the same totals. So a single count a table is
// left, n00, and what a score looks up for the totals of y is known before. The steps and their order are those of
// kernels/binary_scores.hpp with one stratum, and of the scorer's finish: the bits are the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "portability.hpp"

namespace mnlearn {

// With value = base + (cells − margin), as in kernels/binary_scores.hpp:
enum class PairForm {
    count,    // n00
    plain,    // value
    entropy,  // −value / scale where that is above rounding, else 0
    tested,   // scale * value where that is above rounding and no state of y is missing; and degrees of freedom
    odds,     // scale − log(1 + exp(value))
    pearson,  // X² where neither state of y is missing, else 0; and degrees of freedom
};

// What a form ends with. `tested`: the degrees of freedom where neither state of y is missing; `untested`: elsewhere.
// `rounding`: the largest value that may be a rounding error.
struct PairEnding {
    double scale = 1.0, tested = 0.0, untested = 0.0, rounding = 0.0;
};

struct PairRow {
    PairForm form;
    PairEnding ending;
    const std::uint32_t *counts, *totals;  // per y: rows with y = 0 where x = 0, and in all
    std::size_t n_ys;
    std::uint32_t n0, n1;         // rows with x = 0, with x = 1
    const double *cell, *margin;  // the table looked up for counts up to n0 + n1; per y the part of its totals
    double base;
    double *folded, *values;  // room: kMaxFoldedPairs numbers, and one a y
    double *out, *dof;        // one number a y each, and not one more is written; `dof` for tested and pearson only
};
constexpr bool looks_up(PairForm form) { return form != PairForm::count && form != PairForm::pearson; }
constexpr bool has_dof(PairForm form) { return form == PairForm::tested || form == PairForm::pearson; }

using ScorePairs = void (*)(const PairRow&);

// values[k] = base + (cells − margin), by loads one at a time: see look_up in kernels/binary_scores.hpp. Where it pays,
// the table was folded before: c[k] + c[n0 − k] first, then c[k] + c[n1 − k].
inline constexpr std::size_t kMaxFoldedPairs = 4096;
MNLEARN_INLINE inline bool folds(const PairRow& row) {
    const std::size_t entries = static_cast<std::size_t>(row.n0) + row.n1 + 2;
    return entries <= 3 * row.n_ys && entries <= kMaxFoldedPairs;
}
void look_up_pairs(const PairRow& row);

}  // namespace mnlearn
