// Rows that sets have in common: each of several sets, a second set, and each of several others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

// Sets have `words` words, a multiple of eight, at multiples of 64 bytes; what follows the last row is zero.
struct IntersectionQuery {
    const std::uint64_t* sets;  // one after the other
    std::size_t n_sets, words;
    const std::uint64_t* second;
    const std::uint64_t* const* others;
    std::size_t n_others;
    std::uint32_t* counts;  // [set * n_others + k]: the rows in this set, in the second, and in others[k]
};

using CountIntersections = void (*)(const IntersectionQuery&);

void count_intersections_portable(const IntersectionQuery& query);
void count_intersections_avx2(const IntersectionQuery& query);
void count_intersections_avx512(const IntersectionQuery& query);

}  // namespace mnlearn
