// Searches that try one set after another until one separates: each question decided before the next is asked, without
// a step outside the core in between.
#pragma once

#include <functional>

#include "judge.hpp"

namespace mnlearn {

// Asked several times a second, at which variable the search is: whether to go on.
using GoOn = std::function<bool(std::int32_t x)>;

// A level of PC-stable  [CM14]: for each x, all sets of one size among the neighbours that it had at the beginning,
// each tried on all that are left around x; a set that y < x has around it too was tried from there. Matrices by rows.
struct PcLevel {
    std::size_t size;
    std::size_t first_x, last_x;  // whose turns: [first, last)
    const bool* around;           // at the beginning of the level
    bool* left;                   // now
    double* weakest;              // [x, y]: the largest support found when x was asked about y; NaN for none
};
struct Separated {
    std::vector<std::int32_t> sets;  // for each pair that was separated: x, y, and the members of the set, ascending
    std::vector<double> support;
    std::int64_t asked = 0;
    bool finished = true;
};
Separated separate(const Store& store, const Decision& test, const PcLevel& level, const GoOn& go_on);

// Whether every question about sets of this size has an answer here: log p is known for so many degrees of freedom.
bool answers_all(const Store& store, const Decision& test, std::size_t size);

}  // namespace mnlearn
