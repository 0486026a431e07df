#include "kernels/dense_cells_impl.hpp"

namespace mnlearn {

const DenseCellKernels kDenseCellsAvx2{append, count, mark, number, tally, find_varied, drop};

}  // namespace mnlearn
