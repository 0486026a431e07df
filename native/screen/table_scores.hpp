// Statistics of the pairs that pass the filter: those of the scores of scans, to the bit, with less work for each
// table.
//
// Terms of margins are looked up once for each variable. Cells are added in lexicographic order of their codes, as
// scan/stratum_table.hpp does; states that do not occur would add exactly 0.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "scan/scan.hpp"
#include "screen/screen_planes.hpp"

namespace mnlearn {

class TableScores {
public:
    // The kernel is g2, chi2 or mi; without strata.
    TableScores(const Store& store, const KernelSpec& kernel);

    // Sets the terms of a variable's margins, before it is scored.
    void prepare(const ScreenVariable& v, std::size_t n_states);

    struct Score {
        double statistic, dof;
    };
    // Of a pair by the counts of the states that have planes; n_x and n_y are the planes of each.
    Score operator()(const ScreenVariable& x, std::size_t n_x, const ScreenVariable& y, std::size_t n_y,
                     const std::uint32_t (*counts)[kScreenPlanes]) const;
    Score operator()(const std::int64_t (&two_by_two)[4]) const;

private:
    struct Cells {
        std::int64_t counts[3][3];
    };
    Score by_terms(const ScreenVariable& x, std::size_t n_x, const ScreenVariable& y, std::size_t n_y,
                   const Cells& cells) const;
    template <class Scorer>
    Score by_table(const Scorer& scorer, const ScreenVariable& x, std::size_t n_x, const ScreenVariable& y,
                   std::size_t n_y, const Cells& cells) const;
    template <class Scorer>
    static Score of(const Scorer& scorer, const std::int64_t* counts, std::uint32_t rx, std::uint32_t ry);

    Pearson pearson_;
    LikelihoodRatio ratio_;
    bool is_pearson_, looked_up_;
    std::shared_ptr<const CountLogCount> terms_;
    double all_rows_ = 0.0;        // the term of all rows
    std::vector<double> margins_;  // by variable
};

}  // namespace mnlearn
