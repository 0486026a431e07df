#include "kernels/bit_cells_impl.hpp"

namespace mnlearn {

const BitCellKernels kBitCellsAvx512 = kKernels;

}  // namespace mnlearn
