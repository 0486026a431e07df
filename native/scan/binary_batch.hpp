// The binary candidates of a block, scored together: stratum by stratum, several y at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "scan/scores.hpp"
#include "store/store.hpp"

namespace mnlearn {

template <class Scorer> class BinaryBatch {
public:
    // `columns`: where each candidate's counts stand, in ascending order, a row of counts beginning at `origin`; they
    // are looked at to the end.
    BinaryBatch(const Scorer& scorer, const Store& store, std::span<const std::uint32_t> columns,
                std::uint32_t origin = 0)
        : scorer_(scorer), level_(store.level()), columns_(columns), origin_(origin) {
        if (columns_.empty()) return;
        const std::size_t span = columns_.back() - columns_.front() + 1;
        whole_ = span <= 2 * columns_.size();  // then scoring all columns costs less than picking
        width_ = whole_ ? span : columns_.size();
        room_ = (width_ + 7) / 8 * 8;
        numbers_ = {store.pool(), 3 * room_ + kMaxFolded};
        std::fill_n(numbers_.get() + 2 * room_, room_, 0.0);
        if (!whole_) picked_.resize(2 * width_);
        restart(0);
    }

    std::size_t size() const { return columns_.size(); }

    // Forgets all sums; from now on only the candidates from this one on are scored.
    void restart(std::size_t candidate) {
        const std::size_t skipped = place(candidate);
        from_ = skipped / 8 * 8;
        strata_ = 0;
        std::fill_n(numbers_.get(), 2 * room_, 0.0);
    }

    // Stratum s: `zero` and `one` are the rows of counts for x = 0 and x = 1, n0 and n1 their numbers of data rows.
    void add(const typename Scorer::Prepared& prepared, std::size_t s, const std::uint32_t* zero,
             const std::uint32_t* one, std::int64_t n0, std::int64_t n1) {
        const RowOfTables tables = scorer_.binary_row(prepared, s, n0, n1);
        if (tables.method == RowOfTables::skip) return;
        const BinaryRow row{Scorer::form,
                            pick(zero, 0),
                            pick(one, width_),
                            width_ - from_,
                            static_cast<std::uint32_t>(n0),
                            static_cast<std::uint32_t>(n1),
                            tables.cell,
                            tables.column,
                            tables.base,
                            numbers_.get() + 3 * room_,
                            numbers_.get() + 2 * room_,
                            first(),
                            second()};
        if (tables.method == RowOfTables::one_by_one) return add_one_by_one(prepared, s, row);
        level_.score_binary(row);
        ++strata_;
        if constexpr (Scorer::form == BinaryForm::odds)
            if (strata_ % Scorer::kFactors == 0) level_.finish_odds(first(), second(), width_ - from_);
    }

    // After the last stratum.
    void finish() {
        if constexpr (Scorer::form == BinaryForm::odds) level_.finish_odds(first(), second(), width_ - from_);
    }
    typename Scorer::Sum sum(std::size_t k) const { return {numbers_[place(k)], numbers_[room_ + place(k)], strata_}; }

    // Calls visit(k, sum) for every candidate.
    template <class Visit> void visit_sums(Visit visit) const {
        const double *all = numbers_.get(), *seconds = all + room_;
        const std::uint32_t front = columns_.empty() ? 0 : columns_.front();
        for (std::size_t k = 0; k < columns_.size(); ++k) {
            const std::size_t at = whole_ ? columns_[k] - front : k;
            visit(k, typename Scorer::Sum{all[at], seconds[at], strata_});
        }
    }

private:
    std::size_t place(std::size_t k) const { return whole_ ? columns_[k] - columns_.front() : k; }
    double* first() { return numbers_.get() + from_; }
    double* second() { return numbers_.get() + room_ + from_; }
    const std::uint32_t* pick(const std::uint32_t* row, std::size_t begin) {
        if (whole_) return row + (columns_.front() - origin_) + from_;
        for (std::size_t k = from_; k < width_; ++k) picked_[begin + k] = row[columns_[k] - origin_];
        return picked_.data() + begin + from_;
    }
    // Strata larger than the tables of logarithms.
    void add_one_by_one(const typename Scorer::Prepared& prepared, std::size_t s, const BinaryRow& row) {
        typename Scorer::Sum sum;
        for (std::size_t k = 0; k < row.n_ys; ++k) {
            const std::int64_t a = row.zero[k], b = row.one[k], n0 = row.n0, n1 = row.n1;
            sum = {row.first[k], row.second[k], strata_};
            scorer_.add(sum, prepared, s, BinaryStratum(a, n0 - a, b, n1 - b));
            row.first[k] = sum.first;
            row.second[k] = sum.second;
        }
        strata_ = sum.strata;
    }

    const Scorer& scorer_;
    const InstructionSet& level_;
    std::span<const std::uint32_t> columns_;
    std::uint32_t origin_;
    std::vector<std::uint32_t> picked_;
    Buffer<double> numbers_;  // first, second and values, room_ each; then room for folded tables
    std::size_t width_ = 0, room_ = 0, from_ = 0;
    bool whole_ = true;
    std::int64_t strata_ = 0;
};

}  // namespace mnlearn
