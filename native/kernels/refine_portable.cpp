// Parting row lists row by row. AVX2 has nothing faster: it cannot compress.
#include "kernels/refine_impl.hpp"

namespace mnlearn {

void refine_short_portable(const RefineQuery<std::uint16_t>& query) {
    refine_lists(query, part_row_by_row<std::uint16_t>);
}

void refine_long_portable(const RefineQuery<std::uint32_t>& query) {
    refine_lists(query, part_row_by_row<std::uint32_t>);
}

}  // namespace mnlearn
