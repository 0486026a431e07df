#include "kernels/bit_cells_impl.hpp"

namespace mnlearn {

const BitCellKernels kBitCellsAvx2 = kKernels;

}  // namespace mnlearn
