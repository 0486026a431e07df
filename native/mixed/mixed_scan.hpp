// One scan of mixed evidence: x given z, and what each y adds to it, on the rows in which all of them are observed.
//
//   H(x | S) = max(F - gift, P, A, Q) where all of x and S are categorical, else max(A, Q, B), less the same of {}
//
// F and P as in evidence/evidence.hpp; A, Q and B: the regression of x in the ordered, curved and nominal reading
// (mixed/regression.hpp). Where no variable is ordinal these are the same, and where all are nominal P is used. Fits
// cost most of the time, so readings of ordinal variables are left out that explain x by each neighbour alone, added up
// over S, clearly worse than another.
// Of y, H(x | S + y) and H(x | S) are both from the rows in which x, S and y are observed.
#pragma once

#include <atomic>
#include <cmath>
#include <optional>

#include "evidence/evidence.hpp"
#include "evidence/evidence_tables.hpp"
#include "evidence/extra_terms.hpp"
#include "mixed/regression.hpp"

namespace mnlearn {

// The evidence of each reading of x and one neighbour alone; found out once for each pair.
class PairReadings {
public:
    explicit PairReadings(const MixedData& data);
    struct Evidence {
        double of[3] = {0.0, 0.0, 0.0};  // by reading, less that of the ordered one
    };
    Evidence operator()(std::int32_t x, std::int32_t z, Regression& room);

private:
    Evidence compare(std::int32_t x, std::int32_t z, Regression& room) const;

    const MixedData& data_;
    std::vector<std::atomic<float>> known_;  // [(x * n + z) * 2 + reading - 1]; empty where that would be too large
};

class MixedScan {
public:
    MixedScan(const MixedData& data, PairReadings& pairs, bool three_way);

    // The next scan, on the rows in which x and z are observed, or on some of them.
    void begin(std::int32_t x, std::span<const std::int32_t> z);
    void begin(std::int32_t x, std::span<const std::int32_t> z, std::vector<std::uint32_t> rows);

    double base();  // H(x | z), fitted
    int fell_back() const { return fell_back_; }
    std::size_t n_rows() const { return frame_.rows.size(); }

    // What y adds; an estimate is exact where all models are closed.
    struct Added {
        double rise = 0.0;
        bool exact = true;
        bool known = true;   // false where no model can be fitted
        bool rough = false;  // an estimate by one step from the fit to many more rows
    };
    Added estimate(std::int32_t y, bool with_moment);
    Added fitted(std::int32_t y, bool with_moment);
    // H(x | z less its i-th member) - H(x | z), on the rows of the scan; estimated where it is clearly below the bound.
    Added without(std::size_t i, double fit_above);
    // A generous guess at what y adds; infinite where there is none.
    double guess(std::int32_t y);
    // About how many operations an information matrix of x given z and y takes; 0 where x is numeric, or all models are
    // of tables.
    double cost(std::int32_t x, std::int32_t y);

    std::vector<std::uint32_t> rows_with(std::int32_t y) const;
    std::size_t lacking(std::int32_t y) const;  // rows of the scan in which y is missing

private:
    // Values of the models; -infinity for those that are not used or cannot be fitted.
    struct Values {
        double full = -HUGE_VAL, pairwise = -HUGE_VAL, of[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
        double best() const { return std::max({full, pairwise, of[0], of[1], of[2]}); }
    };
    struct Tables {  // of x in the configurations of the members
        GroupedTable of_x;
        Design design;
        Model model;
        double empty_full = 0.0, empty_pairwise = 0.0, gift = 0.0;
    };

    bool numeric(std::int32_t v) const { return data_[v].numeric(); }
    bool categorical(std::int32_t x, std::span<const std::int32_t> members) const;
    bool any_ordinal(std::int32_t x, std::span<const std::int32_t> members) const;
    struct Use {
        bool reading[3] = {true, false, false};
        bool pairwise = false, tables = false;
    };
    Use models_for(std::int32_t x, std::span<const std::int32_t> members);
    void make_tables(std::int32_t x, std::span<const std::int32_t> members, const Frame& frame, Tables& tables) const;
    void set_margin(std::int32_t x, std::span<const double> margin, Tables& tables) const;
    bool fit_pairwise(Tables& tables, const Model* warm, bool three_way) const;
    Values local(std::span<const std::int32_t> members, const Frame& frame, bool with_moment, bool warm = true);
    Regression* regression(Reading reading);
    Tables& base_tables(bool pairwise);
    bool count_pair(std::int32_t y);
    bool count_cells(std::int32_t y);
    bool count_entries(std::int32_t y);
    void estimate_tables(std::int32_t y, bool pairwise, Values& without, Values& with);

    const MixedData& data_;
    PairReadings& pairs_;
    bool three_way_;
    const ConditionalKernels& kernels_;
    FullTable full_;
    std::int32_t x_ = 0;
    std::vector<std::int32_t> z_, members_;
    Frame frame_;
    std::optional<double> base_;
    int fell_back_ = 0;
    bool tables_made_ = false, pairwise_made_ = false, made_[3] = {false, false, false};
    Tables tables_, other_;
    Regression readings_[3], refit_, pair_room_;
    Model again_;
    PairTable pair_;
    GroupedTable sums_;
    std::vector<double> surplus_;
    std::vector<std::uint32_t> cells_;  // by row: group and state of x
    std::vector<double> counts_;
    std::vector<std::uint32_t> numbers_;
};

}  // namespace mnlearn
