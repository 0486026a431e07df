// The bits of a word in plain C++, for the portable kernels only: the others have an instruction for it.
#pragma once

#include <cstdint>

namespace mnlearn {
namespace {

// Adds neighbours pairwise; written out so that compilers vectorise a loop of them.
inline std::uint64_t popcount(std::uint64_t v) {
    v = v - ((v >> 1) & 0x5555555555555555u);
    v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    v += v >> 8;  // byte sums stay below 256, so no multiplication is needed
    v += v >> 16;
    v += v >> 32;
    return v & 0x7f;
}

}  // namespace
}  // namespace mnlearn
