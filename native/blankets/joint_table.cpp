#include "blankets/joint_table.hpp"

#include <algorithm>
#include <utility>

#include "scan/candidates.hpp"
#include "scan/stratum_table.hpp"
#include "store/strata.hpp"

namespace mnlearn {
namespace {

std::vector<std::int32_t> z_and_x(std::int32_t x, std::span<const std::int32_t> z) {
    std::vector<std::int32_t> variables(z.begin(), z.end());
    variables.push_back(x);
    return variables;
}

std::size_t size_of_table(const Store& store, std::span<const std::int32_t> variables, std::size_t most) {
    std::size_t cells = 1;
    for (const std::int32_t v : variables) {
        cells *= column_of(store, v).card;
        if (cells > most) return most + 1;
    }
    return cells;
}

constexpr std::size_t kMostCells = std::size_t{1} << 16;  // the number of different keys of two bytes

// Rough nanoseconds: splitting off a part and counting it, against one key a row and a look at the table.
bool splitting_pays(const Store& store, std::span<const std::int32_t> variables, std::size_t cells) {
    for (const std::int32_t v : variables)
        if (!store.has_planes(static_cast<std::size_t>(v))) return false;
    const double words = static_cast<double>(store.planes().words);
    return static_cast<double>(cells) * (6.0 + 1.5 * words * store.level().tree_word) <
           1.3 * static_cast<double>(store.n_records());
}

void count_by_splitting(const Store& store, std::span<const std::int32_t> variables, std::vector<std::int64_t>& table) {
    const Planes& planes = store.planes();
    std::vector<TreeLevel> levels;
    for (const std::int32_t v : variables) levels.push_back({store.first_plane(v), column_of(store, v).card});
    std::vector<std::uint32_t> sizes(table.size(), 0);
    store.level().count_tree({planes.bits, planes.words, store.n_records(), levels.data(), levels.size(), nullptr, 0,
                              sizes.data(), nullptr});
    table.assign(sizes.begin(), sizes.end());
}

void count_by_keys(const Store& store, std::span<const std::int32_t> variables, std::vector<std::int64_t>& table) {
    std::vector<Digit> digits;
    for (const std::int32_t v : variables)
        digits.push_back({column_of(store, v).narrow, column_of(store, v).wide, column_of(store, v).card});
    std::vector<std::uint16_t> keys(store.n_records(), 0);
    store.level().make_keys({digits.data(), digits.size(), keys.size(), keys.data()});
    if (store.repeats())
        for (std::size_t row = 0; row < keys.size(); ++row) table[keys[row]] += store.repeats()[row];
    else {
        const std::vector<std::uint32_t> sizes = histogram(keys, table.size());
        table.assign(sizes.begin(), sizes.end());
    }
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

}  // namespace

bool table_is_small(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    const std::size_t most = std::min(kMostCells, std::max<std::size_t>(1024, 2 * store.n_records()));
    return size_of_table(store, z_and_x(x, z), most) <= most;
}

std::vector<std::int64_t> whole_table(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    const std::vector<std::int32_t> variables = z_and_x(x, z);
    std::vector<std::int64_t> table(size_of_table(store, variables, kMostCells), 0);
    if (splitting_pays(store, variables, table.size()))
        count_by_splitting(store, variables, table);
    else
        count_by_keys(store, variables, table);
    return table;
}

JointTable find_cells(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    CacheInUse cache(store);
    const auto kept = cache.strata(z);
    const Strata& strata = *kept;
    const std::vector<Cell> found = occupied(store, column_of(store, x), strata);
    std::vector<std::uint32_t> a_row(strata.count);  // some row of each stratum: it has the states of z
    for (std::size_t row = 0; row < store.n_records(); ++row) a_row[strata[row]] = static_cast<std::uint32_t>(row);
    JointTable cells;
    const std::uint64_t rx = column_of(store, x).card;
    cells.states.reserve((z.size() + 1) * found.size());
    for (const Cell& cell : found) cells.sizes.push_back(cell.size);
    for (const std::int32_t v : z)
        for (const Cell& cell : found) cells.states.push_back(column_of(store, v)[a_row[cell.key / rx]]);
    for (const Cell& cell : found) cells.states.push_back(static_cast<std::uint32_t>(cell.key % rx));
    return cells;
}

JointTable occupied_cells(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    if (!table_is_small(store, x, z)) return find_cells(store, x, z);
    const std::vector<std::int64_t> table = whole_table(store, x, z);
    std::vector<std::size_t> places;
    JointTable cells;
    for (std::size_t place = 0; place < table.size(); ++place) {
        if (table[place] == 0) continue;
        places.push_back(place);
        cells.sizes.push_back(table[place]);
    }
    cells.states.resize((z.size() + 1) * places.size());
    std::size_t below = 1;  // cells of the variables after this one
    for (std::size_t v = z.size() + 1; v-- > 0;) {
        const std::size_t card = store.column(static_cast<std::size_t>(v < z.size() ? z[v] : x)).card;
        for (std::size_t c = 0; c < places.size(); ++c)
            cells.states[v * places.size() + c] = static_cast<std::uint32_t>(places[c] / below % card);
        below *= card;
    }
    return cells;
}

}  // namespace mnlearn
