// Common rows in plain C++.
#include "kernels/intersections_impl.hpp"
#include "kernels/popcount_portable.hpp"

namespace mnlearn {
namespace {

struct PortableBits {
    static std::uint32_t common(const std::uint64_t* a, const std::uint64_t* b, const std::uint64_t* c,
                                std::size_t words) {
        std::uint64_t total = 0;
        for (std::size_t w = 0; w < words; ++w) total += popcount(a[w] & b[w] & c[w]);
        return static_cast<std::uint32_t>(total);
    }
};

}  // namespace

void count_intersections_portable(const IntersectionQuery& query) { count_intersections<PortableBits>(query); }

}  // namespace mnlearn
