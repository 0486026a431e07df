// The splitting count in plain C++.
#include "kernels/popcount_portable.hpp"
#include "kernels/tree_impl.hpp"

namespace mnlearn {
namespace {

struct PortableBits {
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

}  // namespace

void count_tree_portable(const TreeQuery& query) { Tree<PortableBits>(query).run(); }

}  // namespace mnlearn
