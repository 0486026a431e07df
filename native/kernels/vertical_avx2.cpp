// The vertical count on vectors of 32 bytes.
#include "kernels/vertical_impl.hpp"

namespace mnlearn {
namespace {

typedef std::uint64_t Vector __attribute__((vector_size(32)));

}  // namespace

void count_vertical_avx2(const VerticalQuery& query) {
    count_vertical<Vector>(query, [](const Counter<Vector>& counter, std::uint32_t* counts) { counter.write(counts); });
}

std::uint64_t probe_loads_avx2(const std::uint64_t* rows, std::size_t n_rows) {
    return load_rows<Vector>(rows, n_rows);
}

}  // namespace mnlearn
