#include "kernels/binary_gibbs_impl.hpp"

namespace mnlearn {

void update_binary_avx512(const BinaryUpdate& update) { update_binary(update); }

}  // namespace mnlearn
