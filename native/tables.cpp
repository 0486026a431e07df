#include "tables.hpp"

#include <stdexcept>
#include <string>

#include "row_scan.hpp"
#include "strata.hpp"

namespace mnlearn {
namespace {

const Column& column(const Store& store, std::int32_t v) { return store.column(static_cast<std::size_t>(v)); }

void refuse_huge(const Store& store, std::int32_t x, std::span<const std::int32_t> ys, std::size_t n_strata,
                 double max_cells) {
    double cells = 0.0;
    for (const std::int32_t y : ys)
        cells += static_cast<double>(n_strata) * column(store, x).card * static_cast<double>(column(store, y).card);
    if (cells > max_cells)
        throw std::invalid_argument("tables would need " + std::to_string(cells / 1e9) + " billion cells for x=" +
                                    std::to_string(x) + "; at most " + std::to_string(max_cells / 1e9) +
                                    " billion are counted out. Use reduce, which visits only the occupied cells, "
                                    "ask for fewer y at a time, or merge rare states.");
}

void fill(const Store& store, std::int32_t x, std::int32_t y, const Strata& strata, std::int64_t* counts) {
    const std::size_t rx = column(store, x).card, ry = column(store, y).card;
    with_codes(column(store, x), [&](auto code_x) {
        with_codes(column(store, y), [&](auto code_y) {
            for (std::size_t row = 0; row < store.n_records(); ++row)
                counts[(strata[row] * rx + code_x(row)) * ry + code_y(row)] +=
                    store.repeats() ? store.repeats()[row] : 1;
        });
    });
}

}  // namespace

TablesOfScan count_tables(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                          std::span<const std::int32_t> z, double max_cells) {
    const Strata strata = find_strata(store, z);
    refuse_huge(store, x, ys, strata.count, max_cells);
    TablesOfScan found{strata.count, std::make_unique<std::int64_t[]>(strata.count * z.size() + 1), {}};
    for (std::size_t k = 0; k < z.size(); ++k)
        for (std::size_t row = 0; row < store.n_records(); ++row)
            found.configurations[strata[row] * z.size() + k] = column(store, z[k])[row];
    for (const std::int32_t y : ys) {
        const std::size_t cells = static_cast<std::size_t>(column(store, x).card) * column(store, y).card;
        found.counts.push_back(std::make_unique<std::int64_t[]>(strata.count * cells + 1));
        fill(store, x, y, strata, found.counts.back().get());
    }
    return found;
}

}  // namespace mnlearn
