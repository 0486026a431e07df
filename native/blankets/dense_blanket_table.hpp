// The table of a blanket and a binary x where all cells, empty ones included, have a bit each.
//
// The states of (z, x) are the number of a cell, x in the lowest bit. Whether anything is to be learnt from a
// configuration of the others, that is whether x varies in it and the member in question too, is seen for 32 of them at
// once from the bits of the cells that occur (kernels/dense_cells.hpp); only then are the rows of its cells looked up.
#pragma once

#include "blankets/blanket_table.hpp"

namespace mnlearn {

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

}  // namespace mnlearn
