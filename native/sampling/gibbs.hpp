// Gibbs sampling: every variable in turn is drawn anew given the present values of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mnlearn {

// How each variable depends on the others. Variable x owns the terms term_start[x] .. term_start[x + 1]. Term t looks
// at the variables others[other_start[t]] .. others[other_start[t + 1]]; with their values v its entry begins at
// table_start[t] + sum of stride * v and has one number for each state of x. A tabled variable has a single term, whose
// numbers are running sums of probabilities; the others have logarithms, which are added up over the terms.
struct GibbsModel {
    std::span<const std::int32_t> cards;
    std::span<const std::int64_t> term_start;
    std::span<const std::uint8_t> tabled;
    std::span<const std::int64_t> table_start;
    std::span<const std::int64_t> other_start;
    std::span<const std::int32_t> others;
    std::span<const std::int64_t> strides;
    std::span<const double> tables;
};

struct GibbsPlan {
    std::uint64_t key;
    std::size_t n_chains, n_draws, burn_in, thin;
    int n_threads;
};

// Throws std::invalid_argument unless every entry that a sweep could read is there.
void check_gibbs(const GibbsModel& model, const GibbsPlan& plan);

// Writes codes[draw][chain][variable]. Each chain starts at random, makes burn_in sweeps, then keeps one state after
// every thin sweeps. Chain c draws from the Philox stream (key, c), so any number of threads gives the same bits.
void gibbs(const GibbsModel& model, const GibbsPlan& plan, std::uint8_t* codes);

}  // namespace mnlearn
