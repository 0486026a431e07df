#include "kernels/binary_gibbs_impl.hpp"

namespace mnlearn {

void update_bits_avx512(const BitUpdate& update) { update_bits(update); }

}  // namespace mnlearn
