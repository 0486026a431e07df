#include "mixed/mixed_data.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mnlearn {
namespace {

constexpr std::size_t kMostRanks = 0xFFFE;
constexpr std::size_t kRowsARank = 4;  // numeric values are ranked, to group rows, if a value has so many rows

std::int64_t total_rows(std::size_t n_records, const std::int64_t* repeats) {
    return repeats ? std::accumulate(repeats, repeats + n_records, std::int64_t{0})
                   : static_cast<std::int64_t>(n_records);
}

// Mean 0 and variance 1 under these weights, whatever the unit; false if all are equal but for rounding.
bool standardise(std::vector<double>& values, const std::vector<double>& weights) {
    double n = 0.0, sum = 0.0, square = 0.0, largest = 0.0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] = largest > 0.0 ? values[k] / largest : 0.0;
        n += weights[k];
        sum += weights[k] * values[k];
    }
    const double mean = sum / n;
    for (std::size_t k = 0; k < values.size(); ++k) square += weights[k] * (values[k] - mean) * (values[k] - mean);
    const double scale = std::sqrt(square / n);
    const bool varies = scale > 1e-12;
    for (double& value : values) value = varies ? (value - mean) / scale : 0.0;
    return varies;
}

// Standardised scores, and their squares less what a constant and the scores explain, standardised: in turn.
std::vector<double> with_squares(const std::vector<double>& scores, const std::vector<double>& weights) {
    std::vector<double> squares(scores.size()), found;
    double n = 0.0, along = 0.0;
    for (std::size_t s = 0; s < scores.size(); ++s) {
        squares[s] = scores[s] * scores[s];
        n += weights[s];
        along += weights[s] * squares[s] * scores[s];
    }
    for (std::size_t s = 0; s < scores.size(); ++s) squares[s] -= along / n * scores[s];
    standardise(squares, weights);
    for (std::size_t s = 0; s < scores.size(); ++s) found.insert(found.end(), {scores[s], squares[s]});
    return found;
}

}  // namespace

MixedData::MixedData(std::span<const MixedInput> columns, std::size_t n_records, const std::int64_t* repeats,
                     const InstructionSet& level)
    : n_records_(n_records),
      n_rows_(total_rows(n_records, repeats)),
      repeats_(repeats),
      level_(&level),
      log_tables_(n_rows_) {
    for (const MixedInput& input : columns)
        columns_.push_back(input.kind == VariableKind::numeric ? number(input) : categorical(input));
}

MixedColumn MixedData::categorical(const MixedInput& input) const {
    MixedColumn column;
    column.kind = input.kind;
    std::vector<double> counts(input.card + 1, 0.0);
    const auto code = [&](std::size_t row) -> std::size_t {
        return input.narrow ? input.narrow[row] : input.wide[row];
    };
    for (std::size_t row = 0; row < n_records_; ++row) counts[code(row)] += weight(row);
    column.gaps = counts[input.card] > 0.0;
    std::vector<std::uint16_t> rank(input.card + 1, kMissingState);
    std::vector<double> sizes;
    for (std::size_t s = 0; s < input.card; ++s) {
        if (counts[s] == 0.0) continue;  // a state that does not occur is not a state
        rank[s] = static_cast<std::uint16_t>(sizes.size());
        sizes.push_back(counts[s]);
        column.scores.push_back(input.scores.empty() ? static_cast<double>(s) : input.scores[s]);
    }
    column.card = sizes.size();
    column.states.resize(n_records_);
    for (std::size_t row = 0; row < n_records_; ++row) column.states[row] = rank[code(row)];
    column.constant = column.card < 2;
    if (column.card <= 2) column.kind = VariableKind::nominal;  // an order of two states says nothing
    standardise(column.scores, sizes);
    if (column.ordered()) column.curve = with_squares(column.scores, sizes);
    return column;
}

MixedColumn MixedData::number(const MixedInput& input) const {
    MixedColumn column;
    column.kind = VariableKind::numeric;
    std::vector<double> seen, weights, sorted;
    for (std::size_t row = 0; row < n_records_; ++row) {
        if (std::isnan(input.numbers[row])) continue;
        seen.push_back(input.numbers[row]);
        weights.push_back(weight(row));
    }
    column.gaps = seen.size() < n_records_;
    sorted = seen;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    column.constant = seen.empty() || !standardise(seen, weights);
    column.values.assign(n_records_, 0.0);
    if (column.gaps) column.present.assign(n_records_, 0);
    const bool ranked = sorted.size() <= kMostRanks && sorted.size() * kRowsARank <= n_records_;
    if (ranked) {
        column.n_distinct = sorted.size();
        column.states.assign(n_records_, kMissingState);
    }
    for (std::size_t row = 0, k = 0; row < n_records_; ++row) {
        if (std::isnan(input.numbers[row])) continue;
        column.values[row] = seen[k++];
        if (column.gaps) column.present[row] = 1;
        if (ranked)
            column.states[row] = static_cast<std::uint16_t>(
                std::lower_bound(sorted.begin(), sorted.end(), input.numbers[row]) - sorted.begin());
    }
    return column;
}

std::vector<std::uint32_t> observed_rows(const MixedData& data, std::span<const std::int32_t> variables) {
    std::vector<std::uint32_t> rows(data.n_records());
    std::iota(rows.begin(), rows.end(), 0u);
    for (const std::int32_t v : variables)
        if (data[v].gaps) std::erase_if(rows, [&](std::uint32_t row) { return !data[v].observed(row); });
    return rows;
}

void group_rows(const MixedData& data, std::span<const std::int32_t> members, Frame& frame) {
    const std::size_t n = frame.rows.size();
    frame.group.clear();
    frame.first.clear();
    const auto too_fine = [&](std::int32_t v) { return data[v].states.empty(); };
    if (std::ranges::any_of(members, too_fine)) {
        frame.first = frame.rows;
        frame.n_groups = n;
        return;
    }
    frame.group.assign(n, 0);
    frame.n_groups = n ? 1 : 0;
    std::vector<std::uint32_t> number;
    std::vector<std::uint64_t> keys(n), sorted;
    for (const std::int32_t v : members) {
        const MixedColumn& column = data[v];
        const std::size_t card = column.numeric() ? column.n_distinct : column.card;
        if (card < 2) continue;
        for (std::size_t k = 0; k < n; ++k)
            keys[k] = static_cast<std::uint64_t>(frame.group[k]) * card + column.states[frame.rows[k]];
        const std::size_t room = frame.n_groups * card;
        std::uint32_t next = 0;
        if (room <= 16 * n + 4096) {  // ascending keys: the numbers do not depend on the order of the rows
            number.assign(room, 0);
            for (const std::uint64_t key : keys) number[key] = 1;
            for (std::uint32_t& each : number) each = each ? next++ : 0;
            for (std::size_t k = 0; k < n; ++k) frame.group[k] = number[keys[k]];
        } else {
            sorted = keys;
            std::sort(sorted.begin(), sorted.end());
            sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
            for (std::size_t k = 0; k < n; ++k)
                frame.group[k] = static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), keys[k]) -
                                                            sorted.begin());
            next = static_cast<std::uint32_t>(sorted.size());
        }
        frame.n_groups = next;
        if (2 * frame.n_groups > n) {  // as good as one row a group: a full table has nothing to say
            frame.group.clear();
            frame.first = frame.rows;
            frame.n_groups = n;
            return;
        }
    }
    frame.first.assign(frame.n_groups, 0);
    for (std::size_t k = n; k-- > 0;) frame.first[frame.group[k]] = frame.rows[k];
}

}  // namespace mnlearn
