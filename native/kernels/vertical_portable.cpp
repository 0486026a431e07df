// The vertical count on vectors of 16 bytes.
#include "kernels/vertical_impl.hpp"

namespace mnlearn {
namespace {

typedef std::uint64_t Vector __attribute__((vector_size(16)));

}  // namespace

void count_vertical_portable(const VerticalQuery& query) {
    count_vertical<Vector>(query, [](const Counter<Vector>& counter, std::uint32_t* counts) { counter.write(counts); });
}

std::uint64_t probe_loads_portable(const std::uint64_t* rows, std::size_t n_rows) {
    return load_rows<Vector>(rows, n_rows);
}

}  // namespace mnlearn
