// The sizes of sets, of their parts and of their intersections, in plain C++.
#pragma once

#include "kernels/bitsets_impl.hpp"
#include "kernels/planes_portable.hpp"
#include "kernels/tree_impl.hpp"

namespace mnlearn {
namespace {
namespace set_sizes {

using planes::popcount;
using tree::Tree;

struct TreeBits {
    static std::uint32_t size(const std::uint64_t* set, std::size_t words) {
        std::uint64_t total = 0;
        for (std::size_t w = 0; w < words; ++w) total += popcount(set[w]);
        return static_cast<std::uint32_t>(total);
    }
    static void common(const std::uint64_t* set, const std::uint64_t* others, std::size_t n, std::size_t words,
                       std::uint32_t* counts) {
        for (std::size_t k = 0; k < n; ++k) {
            const std::uint64_t* other = others + k * kTreeWords;
            std::uint64_t total = 0;
            for (std::size_t w = 0; w < words; ++w) total += popcount(set[w] & other[w]);
            counts[k] += static_cast<std::uint32_t>(total);
        }
    }
};

void count_tree(const TreeQuery& query) { Tree<TreeBits>(query).run(); }

struct SetBits {
    static std::uint32_t common(const std::uint64_t* a, const std::uint64_t* b, const std::uint64_t* c,
                                std::size_t words) {
        std::uint64_t total = 0;
        for (std::size_t w = 0; w < words; ++w) total += popcount(a[w] & b[w] & c[w]);
        return static_cast<std::uint32_t>(total);
    }
};

void count_intersections(const IntersectionQuery& query) { bitsets::count_each<SetBits>(query); }

}  // namespace set_sizes
}  // namespace
}  // namespace mnlearn
