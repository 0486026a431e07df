// Every member of a blanket given the others, from one table that is counted once.
#pragma once

#include <optional>

#include "sorted_rows.hpp"

namespace mnlearn {

// The table of x and z, occupied configurations only, from which one member after the other may go.
class BlanketTable {
public:
    // From all cells of (z, x), where the number of a configuration is its packed states.
    BlanketTable(const Store& store, std::span<const std::int32_t> z, std::uint32_t card_x,
                 std::span<const std::int64_t> cells);
    // From the packed states of (z, x) of every row, in order.
    BlanketTable(const Store& store, std::span<const std::int32_t> z, std::int32_t x,
                 std::span<const std::uint64_t> rows);
    BlanketTable(const Store& store, const SortedRows& rows);

    // The tables of x and this member in every configuration of the others; good until the next call.
    OneByOne single_out(std::int32_t y);
    std::span<const std::int32_t> others() const { return others_; }

    // The member singled out last leaves.
    void drop();

private:
    std::uint64_t before(std::size_t k) const { return keys_[k] >> low_ >> width_; }
    std::uint64_t after(std::size_t k) const { return keys_[k] & ((std::uint64_t{1} << low_) - 1); }
    std::size_t state(std::size_t k) const { return keys_[k] >> low_ & ((std::uint64_t{1} << width_) - 1); }

    // Configurations [first, last) agree before the member, and stand in the order of its states, then of what comes
    // after it: those that agree after it too become one.
    void merge(std::size_t first, std::size_t last);
    // The same for two states of either, without a branch that depends on the data.
    void merge_binary(std::size_t first, std::size_t last);
    void add(std::size_t from, std::size_t b);

    const Store& store_;
    std::uint32_t card_x_, card_y_ = 1;
    std::vector<std::int32_t> z_, others_;
    std::vector<std::uint64_t> keys_, left_;
    std::vector<std::uint32_t> sizes_, left_sizes_, counts_;
    std::size_t n_left_ = 0;
    unsigned low_ = 0, width_ = 0;
    std::vector<std::size_t> next_, ends_;
};

// From the sorted rows if they have come so far; else counted, in a table of all cells if that is small. None where the
// states of a row do not fit one number.
std::optional<BlanketTable> table_of(const Store& store, std::int32_t x, std::span<const std::int32_t> z);

}  // namespace mnlearn
