#include "numbers/products_impl.hpp"

namespace mnlearn {

const TileProducts kPortableProducts = &tile_products<2, 2, 1>;

}  // namespace mnlearn
