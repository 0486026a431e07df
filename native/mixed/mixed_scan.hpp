// One scan of mixed evidence: x given z, and what each y adds to it, on the rows in which all of them are observed.
//
//   H(x | S) = max(F - gift, P, A) where all of x and S are categorical, else max(A, B), less the same of the empty set
//
// F and P as in evidence/evidence.hpp; A and B: the regression of x in the ordered and in the nominal reading
// (mixed/regression.hpp). A is left out where no variable is ordinal and all are categorical, B where none is ordinal.
// Of y, H(x | S + y) and H(x | S) are both from the rows in which x, S and y are observed.
#pragma once

#include <optional>

#include "evidence/evidence.hpp"
#include "evidence/evidence_tables.hpp"
#include "evidence/extra_terms.hpp"
#include "mixed/regression.hpp"

namespace mnlearn {

class MixedScan {
public:
    MixedScan(const MixedData& data, bool three_way);

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
    };
    Added estimate(std::int32_t y, bool with_moment);
    Added fitted(std::int32_t y, bool with_moment);
    double without(std::size_t i);  // H(x | z less its i-th member) - H(x | z), on the rows of the scan

    std::vector<std::uint32_t> rows_with(std::int32_t y) const;

private:
    // Values of the models; -infinity for those that are not used or cannot be fitted.
    struct Values {
        double full = -HUGE_VAL, pairwise = -HUGE_VAL, ordered = -HUGE_VAL, nominal = -HUGE_VAL;
        double best() const { return std::max(std::max(full, pairwise), std::max(ordered, nominal)); }
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
    void make_tables(std::int32_t x, std::span<const std::int32_t> members, const Frame& frame, Tables& tables) const;
    void set_margin(std::int32_t x, std::span<const double> margin, Tables& tables) const;
    bool fit_pairwise(Tables& tables, const Model* warm, bool three_way) const;
    Values local(std::int32_t x, std::span<const std::int32_t> members, const Frame& frame, bool with_moment,
                 bool need_ordered, bool warm);
    Regression* regression(Reading reading);
    Tables* base_tables();
    void estimate_tables(std::int32_t y, Values& without, Values& with);

    const MixedData& data_;
    bool three_way_;
    const ConditionalKernels& kernels_;
    FullTable full_;
    std::int32_t x_ = 0;
    std::vector<std::int32_t> z_, members_;
    Frame frame_;
    std::optional<double> base_;
    int fell_back_ = 0;
    bool tables_made_ = false, made_[2] = {false, false};
    Tables tables_, other_;
    Regression readings_[2], refit_;
    Model again_;
    PairTable pair_;
    GroupedTable sums_;
    std::vector<double> surplus_;
    std::vector<std::uint32_t> number_;
};

}  // namespace mnlearn
