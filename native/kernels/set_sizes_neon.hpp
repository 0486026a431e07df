// The sizes of sets, of their parts and of their intersections with NEON. Sets have a multiple of eight words.
#pragma once

#include "kernels/bitsets_impl.hpp"
#include "kernels/neon.hpp"
#include "kernels/tree_impl.hpp"

namespace mnlearn {
namespace {
namespace set_sizes {

using tree::Tree;

template <class Vector128> inline std::uint32_t size_of(std::size_t words, const Vector128& vector) {
    neon::Size size;
    size.add(words / 2, vector);
    return size.bits();
}

struct TreeBits {
    static std::uint32_t size(const std::uint64_t* set, std::size_t words) {
        return size_of(words, [&](std::size_t k) { return neon::load(set + 2 * k); });
    }
    static void common(const std::uint64_t* set, const std::uint64_t* others, std::size_t n, std::size_t words,
                       std::uint32_t* counts) {
        for (std::size_t k = 0; k < n; ++k, others += kTreeWords)
            counts[k] += size_of(
                words, [&](std::size_t j) { return vandq_u64(neon::load(set + 2 * j), neon::load(others + 2 * j)); });
    }
};

void count_tree(const TreeQuery& query) { Tree<TreeBits>(query).run(); }

struct SetBits {
    static std::uint32_t common(const std::uint64_t* a, const std::uint64_t* b, const std::uint64_t* c,
                                std::size_t words) {
        return size_of(words, [&](std::size_t k) {
            return vandq_u64(vandq_u64(neon::load(a + 2 * k), neon::load(b + 2 * k)), neon::load(c + 2 * k));
        });
    }
};

void count_intersections(const IntersectionQuery& query) { bitsets::count_each<SetBits>(query); }

}  // namespace set_sizes
}  // namespace
}  // namespace mnlearn
