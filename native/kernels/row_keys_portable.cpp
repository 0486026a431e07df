#include "kernels/row_keys_impl.hpp"

namespace mnlearn {

void make_keys_portable(const KeyQuery& query) { make_keys(query); }

}  // namespace mnlearn
