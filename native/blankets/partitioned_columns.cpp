#include "blankets/partitioned_columns.hpp"

#include <algorithm>

namespace mnlearn {

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
