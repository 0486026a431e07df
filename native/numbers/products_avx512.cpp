#include "numbers/products_impl.hpp"

namespace mnlearn {

const TileProducts kAvx512Products = &tile_products<8, 4, 5>;

}  // namespace mnlearn
