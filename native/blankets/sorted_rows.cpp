#include "blankets/sorted_rows.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace mnlearn {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

bool can_sort(const Store& store, std::int32_t x, std::span<const std::int32_t> others) {
    const auto has = [&](std::int32_t v) {
        return store.has_planes(static_cast<std::size_t>(v)) || column_of(store, v).card == 1;
    };
    return store.level().stable_partition && store.n_records() > 0 && !store.repeats() && has(x) &&
           std::all_of(others.begin(), others.end(), has);
}

SortedRows::SortedRows(const Store& store) : store_(store), columns_(store), room_(columns_.n_words() + 1) {}

void SortedRows::restart(std::int32_t x) {
    columns_.restart();
    counted_.reset();
    const auto n = static_cast<std::uint32_t>(store_.n_records());
    x_ = x;
    z_.clear();
    card_x_ = 1;  // at first, as if x were a y without any x
    ends_ = {0, n};
    order_ = {0};
    keys_ = {0};
    sizes_ = {n};
    const PairTables states = count(x);
    sizes_.assign(states.counts, states.counts + states.width);
    sizes_.push_back(n - std::accumulate(sizes_.begin(), sizes_.end(), 0u));
    ends_ = {0};
    for (const std::uint32_t size : sizes_) ends_.push_back(ends_.back() + size);
    card_x_ = states.width + 1;
    add_sieves(x);
    forget(x);
}

void SortedRows::forget(std::int32_t y) {
    columns_.forget(y);
    if (counted_ == y) counted_.reset();
}

bool SortedRows::leads_to(std::span<const std::int32_t> z) const {
    return std::includes(z.begin(), z.end(), z_.begin(), z_.end());
}

std::size_t SortedRows::bytes() const {
    std::size_t bytes = columns_.bytes();
    for (const auto* words : {&keys_, &next_keys_}) bytes += 8 * words->capacity();
    for (const Words& set : sets_) bytes += 8 * set.capacity();
    for (const auto* numbers :
         {&ends_, &order_, &sizes_, &counts_, &varied_sizes_, &below_, &room_, &number_, &next_ends_, &next_order_})
        bytes += 4 * numbers->capacity();
    return bytes;
}

PairTables SortedRows::count(std::int32_t y, bool varied) {
    count_states(y);
    if (varied && card_x_ == 2 && column_of(store_, y).card == 2) return varied_tables();
    const std::size_t rx = card_x_, width = column_of(store_, y).card - 1;
    counts_.resize(order_.size() * rx * width);
    for (std::size_t b = 0; b < width; ++b) {
        std::uint32_t *below = below_.data() + b * ends_.size(), *to = counts_.data() + b;
        for (const std::uint32_t s : order_)
            for (std::size_t k = s * rx; k < (s + 1) * rx; ++k, to += width) *to = below[k + 1] - below[k];
    }
    return {card_x_, static_cast<std::uint32_t>(width), order_.size(), sizes_.data(), counts_.data()};
}

PairTables SortedRows::varied_tables() {
    constexpr std::size_t kSpare = 16;  // eight pairs
    const std::size_t n_strata = order_.size();
    counts_.resize(std::max(counts_.size(), 2 * n_strata + kSpare));
    varied_sizes_.resize(counts_.size());
    const std::size_t n = store_.level().pick_varied(
        {below_.data(), order_.data(), sizes_.data(), n_strata, counts_.data(), varied_sizes_.data()});
    return {2, 1, n, varied_sizes_.data(), counts_.data(), n_strata - n};
}

// The rows with each state of y but the last, and how many come before each end.
void SortedRows::count_states(std::int32_t y) {
    const PartitionedColumns::Lanes lanes = columns_.look(y);
    below_.resize(ends_.size() * lanes.count);
    while (sets_.size() < lanes.count) sets_.push_back(Words(columns_.n_words() + 1));
    for (std::size_t b = 0; b < lanes.count; ++b)
        store_.level().count_runs({lanes.rows, lanes.first + b, store_.n_records(), ends_.data(), ends_.size(),
                                   below_.data() + b * ends_.size(), sets_[b].data(), room_.data()});
    counted_ = y;
}

// From now on rows are sorted by the states of y first: a partition for each binary digit of the state, the lowest
// first.
void SortedRows::add_sieves(std::int32_t y) {
    const std::uint32_t card = column_of(store_, y).card;
    for (std::uint32_t digit = 1; digit < card; digit *= 2) {
        if (digit > 1) take_sets(columns_.look(y));  // as the partition before has left them
        Words by = digit_of(card, digit);
        const std::int64_t n_ones = store_.level().count_bits(by.data(), columns_.n_words());
        columns_.add_partition(std::move(by), store_.n_records() - static_cast<std::size_t>(n_ones));
    }
}

void SortedRows::take_sets(const PartitionedColumns::Lanes& lanes) {
    for (std::size_t b = 0; b < lanes.count; ++b)
        store_.level().count_runs(
            {lanes.rows, lanes.first + b, store_.n_records(), nullptr, 0, nullptr, sets_[b].data(), room_.data()});
}

// One binary digit of the counted variable's states: that of the last state, unless a row has another one.
SortedRows::Words SortedRows::digit_of(std::size_t card, std::size_t digit) {
    Words ones = columns_.some_words();
    const std::size_t n_words = columns_.n_words(), in_last = store_.n_records() - 64 * (n_words - 1);
    std::fill_n(ones.begin(), n_words, (card - 1) & digit ? ~std::uint64_t{0} : 0);
    for (std::size_t b = 0; b + 1 < card; ++b) {
        const std::uint64_t *set = sets_[b].data(), has_it = b & digit ? ~std::uint64_t{0} : 0;
        for (std::size_t w = 0; w < n_words; ++w) ones[w] = (ones[w] & ~set[w]) | (set[w] & has_it);
    }
    if (in_last < 64) ones[n_words - 1] &= (std::uint64_t{1} << in_last) - 1;
    return ones;
}

bool SortedRows::can_join(std::int32_t y) const {
    const PackedStates states{store_, z_};
    return states.from(0) + states.width(y) <= PackedStates::kBits - 1;  // no shift is by all bits
}

void SortedRows::join(std::int32_t y) {
    if (counted_ != y) count_states(y);
    split_sets(column_of(store_, y).card);
    sort_strata(y);
    z_.insert(std::lower_bound(z_.begin(), z_.end(), y), y);
    add_sieves(y);
    forget(y);
}

// Where the sets end when the rows with each state of the counted variable stand together, in the order of its states.
void SortedRows::split_sets(std::size_t card) {
    const std::size_t rx = card_x_, n = order_.size(), n_ends = ends_.size();
    number_.resize(n * card);
    next_ends_.resize(n * card * rx + 1);
    std::vector<std::uint32_t> last(ends_);  // the rows with the last state before each end
    for (std::size_t b = 0; b + 1 < card; ++b)
        for (std::size_t k = 0; k < n_ends; ++k) last[k] -= below_[b * n_ends + k];
    std::uint32_t next = 0, begin = 0;
    for (std::size_t b = 0; b < card; ++b) {
        const std::uint32_t* below = b + 1 < card ? below_.data() + b * n_ends : last.data();
        for (std::size_t s = 0; s < n; ++s) {
            const std::uint32_t* set = below + s * rx;
            for (std::size_t a = 0; a < rx; ++a) next_ends_[next * rx + a] = begin + set[a];
            const bool occurs = set[rx] > set[0];
            number_[b * n + s] = occurs ? next : kNone;
            next += occurs;
        }
        begin += below[n_ends - 1];
    }
    next_ends_[next * rx] = begin;
    next_ends_.resize(next * rx + 1);
    ends_.swap(next_ends_);
}

// The lexicographic order after y has joined. Strata that agree in the members of z before y are split together: first
// those with its first state, and so on.
void SortedRows::sort_strata(std::int32_t y) {
    const std::size_t card = column_of(store_, y).card, rx = card_x_, n = order_.size(),
                      n_next = (ends_.size() - 1) / rx;
    const PackedStates states{store_, z_};
    const unsigned width = states.width(y),
                   low = states.from(static_cast<std::size_t>(std::lower_bound(z_.begin(), z_.end(), y) - z_.begin()));
    const std::uint64_t lower = (std::uint64_t{1} << low) - 1;
    next_order_.resize(n_next + 1);  // one more, for what is not there
    next_keys_.resize(n_next + 1);
    std::size_t place = 0;
    for (std::size_t first = 0, last; first < n; first = last) {
        const std::uint64_t before = keys_[first] >> low;
        for (last = first + 1; last < n && keys_[last] >> low == before; ++last) {
        }
        for (std::uint64_t b = 0; b < card; ++b) {
            const std::uint64_t high = (before << width | b) << low;
            for (std::size_t i = first; i < last; ++i) {
                const std::uint32_t s = number_[b * n + order_[i]];
                next_order_[place] = s;
                next_keys_[place] = high | (keys_[i] & lower);
                place += s != kNone;
            }
        }
    }
    next_order_.resize(n_next);
    next_keys_.resize(n_next);
    order_.swap(next_order_);
    keys_.swap(next_keys_);
    sizes_.resize(n_next * rx);
    std::uint32_t* size = sizes_.data();
    for (const std::uint32_t s : order_)
        for (std::size_t k = s * rx; k < (s + 1) * rx; ++k) *size++ = ends_[k + 1] - ends_[k];
}

std::shared_ptr<SortedRows> rows_towards(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    std::shared_ptr<SortedRows> rows = store.take_sorted();
    if (!rows) rows = std::make_shared<SortedRows>(store);
    if (rows->x() != x || !rows->leads_to(z)) rows->restart(x);
    return rows;
}

void keep_rows(const Store& store, std::shared_ptr<SortedRows> rows) {
    const std::size_t bytes = rows->bytes();
    if (bytes <= store.cache_bytes()) store.keep_sorted(std::move(rows), bytes);
}

PartitionedColumns::PartitionedColumns(const Store& store)
    : store_(store), words_(store.planes().words), spare_(store.n_records() + kSiftSpare) {}

void PartitionedColumns::restart() {
    for (Partition& partition : partitions_) free_words_.push_back(std::move(partition.by));
    for (Block& block : blocks_)
        if (block.n_held) free_bytes_.push_back(std::move(block.rows));
    partitions_.clear();
    blocks_.clear();
    places_.clear();
    expected_.clear();
}

void PartitionedColumns::expect(std::span<const std::int32_t> ys) { expected_.assign(ys.begin(), ys.end()); }

void PartitionedColumns::add_partition(Words by, std::size_t n_zeros) {
    partitions_.push_back({std::move(by), n_zeros});
}

void PartitionedColumns::forget(std::int32_t v) {
    const auto found = places_.find(v);
    if (found == places_.end()) return;
    Block& block = blocks_[found->second.block];
    if (--block.n_held == 0) free_bytes_.push_back(std::move(block.rows));
    places_.erase(found);
}

PartitionedColumns::Lanes PartitionedColumns::look(std::int32_t v) {
    const auto found = places_.find(v);
    const Place place = found == places_.end() ? read(v) : found->second;
    Block& block = blocks_[place.block];
    for (; block.depth < partitions_.size(); ++block.depth) pass(partitions_[block.depth], block.rows);
    return {block.rows.data(), place.lane, column_of(store_, v).card - 1};
}

// v, and as many of those expected after it as fit the same block.
PartitionedColumns::Place PartitionedColumns::read(std::int32_t v) {
    auto block = std::find_if(blocks_.begin(), blocks_.end(), [](const Block& b) { return b.n_held == 0; });
    if (block == blocks_.end()) block = blocks_.insert(block, Block{});
    *block = {some_bytes(), 0, 0};
    const auto number = static_cast<std::size_t>(block - blocks_.begin());
    PackQuery query{{}, 0, store_.n_records(), kLanes, block->rows.data()};
    auto next = std::find(expected_.begin(), expected_.end(), v);
    for (std::int32_t u = v;; u = *next) {
        const std::uint32_t n_states = column_of(store_, u).card - 1;
        if (query.n_sets + n_states > kSiftLanes) break;
        places_[u] = {number, query.n_sets};
        ++block->n_held;
        for (std::uint32_t state = 0; state < n_states; ++state)
            query.sets[query.n_sets++] = plane_of(store_, store_.first_plane(u) + state);
        const auto held = [&](std::int32_t y) { return places_.contains(y); };
        if (next != expected_.end()) next = std::find_if_not(next + 1, expected_.end(), held);
        if (next == expected_.end()) break;
    }
    store_.level().pack(query);
    return places_[v];
}

void PartitionedColumns::pass(const Partition& partition, Bytes& rows) {
    store_.level().stable_partition(
        {partition.by.data(), store_.n_records(), partition.n_zeros, rows.data(), spare_.data()});
    rows.swap(spare_);
}

PartitionedColumns::Words PartitionedColumns::some_words() {
    if (free_words_.empty()) return Words(words_ + 1);
    Words words = std::move(free_words_.back());
    free_words_.pop_back();
    return words;
}

PartitionedColumns::Bytes PartitionedColumns::some_bytes() {
    if (free_bytes_.empty()) return Bytes(store_.n_records() + kSiftSpare);
    Bytes bytes = std::move(free_bytes_.back());
    free_bytes_.pop_back();
    return bytes;
}

std::size_t PartitionedColumns::bytes() const {
    const auto held = std::count_if(blocks_.begin(), blocks_.end(), [](const Block& b) { return b.n_held > 0; });
    return (static_cast<std::size_t>(held) + free_bytes_.size() + 1) * spare_.size() +
           8 * (partitions_.size() + free_words_.size()) * (words_ + 1);
}

}  // namespace mnlearn
