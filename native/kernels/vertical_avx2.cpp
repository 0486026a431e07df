// The vertical count on vectors of 32 bytes.
#include "kernels/vertical_impl.hpp"

namespace mnlearn {

void count_vertical_avx2(const VerticalQuery& query) {
    typedef std::uint64_t Vector __attribute__((vector_size(32)));
    count_vertical<Vector>(query);
}

}  // namespace mnlearn
