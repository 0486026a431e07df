#include "tables.hpp"

#include "row_scan.hpp"

namespace mnlearn {

void count_table(const Store& store, std::int32_t x, std::int32_t y, const Strata& strata, std::int64_t* counts) {
    const Column& column_x = store.column(static_cast<std::size_t>(x));
    const Column& column_y = store.column(static_cast<std::size_t>(y));
    const std::size_t rx = column_x.card, ry = column_y.card;
    with_codes(column_x, [&](auto code_x) {
        with_codes(column_y, [&](auto code_y) {
            for (std::size_t row = 0; row < store.n_records(); ++row)
                counts[(strata[row] * rx + code_x(row)) * ry + code_y(row)] +=
                    store.repeats() ? store.repeats()[row] : 1;
        });
    });
}

void list_configurations(const Store& store, std::span<const std::int32_t> z, const Strata& strata,
                         std::int64_t* configurations) {
    for (std::size_t k = 0; k < z.size(); ++k) {
        const Column& column = store.column(static_cast<std::size_t>(z[k]));
        for (std::size_t row = 0; row < store.n_records(); ++row)
            configurations[strata[row] * z.size() + k] = column[row];
    }
}

}  // namespace mnlearn
