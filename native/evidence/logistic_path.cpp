#include "evidence/logistic_path.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "numbers/elementary.hpp"

namespace mnlearn {

namespace {

constexpr double kAccuracy = 1e-5;       // of gradients along a path, as a share of the penalty
constexpr double kRefitAccuracy = 1e-5;  // of the derivatives of a log-likelihood, in rows
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// Numbers the keys in the order of their appearance, in place; returns how many there are. Keys are below `bound`.
std::size_t number_keys(std::span<std::uint32_t> keys, std::size_t bound, std::vector<std::uint32_t>& table) {
    table.assign(bound, kNone);
    std::uint32_t n = 0;
    for (std::uint32_t& key : keys) {
        std::uint32_t& place = table[key];
        if (place == kNone) place = n++;
        key = place;
    }
    return n;
}

// Splits the groups of rows by more columns.
void refine(const KernelTable& kernels, const BinaryColumns& columns, std::span<const std::uint32_t> by,
            RowGroups& groups) {
    const std::size_t n_rows = columns.n_rows, most = 8 * n_rows;  // keys: a table of them is cleared
    std::vector<std::uint32_t> table;
    std::size_t n = groups.first.size();
    for (std::size_t k = 0; k < by.size() && n < n_rows;) {
        std::size_t bound = n;
        do {
            kernels.logistic->append_bits(columns.plane(by[k]), columns.n_words(), groups.group.data());
            bound *= 2;
        } while (++k < by.size() && 2 * bound <= most);
        n = number_keys({groups.group.data(), n_rows}, bound, table);
    }
    groups.first.assign(n, kNone);
    for (std::size_t i = n_rows; i-- > 0;) groups.first[groups.group[i]] = static_cast<std::uint32_t>(i);
}

std::vector<std::uint32_t> indices_of(std::span<const std::uint8_t> marks) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t j = 0; j < marks.size(); ++j)
        if (marks[j]) found.push_back(j);
    return found;
}

RowGroups one_group(const BinaryColumns& columns) {
    return {std::vector<std::uint32_t>(columns.n_words() * 64), std::vector<std::uint32_t>(1)};
}

}  // namespace

LogisticPath::LogisticPath(const KernelTable& kernels, const BinaryColumns& columns, const std::uint64_t* target,
                           std::span<const std::uint8_t> barred, std::span<const std::uint8_t> free, double ridge)
    : kernels_(kernels),
      columns_(columns),
      barred_(barred.begin(), barred.end()),
      free_(free.begin(), free.end()),
      ridge_(ridge),
      ones_(columns.n_rows),
      coefficients_(columns.n_columns + 1),
      memory_(aligned_words(columns.n_words() * 64)),
      residual_(reinterpret_cast<double*>(memory_.get())),
      gradient_(columns.n_columns),
      seen_(columns.n_columns, -1.0),
      groups_(one_group(columns)) {
    for (std::size_t i = 0; i < columns.n_rows; ++i)
        ones_[i] = (target[i / 64] >> (i % 64) & 1) ? columns.weights[i] : 0.0;
}

double LogisticPath::first_penalty() {
    const double n = std::accumulate(columns_.weights, columns_.weights + columns_.n_rows, 0.0);
    const double n_ones = std::accumulate(ones_.begin(), ones_.end(), 0.0);
    coefficients_.back() = elementary::log(n_ones) - elementary::log(n - n_ones);
    for (std::size_t i = 0; i < columns_.n_rows; ++i)  // without a difference of large numbers: a state may be rare
        residual_[i] = columns_.weights[i] * ((ones_[i] > 0 ? n - n_ones : -n_ones) / n);
    sum_ = std::accumulate(residual_, residual_ + columns_.n_rows, 0.0);
    const auto largest = [this] {
        find_gradients(free_, 0);
        double found = 0;
        for (std::size_t j = 0; j < columns_.n_columns; ++j)
            if (!barred_[j] && !free_[j]) found = std::max(found, gradient_[j]);
        return found;
    };
    const double penalty = largest();
    looked_at_ = indices_of(free_);
    if (looked_at_.empty() || penalty == 0) return penalty;
    fit(penalty);  // what is required explains part of the answers
    return largest();
}

std::size_t LogisticPath::step(double penalty) {
    std::vector<std::uint8_t> looked = free_;
    for (const std::uint32_t j : active()) looked[j] = 1;
    const auto add_from = [&](double bound) {
        find_gradients(looked, bound);
        for (std::size_t j = 0; j < columns_.n_columns; ++j)
            if (!barred_[j] && seen_[j] == moved_ && gradient_[j] >= bound) looked[j] = 1;
        const std::size_t before = looked_at_.size();
        looked_at_ = indices_of(looked);
        return looked_at_.size() > before;
    };
    looked_at_.clear();
    std::size_t fits = 0;
    for (bool more = add_from(penalty); more; more = add_from(penalty * (1 + kAccuracy)), ++fits) fit(penalty);
    return fits;
}

std::vector<std::uint32_t> LogisticPath::active() const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t j = 0; j < columns_.n_columns; ++j)
        if (coefficients_[j] != 0) found.push_back(j);
    return found;
}

double LogisticPath::refit(std::span<const std::uint32_t> chosen) {
    RowGroups groups = one_group(columns_);
    refine(kernels_, columns_, chosen, groups);
    std::vector<double> coefficients(chosen.size() +
                                     1);  // from 0: where columns separate the answers, nothing is nearer
    const std::vector<double> penalties(chosen.size());
    return fit_logistic(kernels_, grouped(groups, chosen), penalties, ridge_, kRefitAccuracy, coefficients);
}

// Computes those that may be as large as the bound, of columns that are neither barred nor left out.
void LogisticPath::find_gradients(std::span<const std::uint8_t> left_out, double bound) {
    std::vector<std::uint32_t> asked;
    std::vector<const std::uint64_t*> planes;
    for (std::uint32_t j = 0; j < columns_.n_columns; ++j) {
        if (barred_[j] || left_out[j] || seen_[j] == moved_ || gradient_[j] + (moved_ - seen_[j]) < bound) continue;
        asked.push_back(j);
        planes.push_back(columns_.plane(j));
    }
    std::vector<double> sums(asked.size());
    kernels_.logistic->sums_of_bits(planes.data(), asked.size(), columns_.n_words(), residual_, sums.data());
    for (std::size_t k = 0; k < asked.size(); ++k) {
        gradient_[asked[k]] = std::abs(sums[k] - 0.5 * sum_);
        seen_[asked[k]] = moved_;
    }
}

void LogisticPath::fit(double penalty) {
    group_rows();
    const GroupedRows rows = grouped(groups_, looked_at_);
    std::vector<double> coefficients, penalties;
    for (const std::uint32_t j : looked_at_) {
        coefficients.push_back(coefficients_[j]);
        penalties.push_back(free_[j] ? 0.0 : penalty);
    }
    coefficients.push_back(coefficients_.back());
    fit_logistic(kernels_, rows, penalties, ridge_, kAccuracy * penalty, coefficients);
    std::ranges::fill(coefficients_, 0.0);
    for (std::size_t k = 0; k < looked_at_.size(); ++k) coefficients_[looked_at_[k]] = coefficients[k];
    coefficients_.back() = coefficients.back();
    see_residuals(rows, coefficients);
}

void LogisticPath::see_residuals(const GroupedRows& rows, std::span<const double> coefficients) {
    const LogisticGroups groups = rows.groups();
    std::vector<double> p(groups.n_groups), room(groups.n_groups);
    LogisticGroups each = groups;  // of one row each, none with the answer 1: the residual is p
    const std::vector<double> one(groups.n_groups, 1.0), none(groups.n_groups);
    each.total = one.data(), each.ones = none.data();
    kernels_.logistic->loss(each, coefficients.data(), p.data(), room.data());
    double sum = 0, moved = 0;
    for (std::size_t i = 0; i < columns_.n_rows; ++i) {
        const double now = ones_[i] - columns_.weights[i] * p[groups_.group[i]];
        moved += std::abs(now - residual_[i]);
        sum += residual_[i] = now;
    }
    sum_ = sum;
    moved_ += moved / 2;
}

// By the columns looked at; by more of them where the groups are there already.
void LogisticPath::group_rows() {
    std::vector<std::uint32_t> added, dropped;
    std::ranges::set_difference(looked_at_, grouped_by_, std::back_inserter(added));
    if (added.empty()) return;
    std::ranges::set_difference(grouped_by_, looked_at_, std::back_inserter(dropped));
    if (dropped.empty()) {
        refine(kernels_, columns_, added, groups_);
    } else {
        groups_ = one_group(columns_);
        refine(kernels_, columns_, looked_at_, groups_);
    }
    grouped_by_ = looked_at_;
}

GroupedRows LogisticPath::grouped(const RowGroups& groups, std::span<const std::uint32_t> chosen) const {
    GroupedRows rows(groups.first.size(), chosen.size());
    for (std::size_t k = 0; k < chosen.size(); ++k) {
        double* column = rows.column(k);
        for (std::size_t u = 0; u < groups.first.size(); ++u) column[u] = columns_.at(chosen[k], groups.first[u]) - 0.5;
    }
    double *total = rows.total(), *ones = rows.ones();
    for (std::size_t i = 0; i < columns_.n_rows; ++i) {
        total[groups.group[i]] += columns_.weights[i];
        ones[groups.group[i]] += ones_[i];
    }
    return rows;
}

}  // namespace mnlearn
