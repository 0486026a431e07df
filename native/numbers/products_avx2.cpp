#include "numbers/products_impl.hpp"

namespace mnlearn {

const TileProducts kAvx2Products = &tile_products<4, 3, 2>;

}  // namespace mnlearn
