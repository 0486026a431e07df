#include "kernels/binary_gibbs_impl.hpp"

namespace mnlearn {

void update_binary_portable(const BinaryUpdate& update) { update_binary(update); }

}  // namespace mnlearn
