#include "scan/pair_blocks.hpp"

#include <algorithm>

namespace mnlearn {

std::vector<std::vector<std::int32_t>> plane_runs(const Store& store, std::size_t first, std::size_t last) {
    std::vector<std::vector<std::int32_t>> runs;
    const std::size_t most = sets_together(store);
    std::size_t n_sets = most;
    for (std::size_t v = first; v < last; ++v) {
        if (!store.has_planes(v)) continue;
        const std::size_t more = store.column(v).card - 1;
        if (n_sets + more > most) {
            runs.emplace_back();
            n_sets = 0;
        }
        runs.back().push_back(static_cast<std::int32_t>(v));
        n_sets += more;
    }
    return runs;
}

PairBlock::PairBlock(const Store& store, std::span<const std::int32_t> some)
    : ys(some.begin(), some.end()), columns(plane_columns(store, ys)), totals(column_totals(store, columns)) {
    for (std::size_t k = 0; k < ys.size(); ++k) {
        const bool is_binary = store.column(static_cast<std::size_t>(ys[k])).card == 2;
        (is_binary ? binary : other).push_back(k);
        if (is_binary) zeros.push_back(totals[columns.column[k]]);
    }
    if (binary.empty()) return;
    const std::size_t first = binary.front(), last = binary.back(), steps = binary.size() - 1;
    neighbours = static_cast<std::size_t>(ys[last] - ys[first]) == steps &&
                 columns.column[last] - columns.column[first] == steps;
}

std::size_t PairBlock::after(std::int32_t x) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(ys, x) - ys.begin());
}

std::size_t PairBlock::binary_from(std::size_t place) const {
    if (other.empty()) return place;
    return static_cast<std::size_t>(std::ranges::lower_bound(binary, place) - binary.begin());
}

std::size_t PairBlock::from_group(std::size_t group) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(columns.column, group * kLanes) - columns.column.begin());
}

std::vector<PairBlock> pair_blocks(const Store& store, std::size_t first) {
    std::vector<std::int32_t> with_planes;
    for (std::size_t v = first; v < store.n_variables(); ++v)
        if (store.has_planes(v)) with_planes.push_back(static_cast<std::int32_t>(v));
    std::vector<PairBlock> blocks;
    const std::span<const std::int32_t> all(with_planes);
    for (std::size_t k = 0; k < all.size(); k += kYsTogether)
        blocks.emplace_back(store, all.subspan(k, std::min(kYsTogether, all.size() - k)));
    return blocks;
}

}  // namespace mnlearn
