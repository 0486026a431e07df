// Common rows in plain C++.
#include "kernels/common_impl.hpp"

namespace mnlearn {
namespace {

struct PortableBits {
    static std::uint64_t popcount(std::uint64_t v) {  // adds neighbours pairwise: compilers vectorise it
        v = v - ((v >> 1) & 0x5555555555555555u);
        v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
        v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
        v += v >> 8;
        v += v >> 16;
        v += v >> 32;
        return v & 0x7f;
    }
    static std::uint32_t common(const std::uint64_t* a, const std::uint64_t* b, const std::uint64_t* c,
                                std::size_t words) {
        std::uint64_t total = 0;
        for (std::size_t w = 0; w < words; ++w) total += popcount(a[w] & b[w] & c[w]);
        return static_cast<std::uint32_t>(total);
    }
};

}  // namespace

void count_common_portable(const CommonQuery& query) { count_common<PortableBits>(query); }

}  // namespace mnlearn
