#include "blankets/blanket_table.hpp"

#include <algorithm>
#include <bit>

#include "blankets/joint_table.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kMostBits = 24, kBitsPerRow = 64, kAtLeast = std::size_t{1} << 16;
constexpr std::size_t kFewCells = 128;  // so few are counted soonest by splitting the rows

// The number of each row's cell: the states of these variables side by side, the last in the lowest bits.
void number_by_codes(const Store& store, std::span<const std::int32_t> variables, std::span<std::uint32_t> cells) {
    std::ranges::fill(cells, 0u);
    const PackedStates states{store, variables};
    for (const std::int32_t v : variables)
        with_codes(column_of(store, v), [&, width = states.width(v)](auto code) {
            for (std::size_t row = 0; row < cells.size(); ++row) cells[row] = cells[row] << width | code(row);
        });
}

// Number the cells of binary variables, eight at a time from their planes; a plane holds the rows with the first state.
void number_by_planes(const Store& store, std::span<const std::int32_t> variables, std::span<std::uint32_t> cells) {
    const std::size_t n = variables.size();
    std::ranges::fill(cells, (std::uint32_t{1} << n) - 1);
    const Buffer<std::uint8_t> bytes(store.pool(), cells.size() + kSiftSpare);
    for (std::size_t low = 0; low < n; low += kSiftLanes) {
        PackQuery query{{}, 0, cells.size(), kLanes, bytes.get()};
        for (std::size_t bit = low; bit < std::min(low + kSiftLanes, n); ++bit)
            query.sets[query.n_sets++] = plane_of(store, store.first_plane(variables[n - 1 - bit]));
        store.level().pack(query);
        store.level().dense_cells->append({bytes.get(), cells.size(), static_cast<unsigned>(low), cells.data()});
    }
}

}  // namespace

bool DenseBlanketTable::can_hold(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                                 std::span<const std::int32_t> z) {
    const auto binary = [&](std::int32_t v) { return column_of(store, v).card == 2; };
    const unsigned bits = PackedStates{store, z}.from(0) + 1;
    if (bits > kMostBits || !binary(x) || !std::all_of(ys.begin(), ys.end(), binary)) return false;
    return std::size_t{1} << bits <= std::max(kAtLeast, kBitsPerRow * store.n_records());
}

DenseBlanketTable::DenseBlanketTable(const Store& store, std::span<const std::int32_t> z)
    : pool_(store.pool()), kernels_(*store.level().dense_cells), z_(z.begin(), z.end()) {
    const PackedStates states{store, z};
    for (std::size_t k = 0; k < z.size(); ++k) bits_.push_back(states.from(k + 1) + 1);
    n_cells_ = std::size_t{2} << states.from(0);
    n_words_ = (n_cells_ + 63) / 64;
    occupied_ = Buffer<std::uint64_t>(pool_, n_words_);
    numbers_ = Buffer<std::uint32_t>(pool_, n_words_);
    std::fill_n(occupied_.get(), n_words_, 0);
}

DenseBlanketTable::DenseBlanketTable(const Store& store, std::int32_t x, std::span<const std::int32_t> z)
    : DenseBlanketTable(store, z) {
    const auto packed = [&](std::int32_t v) { return std::has_single_bit(column_of(store, v).card); };
    if (n_cells_ <= kFewCells && std::all_of(z.begin(), z.end(), packed))
        take_table(whole_table(store, x, z).data());
    else
        count_cells(store, x);
}

DenseBlanketTable::DenseBlanketTable(const Store& store, const SortedRows& rows) : DenseBlanketTable(store, rows.z()) {
    for (std::size_t k = 0; k < rows.keys().size(); ++k)
        for (std::size_t a = 0; a < 2; ++a) {
            const std::uint64_t cell = 2 * rows.keys()[k] + a;
            occupied_[cell / 64] |= std::uint64_t{rows.sizes()[2 * k + a] != 0} << cell % 64;
        }
    number();
    std::ranges::copy(rows.sizes(), sizes_.get());
}

void DenseBlanketTable::count_cells(const Store& store, std::int32_t x) {
    const Buffer<std::uint32_t> room(pool_, store.n_records());
    const std::span cells(room.get(), store.n_records());
    std::vector<std::int32_t> variables(z_);
    variables.push_back(x);
    const auto binary = [&](std::int32_t v) { return column_of(store, v).card == 2; };
    if (std::all_of(z_.begin(), z_.end(), binary))
        number_by_planes(store, variables, cells);
    else
        number_by_codes(store, variables, cells);
    n_cells_ <= cells.size() ? count_few(cells) : count_many(cells);
}

// From the rows of all cells.
template <class Cell> void DenseBlanketTable::take_table(const Cell* table) {
    for (std::size_t cell = 0; cell < n_cells_; ++cell)
        occupied_[cell / 64] |= std::uint64_t{table[cell] != 0} << cell % 64;
    number();
    for (std::size_t cell = 0, to = 0; cell < n_cells_; cell += 2) {
        sizes_[to] = static_cast<std::uint32_t>(table[cell]);
        sizes_[to + 1] = static_cast<std::uint32_t>(table[cell + 1]);
        to += table[cell] | table[cell + 1] ? 2 : 0;
    }
}

// With fewer cells than rows: a counter for each.
void DenseBlanketTable::count_few(std::span<const std::uint32_t> cells) {
    const std::size_t n_counters = n_cells_ <= kFewForSeveral ? kSeveralTables * n_cells_ : n_cells_;
    const Buffer<std::uint32_t> tables(pool_, n_counters);
    std::fill_n(tables.get(), n_counters, 0u);
    kernels_.count(cells.data(), cells.size(), tables.get(), n_cells_);
    take_table(tables.get());
}

// Else first which cells occur, then how often.
void DenseBlanketTable::count_many(std::span<const std::uint32_t> cells) {
    kernels_.mark(cells.data(), cells.size(), occupied_.get());
    number();
    std::fill_n(sizes_.get(), 2 * n_occur_, 0u);
    kernels_.tally({cells.data(), cells.size(), view(), sizes_.get()});
}

// And makes room for as many configurations as occur.
void DenseBlanketTable::number() {
    n_occur_ = kernels_.number(occupied_.get(), n_words_, numbers_.get());
    for (Buffer<std::uint32_t>* room : {&sizes_, &other_sizes_, &counts_})
        *room = Buffer<std::uint32_t>(pool_, 2 * (n_occur_ + kSpareCells));
}

PairTables DenseBlanketTable::single_out(std::int32_t y) {
    member_ = static_cast<std::size_t>(std::lower_bound(z_.begin(), z_.end(), y) - z_.begin());
    others_.assign(z_.begin(), z_.end());
    others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(member_));
    VariedQuery query{view(), bits_[member_], counts_.get(), other_sizes_.get(), 0, 0};
    kernels_.find_varied(query);
    return {2, 1, query.n_varied, other_sizes_.get(), counts_.get(), query.n_all - query.n_varied};
}

void DenseBlanketTable::drop() {
    const std::size_t n_words = std::max<std::size_t>(1, n_words_ / 2);
    Buffer<std::uint64_t> left(pool_, n_words);
    std::fill_n(left.get(), n_words, 0);
    kernels_.drop({view(), bits_[member_], left.get(), other_sizes_.get()});
    std::swap(occupied_, left);
    std::swap(sizes_, other_sizes_);
    n_cells_ /= 2;
    n_words_ = n_words;
    n_occur_ = kernels_.number(occupied_.get(), n_words_, numbers_.get());
    z_.swap(others_);
    for (std::size_t k = 0; k < member_; ++k) --bits_[k];
    bits_.erase(bits_.begin() + static_cast<std::ptrdiff_t>(member_));
}

}  // namespace mnlearn
