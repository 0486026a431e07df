// Columns of several kinds with gaps: nominal, ordinal, numeric. What the local models of mixed evidence read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/instruction_sets.hpp"
#include "store/log_tables.hpp"

namespace mnlearn {

enum class VariableKind { nominal, ordinal, numeric };
inline constexpr std::uint16_t kMissingState = 0xFFFF;

// A column as it is given: states with `card` for a missing one, or numbers with NaN. One of the three pointers is set.
struct MixedInput {
    VariableKind kind = VariableKind::nominal;
    std::uint32_t card = 0;
    const std::uint8_t* narrow = nullptr;
    const std::uint16_t* wide = nullptr;
    const double* numbers = nullptr;
    std::span<const double> scores;  // of the states of an ordinal variable
};

struct MixedColumn {
    VariableKind kind = VariableKind::nominal;
    std::size_t card = 0;               // states that occur; of a numeric variable 0
    std::size_t n_distinct = 0;         // of a numeric variable: distinct values, if they are ranked
    std::vector<std::uint16_t> states;  // by row: state, or rank of a numeric value; empty if there are too many
    std::vector<double> values;         // of a numeric variable, standardised; 0 where missing
    std::vector<std::uint8_t> present;  // of a numeric variable with gaps: whether a row has a value
    std::vector<double> scores;         // of an ordinal variable: standardised, by state
    std::vector<double> curve;          // the same, and its square made orthogonal to it: [2 * state + power - 1]
    bool gaps = false, constant = false;

    bool numeric() const { return kind == VariableKind::numeric; }
    bool ordered() const { return kind == VariableKind::ordinal; }
    bool observed(std::size_t row) const {
        if (!gaps) return true;
        return numeric() ? present[row] != 0 : states[row] != kMissingState;
    }
};

class MixedData {
public:
    MixedData(std::span<const MixedInput> columns, std::size_t n_records, const std::int64_t* repeats,
              const InstructionSet& level);

    std::size_t n_variables() const { return columns_.size(); }
    std::size_t n_records() const { return n_records_; }
    std::int64_t n_rows() const { return n_rows_; }  // repeats included
    const MixedColumn& operator[](std::int32_t v) const { return columns_[static_cast<std::size_t>(v)]; }
    double weight(std::size_t row) const { return repeats_ ? static_cast<double>(repeats_[row]) : 1.0; }
    const InstructionSet& level() const { return *level_; }
    LogTables& log_tables() const { return log_tables_; }

private:
    MixedColumn categorical(const MixedInput& input) const;
    MixedColumn number(const MixedInput& input) const;

    std::size_t n_records_;
    std::int64_t n_rows_;
    const std::int64_t* repeats_;
    const InstructionSet* level_;
    std::vector<MixedColumn> columns_;
    mutable LogTables log_tables_;
};

// Rows on which all variables of a question are observed, grouped by the configuration of some of them.
struct Frame {
    std::vector<std::uint32_t> rows;   // ascending
    std::vector<std::uint32_t> group;  // by place in `rows`; empty where every row is a group of its own
    std::vector<std::uint32_t> first;  // by group: one of its rows
    std::size_t n_groups = 0;

    bool single() const { return group.empty(); }
    std::size_t group_at(std::size_t place) const { return group.empty() ? place : group[place]; }
};

// The rows in which these variables are observed.
std::vector<std::uint32_t> observed_rows(const MixedData& data, std::span<const std::int32_t> variables);
// Group `frame.rows` by the members; each row by itself where that gives about as many groups.
void group_rows(const MixedData& data, std::span<const std::int32_t> members, Frame& frame);

}  // namespace mnlearn
