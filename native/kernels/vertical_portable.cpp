// The vertical count on vectors of 16 bytes.
#include "kernels/vertical_impl.hpp"

namespace mnlearn {

void count_vertical_portable(const VerticalQuery& query) {
    typedef std::uint64_t Vector __attribute__((vector_size(16)));
    count_vertical<Vector>(query);
}

}  // namespace mnlearn
