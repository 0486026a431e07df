// Common rows, written once over a type that adds up bits.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#include "kernels/intersections.hpp"

namespace mnlearn {
namespace {

// Bits::common(a, b, c, words): the bits that three sets share.
template <class Bits> void count_intersections(const IntersectionQuery& q) {
    for (std::size_t s = 0; s < q.n_sets; ++s)
        for (std::size_t k = 0; k < q.n_others; ++k)
            q.counts[s * q.n_others + k] = Bits::common(q.sets + s * q.words, q.second, q.others[k], q.words);
}

}  // namespace
}  // namespace mnlearn
