// Every member of a blanket given the others, from one table that is counted once.
#pragma once

#include <memory>

#include "blankets/sorted_rows.hpp"

namespace mnlearn {

// The table of x and z, occupied configurations only, from which one member after the other may go.
class BlanketTable {
public:
    virtual ~BlanketTable() = default;
    // The tables of x and this member in every configuration of the others; good until the next call.
    virtual PairTables single_out(std::int32_t y) = 0;
    virtual std::span<const std::int32_t> others() const = 0;
    // The member singled out last leaves.
    virtual void drop() = 0;
};

// From the sorted rows if they have come so far; else counted. `varied`: strata in which x or y does not vary need only
// be counted. None where the states of a row do not fit one number.
std::unique_ptr<BlanketTable> table_of(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                                       std::span<const std::int32_t> z, bool varied);

// The table of a blanket and a binary x where all cells, empty ones included, have a bit each.
//
// The states of (z, x) are the number of a cell, x in the lowest bit. Whether anything is to be learnt from a
// configuration of the others, that is whether x varies in it and the member in question too, is seen for 32 of them at
// once from the bits of the cells that occur (kernels/dense_cells.hpp); only then are the rows of its cells looked up.

class DenseBlanketTable final : public BlanketTable {
public:
    // Whether x and ys are binary and the bits take little room beside the rows.
    static bool can_hold(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                         std::span<const std::int32_t> z);
    DenseBlanketTable(const Store& store, std::int32_t x, std::span<const std::int32_t> z);
    DenseBlanketTable(const Store& store, const SortedRows& rows);

    PairTables single_out(std::int32_t y) override;  // what does not vary is left out, but numbered
    std::span<const std::int32_t> others() const override { return others_; }
    void drop() override;

private:
    DenseCells view() const { return {occupied_.get(), numbers_.get(), sizes_.get(), n_words_}; }
    DenseBlanketTable(const Store& store, std::span<const std::int32_t> z);  // empty
    void number();
    void count_cells(const Store& store, std::int32_t x);
    template <class Cell> void take_table(const Cell* table);
    void count_few(std::span<const std::uint32_t> cells);
    void count_many(std::span<const std::uint32_t> cells);

    BufferPool& pool_;
    const DenseCellKernels& kernels_;
    std::vector<std::int32_t> z_, others_;
    std::vector<unsigned> bits_;  // per member of z: its bit in the number of a cell
    std::size_t n_cells_, n_words_, n_occur_ = 0;
    Buffer<std::uint64_t> occupied_;
    Buffer<std::uint32_t> numbers_, sizes_;       // see DenseCells
    Buffer<std::uint32_t> other_sizes_, counts_;  // of the member singled out last:
    std::size_t member_ = 0;                      // its place in z
};

// The table of a blanket for variables of any number of states, as a sorted list of the configurations that occur.

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
