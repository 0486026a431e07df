#include "kernels/lanes_impl.hpp"

namespace mnlearn {

void count_lanes_avx512(const LaneQuery& query) { count_lanes(query); }

}  // namespace mnlearn
