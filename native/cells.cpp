#include "cells.hpp"

#include <algorithm>
#include <utility>

#include "row_scan.hpp"
#include "strata.hpp"

namespace mnlearn {
namespace {

const Column& column(const Store& store, std::int32_t v) { return store.column(static_cast<std::size_t>(v)); }

// Few combinations of variables that all have planes: counted by splitting, 64 rows at a time (kernels/tree.hpp).
constexpr std::size_t kMaxParts = 512;

bool splits_into_few(const Store& store, std::span<const std::int32_t> variables) {
    std::size_t parts = 1;
    for (const std::int32_t v : variables) {
        if (!store.has_planes(static_cast<std::size_t>(v))) return false;
        parts *= column(store, v).card;
        if (parts > kMaxParts) return false;
    }
    return parts <= store.n_records();
}

// variables: z and then x.
Cells by_splitting(const Store& store, std::span<const std::int32_t> variables) {
    const Planes& planes = store.planes();
    std::vector<TreeLevel> levels;
    std::size_t parts = 1;
    for (const std::int32_t v : variables) {
        levels.push_back({store.first_plane(v), column(store, v).card});
        parts *= levels.back().card;
    }
    std::vector<std::uint32_t> sizes(parts, 0);
    store.level().count_tree({planes.bits.get(), planes.words, store.n_records(), levels.data(), levels.size(), nullptr,
                              0, sizes.data(), nullptr});
    Cells cells;
    std::vector<std::uint32_t> numbers;
    for (std::size_t part = 0; part < parts; ++part) {
        if (sizes[part] == 0) continue;
        cells.sizes.push_back(sizes[part]);
        numbers.push_back(static_cast<std::uint32_t>(part));
    }
    cells.states.resize(variables.size() * cells.count());
    for (std::size_t v = variables.size(); v-- > 0;)  // the last variable is the last digit of a part's number
        for (std::size_t c = 0; c < cells.count(); ++c) {
            cells.states[v * cells.count() + c] = numbers[c] % levels[v].card;
            numbers[c] /= levels[v].card;
        }
    return cells;
}

// One (stratum, state of x) and its rows.
struct Cell {
    std::uint64_t key;  // stratum * states of x + state
    std::int64_t size;
};

// A table of all of them while it is not much larger than the data; else the rows are sorted.
std::vector<Cell> occupied(const Store& store, const Column& x, const Strata& strata) {
    const std::size_t n = store.n_records(), rx = x.card;
    const auto times = [&](std::size_t row) { return store.repeats() ? store.repeats()[row] : 1; };
    std::vector<Cell> cells;
    if (strata.count * rx <= std::max<std::size_t>(2 * n, 4096)) {
        std::vector<std::int64_t> table(strata.count * rx, 0);
        with_codes(x, [&](auto code) {
            for (std::size_t row = 0; row < n; ++row) table[strata[row] * rx + code(row)] += times(row);
        });
        for (std::size_t key = 0; key < table.size(); ++key)
            if (table[key]) cells.push_back({key, table[key]});
        return cells;
    }
    for (std::size_t row = 0; row < n; ++row)
        cells.push_back({static_cast<std::uint64_t>(strata[row]) * rx + x[row], times(row)});
    std::sort(cells.begin(), cells.end(), [](const Cell& u, const Cell& v) { return u.key < v.key; });
    std::size_t kept = 0;
    for (const Cell& cell : cells) {
        if (kept && cells[kept - 1].key == cell.key)
            cells[kept - 1].size += cell.size;
        else
            cells[kept++] = cell;
    }
    cells.resize(kept);
    return cells;
}

Cells by_rows(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    const Strata strata = find_strata(store, z);
    const std::vector<Cell> found = occupied(store, column(store, x), strata);
    std::vector<std::uint32_t> a_row(strata.count);  // some row of each stratum: it has the states of z
    for (std::size_t row = 0; row < store.n_records(); ++row) a_row[strata[row]] = static_cast<std::uint32_t>(row);
    Cells cells;
    const std::uint64_t rx = column(store, x).card;
    cells.states.reserve((z.size() + 1) * found.size());
    for (const Cell& cell : found) cells.sizes.push_back(cell.size);
    for (const std::int32_t v : z)
        for (const Cell& cell : found) cells.states.push_back(column(store, v)[a_row[cell.key / rx]]);
    for (const Cell& cell : found) cells.states.push_back(static_cast<std::uint32_t>(cell.key % rx));
    return cells;
}

}  // namespace

Cells find_cells(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    std::vector<std::int32_t> variables(z.begin(), z.end());
    variables.push_back(x);
    return splits_into_few(store, variables) ? by_splitting(store, variables) : by_rows(store, x, z);
}

}  // namespace mnlearn
