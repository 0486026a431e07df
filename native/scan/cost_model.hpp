// How long each way of counting takes: the cost model. Linear in its constants (scan/cost_constants.hpp), which is how
// they are found.
#pragma once

#include <span>

#include "scan/candidates.hpp"
#include "scan/cost_constants.hpp"
#include "store/store.hpp"

namespace mnlearn {

inline constexpr double kTablesAtMost = 3;  // so few y are counted sooner one by one by their keys than in eight lanes

// The size of a question: all that its cost depends on.
struct ScanSize {
    ScanSize(const Store& store, std::int32_t x, const Candidates& ys, std::span<const std::int32_t> z);
    ScanSize(const Store& store, std::int32_t x, const Candidates& ys, const Strata& strata);  // numbered already

    double rows, words;
    double ys, states, groups;  // y; planes of theirs, and groups of eight
    double gathered = 0;        // y whose planes are brought together first
    double blocks;              // of 512 columns in which they stand
    double passes;              // over eight lanes, for all their states and one that counts every row
    std::uint32_t card_x;
    bool binary;                       // x and all y
    double variables = 1, planes = 0;  // of z and x
    double configurations = 1, sets;   // of z, of z and x
    double strata = 1, occupied;       // about how many of them have rows
    double digits;                     // of the number of rows in one of them
    // Lists from planes (scan/row_lists_from_planes.cpp): the planes that split bitsets, those sets, and how often
    // their rows are sorted further.
    double split_planes, split_sets, sorts = 0;
    bool strung = false;  // from the lists of several blocks of rows

private:
    ScanSize(const Store& store, std::int32_t x, const Candidates& ys);
    void finish();
    void divide(const Store& store, std::int32_t x, std::span<const std::int32_t> z);
};

// Nanoseconds of one core for all y, by one method; planes and alone with the strata numbered already.
double cost_of(CountingMethod method, const ScanSize& work, const CostConstants& costs);
// The part that is counting and scoring, once the sets of x are there; for methods that make sets without numbers.
double cost_of_counting(CountingMethod method, const ScanSize& work, const CostConstants& costs);
double cost_of_numbering(const ScanSize& work, const CostConstants& costs);

}  // namespace mnlearn
