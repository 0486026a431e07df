// The vertical count on vectors of 64 bytes.
#include "kernels/vertical_impl.hpp"

namespace mnlearn {
namespace {

typedef std::uint64_t Vector __attribute__((vector_size(64)));

}  // namespace

void count_vertical_avx512(const VerticalQuery& query) { count_vertical<Vector>(query); }

std::uint64_t probe_loads_avx512(const std::uint64_t* rows, std::size_t n_rows) {
    return load_rows<Vector>(rows, n_rows);
}

}  // namespace mnlearn
