// Growing and shrinking the blanket of one variable: the questions of Algorithm 4 of [JAIR09], each decided before the
// next is asked, without a step outside the core in between.
#pragma once

#include "judge.hpp"

namespace mnlearn {

// When to stop: at the first dependent y; after so many independent ones in a row, for then a scan of many is sooner.
struct Until {
    bool first;
    std::size_t in_a_row;
};

// Each y in turn, given z and those before it that turned out dependent. out: one number a y. Returns how many were
// decided: fewer than asked for also where only slower ways lead on.
std::size_t grow(const Store& store, const Decision& test, std::int32_t x, std::span<const std::int32_t> ys,
                 std::span<const std::int32_t> z, const Until& until, double* out);

// Each y in turn, a member of z, given the rest of z without those before it that turned out independent. Likewise.
std::size_t shrink(const Store& store, const Decision& test, std::int32_t x, std::span<const std::int32_t> ys,
                   std::span<const std::int32_t> z, double* out);

}  // namespace mnlearn
