// One scan of evidence: x given z, x given z + y for many y, and both ends of x - y given z.
//
// Most models decide nothing, so they are fitted last. The end of x is estimated first, by one Newton step from its
// model without y: eight binary y side by side, others by a range where that is enough. Only where the estimate comes
// near a threshold, or not quite as near but y may interact with a member of z, follow the model of y and the fits.
#pragma once

#include "evidence/evidence.hpp"
#include "evidence/evidence_tables.hpp"
#include "evidence/extra_terms.hpp"

namespace mnlearn {

class ScanEvidence {
public:
    ScanEvidence(const Store& store, const VariableFacts& facts, bool three_way);

    // The next scan; memory is used again. Its x and sets must live until then.
    void begin(const EvidenceScan& scan);

    struct Value {
        double full_table = 0.0, pairwise = 0.0;  // the full table less the gift
        bool fell_back = false;
        double hybrid() const { return std::max(full_table, pairwise); }
    };
    const Value& base() const { return base_; }  // x given z

    void additions(bool exact, const AdditionsOutput& out);
    void leaders(double above, const PairsOutput& out);
    void pairs(double fit_above, const PairsOutput& out);
    void removals(double fit_above, const PairsOutput& out);

private:
    // A model of one end with the other as a further neighbour.
    struct Joined {
        Design design;
        Model model;
        Value value;
    };
    enum class Status : char { guessed, estimated, final };
    struct Leading {  // the state of `leaders`
        std::vector<Status> status;
        const PairsOutput& out;
    };

    double offset(std::int32_t v) const { return facts_.offset[static_cast<std::size_t>(v)]; }
    double gift(std::int32_t v) const { return facts_.gift[static_cast<std::size_t>(v)]; }
    std::size_t states(std::int32_t v) const { return tables_.states(v); }
    bool too_wide(std::int32_t v, std::int32_t other) const;  // a model of v given z and the other
    bool side_by_side(std::int32_t y) const;                  // with seven others in eight lanes

    double full_only(std::int32_t v, std::int32_t other) const;
    Value fit(const GroupedTable& table, Design& design, std::int32_t v, bool given_nothing, Model& model,
              const Model* warm) const;
    void fit_joined(const PairTable& pair, std::int32_t v, const Model& before, Joined& joined) const;
    void add_three_way(Joined& joined, std::int32_t v) const;
    Value fitted_addition(const PairTable& pair);

    template <class Put> void estimate_lanes(std::span<const std::size_t> places, Put put);
    Value estimate(Model& model, const PairTable& pair, std::int32_t v, bool tables_matter);
    double estimate_turned(const PairTable& turned, std::int32_t y);
    struct Guess {
        Value lower, upper;
    };
    Guess guess(const PairTable& pair);
    Entries entries_of(const Model& model, const PairTable& pair);

    void estimate_leaders(std::span<const std::size_t> places, bool guesses, Leading& leading);
    struct Weighed {
        double evidence;
        bool exact;
        int fell_back;
    };
    Weighed weigh(const PairTable& pair, std::int32_t y, double own_gain, double fit_above);
    Weighed weigh_tables(std::int32_t y) const;
    bool may_interact(const PairTable& pair);
    double product_gain(const PairTable& pair, const Entries& entries, std::size_t i);
    template <class Put> void interact_lanes(std::span<const std::size_t> places, Put put);

    const Store& store_;
    VariableFacts facts_;
    EvidenceScan scan_{};
    bool three_way_, tables_matter_ = true;
    const ConditionalKernels& kernels_;
    FullTable full_;
    ScanTables tables_;
    Design design_, design_y_;
    GroupedTable of_y_;
    PairTable turned_;
    Model model_, model_y_;
    Joined with_y_, with_x_;
    Value base_;
    std::vector<double> surplus_, zero_;
};

// F(x | z + y) alone, for each y, the gift not taken away.
void full_tables(const Store& store, const VariableFacts& facts, const EvidenceScan& scan, double* out);

}  // namespace mnlearn
