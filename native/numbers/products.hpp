// Matrix products whose sums have one order: the same bits for any number of threads and any instruction set.
#pragma once

#include <cstddef>
#include <string>

namespace mnlearn {

// Rows of `length` numbers, one after the other.
struct Rows {
    const double* values;
    std::size_t n, length;
};

// out[i * b.n + j] = Σ a[i] b[j]. Each sum is taken in parts of kPart numbers, each part in eight sums side by side.
// Where a and b are the same rows, one half is computed and copied. `level` names the instruction set, or is empty.
void products(const Rows& a, const Rows& b, double* out, const std::string& level, int n_threads);

// Products of a tile: some rows of a with some rows of b. One function for each instruction set.
struct Tile {
    std::size_t first_a, last_a, first_b, last_b;
};
using TileProducts = void (*)(const Rows& a, const Rows& b, const Tile& tile, double* out);
extern const TileProducts kPortableProducts, kAvx2Products, kAvx512Products;

}  // namespace mnlearn
