#include "numbers/products.hpp"

#include <algorithm>
#include <string_view>

#include "store/instruction_sets.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kSide = 60;  // of a tile: whole blocks of every path; a part of its rows fits a cache of 512 KB

TileProducts chosen_for(const std::string& level) {
    [[maybe_unused]] const std::string_view name = choose_instruction_set(level).name;
#ifdef MNLEARN_X86
    if (name == "avx512") return kAvx512Products;
    if (name == "avx2") return kAvx2Products;
#endif
    return kPortableProducts;
}

}  // namespace

void products(const Rows& a, const Rows& b, double* out, const std::string& level, int n_threads) {
    const TileProducts tile_products = chosen_for(level);
    const bool same = a.values == b.values && a.n == b.n;
    const std::size_t wide = (b.n + kSide - 1) / kSide, high = (a.n + kSide - 1) / kSide;
    parallel_for(high * wide, n_threads, [&](std::size_t piece) {
        const std::size_t i = piece / wide, j = piece % wide;
        if (same && j < i) return;
        const Tile tile{i * kSide, std::min(a.n, (i + 1) * kSide), j * kSide, std::min(b.n, (j + 1) * kSide)};
        tile_products(a, b, tile, out);
    });
    for (std::size_t i = 0; same && i < a.n; ++i)
        for (std::size_t j = 0; j < i; ++j) out[i * b.n + j] = out[j * b.n + i];
}

}  // namespace mnlearn
