#include "store/strata.hpp"

#include <algorithm>

#include "store/store.hpp"

namespace mnlearn {
namespace {

constexpr std::uint64_t kNarrowKeys = std::uint64_t{1} << 16;

// Keys of two bytes, as long as they suffice: several digits at a time, vectorised (kernels/row_keys.hpp).
class NarrowKeys {
public:
    explicit NarrowKeys(const Store& store) : store_(store), keys_(store.n_records(), 0) {}

    // One more digit; false when even the ranks of the keys leave no room for it.
    bool append(const Column& column) {
        if (space_ * column.card > kNarrowKeys) {
            flush();
            if (!ranked_) rank();
            if (space_ * column.card > kNarrowKeys) return false;
        }
        pending_.push_back({column.narrow, column.wide, column.card});
        space_ *= column.card;
        ranked_ = false;
        return true;
    }

    Strata finish() {
        flush();
        const std::vector<std::uint32_t> sizes = histogram(keys_, space_);
        std::vector<std::uint32_t> ranks(space_);
        Strata strata;
        for (std::size_t key = 0; key < space_; ++key) {
            ranks[key] = static_cast<std::uint32_t>(strata.sizes.size());
            if (sizes[key]) strata.sizes.push_back(sizes[key]);
        }
        strata.count = strata.sizes.size();
        if (strata.count == 1) return strata;
        strata.of_row.resize(keys_.size());
        for (std::size_t row = 0; row < keys_.size(); ++row) strata.of_row[row] = ranks[keys_[row]];
        return strata;
    }

    std::vector<std::uint32_t> widen() {
        flush();
        return {keys_.begin(), keys_.end()};
    }
    std::uint64_t space() const { return space_; }

private:
    void flush() {
        store_.level().make_keys({pending_.data(), pending_.size(), keys_.size(), keys_.data()});
        pending_.clear();
    }

    void rank() {
        std::vector<std::uint16_t> ranks(space_, 0);
        for (const std::uint16_t key : keys_) ranks[key] = 1;
        std::uint32_t next = 0;
        for (std::uint16_t& entry : ranks) entry = static_cast<std::uint16_t>(entry ? next++ : 0);
        if (next < space_)
            for (std::uint16_t& key : keys_) key = ranks[key];
        space_ = next;
        ranked_ = true;
    }

    const Store& store_;
    std::vector<std::uint16_t> keys_;
    std::vector<Digit> pending_;
    std::uint64_t space_ = 1;
    bool ranked_ = true;  // every key below space_ occurs
};

// keys[row] = keys[row] * card + code: one more digit of a mixed-radix number.
template <class Key> void append_digit(std::vector<Key>& keys, const Column& column) {
    const std::size_t n = keys.size();
    const auto card = static_cast<Key>(column.card);
    Key* key = keys.data();
    if (column.narrow)
        for (std::size_t row = 0; row < n; ++row) key[row] = key[row] * card + column.narrow[row];
    else
        for (std::size_t row = 0; row < n; ++row) key[row] = key[row] * card + column.wide[row];
}

// Replace each key by its rank among the distinct keys; returns how many there are.
std::size_t rank_by_table(std::vector<std::uint32_t>& keys, std::size_t key_space) {
    std::vector<std::uint32_t> rank(key_space, 0);
    for (const std::uint32_t key : keys) rank[key] = 1;
    std::uint32_t next = 0;
    for (std::uint32_t& entry : rank) entry = entry ? next++ : 0;
    if (next < key_space)
        for (std::uint32_t& key : keys) key = rank[key];
    return next;
}

// One more digit where the table would be too large: 65,535 states times as many strata as rows.
std::size_t rank_by_sorting(std::vector<std::uint32_t>& keys, const Column& column) {
    std::vector<std::uint64_t> wide(keys.begin(), keys.end());
    append_digit(wide, column);
    std::vector<std::uint64_t> distinct(wide);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (std::size_t row = 0; row < keys.size(); ++row)
        keys[row] = static_cast<std::uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), wide[row]) -
                                               distinct.begin());
    return distinct.size();
}

// The rest of z, by keys of four bytes; `ranked` keys below key_space to begin with.
Strata with_wide_keys(const Store& store, std::vector<std::uint32_t> keys, std::uint64_t key_space,
                      std::span<const std::int32_t> rest) {
    // A table of ranks is worth it while it is not much larger than the data it ranks.
    const std::uint64_t table_limit = std::max<std::uint64_t>(2 * keys.size(), kNarrowKeys);
    bool ranked = true;  // every key below key_space occurs
    for (const std::int32_t variable : rest) {
        const Column& column = store.column(static_cast<std::size_t>(variable));
        if (!ranked && key_space * column.card > table_limit) {
            key_space = rank_by_table(keys, key_space);
            ranked = true;
        }
        if (key_space * column.card > table_limit)
            key_space = rank_by_sorting(keys, column);
        else {
            append_digit(keys, column);
            key_space *= column.card;
            ranked = false;
        }
    }
    if (!ranked) key_space = rank_by_table(keys, key_space);
    Strata strata{static_cast<std::size_t>(key_space), {}, std::vector<std::int64_t>(key_space, 0)};
    for (const std::uint32_t key : keys) ++strata.sizes[key];
    if (strata.count > 1) strata.of_row = std::move(keys);
    return strata;
}

Strata number(const Store& store, std::span<const std::int32_t> z) {
    NarrowKeys keys(store);
    for (std::size_t k = 0; k < z.size(); ++k)
        if (!keys.append(store.column(static_cast<std::size_t>(z[k]))))
            return with_wide_keys(store, keys.widen(), keys.space(), z.subspan(k));
    return keys.finish();
}

}  // namespace

std::vector<std::uint32_t> histogram(std::span<const std::uint16_t> keys, std::size_t space) {
    const std::size_t n = keys.size(), ways = space <= 4096 ? 4 : 1;
    std::vector<std::uint32_t> tables(ways * space, 0);
    std::uint32_t* table[4];
    for (std::size_t k = 0; k < 4; ++k) table[k] = tables.data() + k % ways * space;
    std::size_t row = 0;
    for (; row + 4 <= n; row += 4)
        for (std::size_t k = 0; k < 4; ++k) ++table[k][keys[row + k]];
    for (; row < n; ++row) ++tables[keys[row]];
    for (std::size_t k = 1; k < ways; ++k)
        for (std::size_t key = 0; key < space; ++key) tables[key] += table[k][key];
    tables.resize(space);
    return tables;
}

Strata find_strata(const Store& store, std::span<const std::int32_t> z) {
    if (store.n_records() == 0) return {};
    if (z.empty()) return {1, {}, {store.n_rows()}};
    Strata strata = number(store, z);
    if (store.repeats()) {
        std::fill(strata.sizes.begin(), strata.sizes.end(), 0);
        for (std::size_t row = 0; row < store.n_records(); ++row) strata.sizes[strata[row]] += store.repeats()[row];
    }
    return strata;
}

RowLists list_rows(const Store& store, const Strata& strata) {
    const std::size_t n = store.n_records();
    RowLists lists{std::vector<std::uint32_t>(n), std::vector<std::uint32_t>(strata.count + 1, 0)};
    for (std::size_t row = 0; row < n; ++row) ++lists.begin[strata[row] + 1];
    for (std::size_t s = 0; s < strata.count; ++s) lists.begin[s + 1] += lists.begin[s];
    std::vector<std::uint32_t> next(lists.begin.begin(), lists.begin.end() - 1);
    for (std::size_t row = 0; row < n; ++row) lists.rows[next[strata[row]]++] = static_cast<std::uint32_t>(row);
    return lists;
}

std::shared_ptr<const Strata> StrataCache::find(const Store& store, std::span<const std::int32_t> z) {
    for (auto entry = kept_.begin(); entry != kept_.end(); ++entry) {
        if (!std::ranges::equal(entry->z, z)) continue;
        kept_.splice(kept_.begin(), kept_, entry);
        return entry->strata;
    }
    auto strata = std::make_shared<const Strata>(find_strata(store, z));
    keep(store, {{z.begin(), z.end()}, strata});
    return strata;
}

// The oldest go first. What alone would fill the room is not kept.
void StrataCache::keep(const Store& store, Kept entry) {
    const std::size_t more = entry.strata->bytes(), room = store.cache_bytes();
    if (more > room) return;
    while (!kept_.empty() && (kept_.size() == kMaxKept || bytes_ + more > room)) {
        bytes_ -= kept_.back().strata->bytes();
        kept_.pop_back();
    }
    bytes_ += more;
    kept_.push_front(std::move(entry));
}

}  // namespace mnlearn
