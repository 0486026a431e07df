// The table of a blanket for variables of any number of states, as a sorted list of the configurations that occur.
#pragma once

#include "blankets/blanket_table.hpp"

namespace mnlearn {

class SparseBlanketTable final : public BlanketTable {
public:
    // From all cells of (z, x), where the number of a configuration is its packed states.
    SparseBlanketTable(const Store& store, std::span<const std::int32_t> z, std::uint32_t card_x,
                       std::span<const std::int64_t> cells);
    // From the packed states of (z, x) of every row, in order.
    SparseBlanketTable(const Store& store, std::span<const std::int32_t> z, std::int32_t x,
                       std::span<const std::uint64_t> rows);
    SparseBlanketTable(const Store& store, const SortedRows& rows);

    PairTables single_out(std::int32_t y) override;
    std::span<const std::int32_t> others() const override { return others_; }
    void drop() override;

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

// The packed states of (z, x) of every row, in order. Together they must fit one number.
std::vector<std::uint64_t> sorted_states(const Store& store, std::int32_t x, std::span<const std::int32_t> z);

}  // namespace mnlearn
