// The vertical count on vectors of 64 bytes.
#include "kernels/vertical_impl.hpp"

namespace mnlearn {

void count_vertical_avx512(const VerticalQuery& query) {
    typedef std::uint64_t Vector __attribute__((vector_size(64)));
    count_vertical<Vector>(query);
}

}  // namespace mnlearn
