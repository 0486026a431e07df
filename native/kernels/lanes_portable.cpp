#include "kernels/lanes_impl.hpp"

namespace mnlearn {

void count_lanes_portable(const LaneQuery& query) { count_lanes(query); }

}  // namespace mnlearn
