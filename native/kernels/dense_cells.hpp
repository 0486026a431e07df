// Tables with a bit for each cell, empty ones included: which cells occur, and how many rows those have.
//
// The number of a cell ends with the state of a binary x, so cells come in pairs, one pair for each configuration of
// the other variables, 32 pairs to a word. Configurations that occur are numbered in order; rows are kept for them
// only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

// The cells of these rows: cells[row] ^= the byte of the row, moved up.
struct CellQuery {
    const std::uint8_t* bytes;
    std::size_t n_rows;
    unsigned up;
    std::uint32_t* cells;
};

struct DenseCells {
    const std::uint64_t* occupied;  // per cell
    const std::uint32_t* numbers;   // per word: the configurations that occur before it
    const std::uint32_t* sizes;     // per configuration that occurs: the rows with x = 0, with x = 1
    std::size_t n_words;
};

struct TallyQuery {
    const std::uint32_t* cells;
    std::size_t n_rows;
    DenseCells table;
    std::uint32_t* sizes;  // zero before the call
};

// One binary member singled out: its bit in the number of a cell. Of the configurations of the others only those in
// which x varies and the member too.
struct VariedQuery {
    DenseCells table;
    unsigned bit;
    std::uint32_t *counts, *sizes;  // [2 * configuration + state of x]: the rows with its first state, all rows
    std::size_t n_varied, n_all;    // how many there are
};

// The member leaves: the cells of its two states become one, numbered without its bit.
struct DropQuery {
    DenseCells table;
    unsigned bit;
    std::uint64_t* occupied;  // zero before the call
    std::uint32_t* sizes;     // room for as many as there were
};
// Where sizes and counts are read and written, so many more configurations are, of unknown content.
inline constexpr std::size_t kSpareCells = 8;

// Rows of few cells are counted in several tables: none need wait for the row before it.
inline constexpr std::size_t kSeveralTables = 4, kFewForSeveral = 1024;

struct DenseCellKernels {
    void (*append)(const CellQuery&);
    // tables: of n_cells each, zero before the call; the result is the first.
    void (*count)(const std::uint32_t* cells, std::size_t n_rows, std::uint32_t* tables, std::size_t n_cells);
    void (*mark)(const std::uint32_t* cells, std::size_t n_rows, std::uint64_t* occupied);
    std::uint32_t (*number)(const std::uint64_t* occupied, std::size_t n_words, std::uint32_t* numbers);  // how many
    void (*tally)(const TallyQuery&);
    void (*find_varied)(VariedQuery&);
    void (*drop)(const DropQuery&);
};

}  // namespace mnlearn
