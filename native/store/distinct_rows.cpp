#include "store/distinct_rows.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "scan/stratum_table.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kRowsTogether = 256;

// Hashes of some neighbouring rows, column by column.
void hash_rows(std::span<const Column> columns, std::size_t begin, std::span<std::uint64_t> hashes) {
    std::fill(hashes.begin(), hashes.end(), std::uint64_t{1});
    for (const Column& column : columns)
        with_codes(column, [&](auto code) {
            for (std::size_t k = 0; k < hashes.size(); ++k)
                hashes[k] = (hashes[k] + code(begin + k)) * 0x9e3779b97f4a7c15;
        });
    for (std::uint64_t& hash : hashes) hash ^= hash >> 32;
}

// The distinct rows seen so far; found by a hash, then compared by their codes.
class SeenRows {
public:
    SeenRows(std::span<const Column> columns, std::size_t most)
        : columns_(columns), places_(std::bit_ceil(2 * most + 2), kFree) {}

    std::size_t size() const { return rows_.first.size(); }
    DistinctRows take() { return std::move(rows_); }
    void add(std::size_t row, std::uint64_t hash) {
        const std::size_t mask = places_.size() - 1;
        std::size_t place = hash & mask;
        while (places_[place] != kFree && !same(places_[place], row)) place = (place + 1) & mask;
        if (places_[place] != kFree) {
            ++rows_.repeats[places_[place]];
            return;
        }
        places_[place] = static_cast<std::uint32_t>(size());
        rows_.first.push_back(static_cast<std::uint32_t>(row));
        rows_.repeats.push_back(1);
        for (const Column& column : columns_) codes_.push_back(static_cast<std::uint16_t>(column[row]));
    }

private:
    static constexpr std::uint32_t kFree = 0xffffffff;

    bool same(std::size_t seen, std::size_t row) const {
        const std::uint16_t* codes = codes_.data() + seen * columns_.size();
        for (std::size_t v = 0; v < columns_.size(); ++v)
            if (columns_[v][row] != codes[v]) return false;
        return true;
    }

    std::span<const Column> columns_;
    std::vector<std::uint32_t> places_;
    std::vector<std::uint16_t> codes_;  // of one row after the other
    DistinctRows rows_;
};

// Of all variables together; 0 if they are more than `most`, or than there are keys of two bytes.
std::size_t n_configurations(std::span<const Column> columns, std::size_t most) {
    std::size_t n = 1;
    for (const Column& column : columns)
        if ((n *= column.card) > std::min(most, std::size_t{1} << 16)) return 0;
    return n;
}

// No row needs to be looked for where every configuration has a place.
DistinctRows rows_by_key(std::span<const Column> columns, std::size_t n_records, std::size_t n_keys,
                         const InstructionSet& level) {
    std::vector<Digit> digits;
    for (const Column& column : columns) digits.push_back({column.narrow, column.wide, column.card});
    std::vector<std::uint16_t> keys(n_records, 0);
    level.make_keys({digits.data(), digits.size(), n_records, keys.data()});
    std::vector<std::int64_t> repeats(n_keys, 0);
    DistinctRows rows;
    for (std::size_t row = 0; row < n_records; ++row)
        if (repeats[keys[row]]++ == 0) rows.first.push_back(static_cast<std::uint32_t>(row));
    for (const std::uint32_t row : rows.first) rows.repeats.push_back(repeats[keys[row]]);
    return rows;
}

template <class Code>
const Code* pick(const Code* codes, std::span<const std::uint32_t> rows, std::vector<std::vector<Code>>& kept) {
    std::vector<Code>& picked = kept.emplace_back(rows.size());
    std::transform(rows.begin(), rows.end(), picked.begin(), [&](std::uint32_t row) { return codes[row]; });
    return picked.data();
}

}  // namespace

std::optional<DistinctRows> distinct_rows(std::span<const Column> columns, std::size_t n_records, std::size_t most,
                                          const InstructionSet& level) {
    if (const std::size_t n_keys = n_configurations(columns, most))
        return rows_by_key(columns, n_records, n_keys, level);
    SeenRows seen(columns, most + kRowsTogether);
    std::uint64_t hashes[kRowsTogether];
    for (std::size_t begin = 0; begin < n_records; begin += kRowsTogether) {
        const std::size_t count = std::min(kRowsTogether, n_records - begin);
        hash_rows(columns, begin, {hashes, count});
        for (std::size_t k = 0; k < count; ++k) seen.add(begin + k, hashes[k]);
        if (seen.size() > most) return std::nullopt;
    }
    return seen.take();
}

DistinctStore::DistinctStore(const Store& whole, DistinctRows rows) : rows_(std::move(rows)) {
    std::vector<Column> columns;
    for (std::size_t v = 0; v < whole.n_variables(); ++v) {
        Column column = whole.column(v);
        if (column.narrow) column.narrow = pick(column.narrow, rows_.first, narrow_);
        if (column.wide) column.wide = pick(column.wide, rows_.first, wide_);
        columns.push_back(column);
    }
    store_ = std::make_unique<Store>(std::move(columns), rows_.first.size(), rows_.repeats.data(), whole.level(),
                                     GivenPlanes{}, std::numeric_limits<std::size_t>::max(), &whole.log_tables());
}

std::size_t DistinctStore::bytes() const {
    return rows_.first.size() * (12 + narrow_.size() + 2 * wide_.size()) + store_->extra_bytes();
}

Store::~Store() = default;

// Fewer rows than that are counted as they are soon enough; more distinct ones than one in 64 seldom pay.
const Store& Store::distinct() const {
    constexpr std::size_t kLeastRows = 4096, kShare = 64;
    if (repeats_ || n_records_ < kLeastRows || (forced_ != CountingMethod::any && forced_ != CountingMethod::distinct))
        return *this;
    std::call_once(distinct_once_, [this] {
        if (auto rows = distinct_rows(columns_, n_records_, n_records_ / kShare, *level_))
            distinct_ = std::make_unique<DistinctStore>(*this, std::move(*rows));
        distinct_built_ = distinct_.get();
    });
    return distinct_ ? distinct_->store() : *this;
}

}  // namespace mnlearn
