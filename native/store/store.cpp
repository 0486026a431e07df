#include "store/store.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "kernels/transpose.hpp"
#include "store/distinct_rows.hpp"

namespace mnlearn {

namespace {

std::int64_t total_rows(std::size_t n_records, const std::int64_t* repeats) {
    if (!repeats) return static_cast<std::int64_t>(n_records);
    std::int64_t total = 0;
    for (std::size_t row = 0; row < n_records; ++row)
        if (__builtin_add_overflow(total, repeats[row], &total))
            throw std::invalid_argument("repeats must add up to less than 2^63.");
    return total;
}

template <class Code> std::uint32_t largest(const Code* codes, std::size_t n_records) {
    Code most = 0;
    for (std::size_t row = 0; row < n_records; ++row) most = std::max(most, codes[row]);
    return most;
}

void check_codes(const Column& column, std::size_t n_records) {
    if (!n_records) return;
    const std::uint32_t most = column.narrow ? largest(column.narrow, n_records) : largest(column.wide, n_records);
    if (most >= column.card)
        throw std::invalid_argument("codes must lie below the number of states of their variable.");
}

}  // namespace

Store::Store(std::vector<Column> columns, std::size_t n_records, const std::int64_t* repeats,
             const InstructionSet& level, const GivenPlanes& given, std::size_t max_bytes, LogTables* log_tables)
    : columns_(std::move(columns)),
      n_records_(n_records),
      repeats_(repeats),
      n_rows_(total_rows(n_records, repeats)),
      level_(&level),
      max_bytes_(max_bytes),
      log_tables_(n_rows_),
      shared_log_tables_(log_tables) {
    if (n_records >= std::size_t{1} << 30)
        throw std::invalid_argument(
            "Counts holds fewer than 2^30 stored rows; got more. Split the data and add up the tables.");
    for (const Column& column : columns_) check_codes(column, n_records);
    number_planes();
    take_planes(given);
    pool_.set_bound(cache_bytes());
}

bool Store::may_have_planes(std::size_t variable) const {
    return !repeats_ && columns_[variable].card >= 2 && columns_[variable].card <= kMaxPlaneCard;
}

void Store::number_planes() {
    Planes& p = planes_;
    p.words = (n_records_ + 63) / 64;
    p.first.assign(n_variables(), kNoPlane);
    for (std::size_t v = 0; v < n_variables(); ++v) {
        plain_ = plain_ && may_have_planes(v) && columns_[v].card == 2;
        if (!may_have_planes(v)) continue;
        const std::size_t needed = columns_[v].card - 1;
        if (p.n_planes % kBlockColumns + needed > kBlockColumns)
            p.n_planes = (p.n_planes / kBlockColumns + 1) * kBlockColumns;
        p.first[v] = static_cast<std::uint32_t>(p.n_planes);
        ++n_with_planes_;
        p.n_planes += needed;
    }
}

// Rows of a plane, and how the planes are numbered, must be ours: then the bits lie where ours would.
void Store::take_planes(const GivenPlanes& given) {
    Planes& p = planes_;
    const std::size_t words = (p.n_planes + kLanes - 1) / kLanes * kLanes * p.words;
    const bool aligned = reinterpret_cast<std::uintptr_t>(given.bits.data()) % 64 == 0;
    if (given.bits.empty() || given.bits.size() != words || given.totals.size() != p.n_planes || !aligned) return;
    if (!std::equal(given.first.begin(), given.first.end(), p.first.begin(), p.first.end())) return;
    p.bits = given.bits.data();
    p.totals.assign(given.totals.begin(), given.totals.end());
}

const Planes& Store::planes() const {
    std::call_once(planes_once_, [this] {
        if (!planes_.bits) build_planes();
        if (planes_.own) built_bytes_ += (planes_.n_planes + kLanes - 1) / kLanes * kLanes * planes_.words * 8;
    });
    return planes_;
}

const RowBits& Store::row_bits() const {
    std::call_once(row_bits_once_, [this] {
        build_row_bits();
        built_bytes_ += row_bits_.n_blocks * row_bits_.block_words * 8;
        if (!row_bits_fit(planes_.n_planes / 8)) return;
        copy_planes();
        built_bytes_ += planes_.n_planes * planes_.words * 8;
    });
    return row_bits_;
}

bool Store::row_bits_fit(std::size_t more_bytes_a_row) const {
    const std::size_t blocks = (planes_.n_planes + kBlockColumns - 1) / kBlockColumns;
    const std::size_t row_bytes = 8 * kRowWords * blocks + more_bytes_a_row;
    if (row_bytes * n_records_ > max_bytes_ / 2) return false;
    return row_bytes + planes_.n_planes / 8 <= 2 * n_with_planes_;  // bytes a row, beside one for each code
}

std::size_t Store::extra_bytes() const {
    std::size_t bytes = built_bytes_;
    if (const DistinctStore* distinct = distinct_built_) bytes += distinct->bytes();
    const std::lock_guard lock(caches_guard_);
    for (const auto& cache : caches_) bytes += cache->bytes();
    return bytes + pool_.bytes() + log_tables_.bytes() + sorted_bytes_;
}

// A quarter of a byte a value, and a megabyte in any case.
std::size_t Store::cache_bytes() const {
    return std::max(std::size_t{1} << 20, std::min(n_records_ * n_variables() / 4, max_bytes_ / 8));
}

std::unique_ptr<StrataCache> Store::take_cache() const {
    const std::lock_guard lock(caches_guard_);
    if (caches_.empty()) return std::make_unique<StrataCache>();
    auto cache = std::move(caches_.back());
    caches_.pop_back();
    return cache;
}

void Store::give_back(std::unique_ptr<StrataCache> cache) const {
    const std::lock_guard lock(caches_guard_);
    caches_.push_back(std::move(cache));
}

std::shared_ptr<SortedRows> Store::take_sorted() const {
    const std::lock_guard lock(caches_guard_);
    sorted_bytes_ = 0;
    return std::exchange(sorted_, nullptr);
}

void Store::keep_sorted(std::shared_ptr<SortedRows> rows, std::size_t bytes) const {
    const std::lock_guard lock(caches_guard_);
    sorted_.swap(rows);
    sorted_bytes_ = bytes;
}

namespace {

// The rows with a state, one word every kLanes, and how many they are. What is left of 64 codes, or has two bytes a
// code, is copied first.
std::int64_t make_plane(const Column& column, std::size_t n_records, std::uint8_t state, const InstructionSet& level,
                        std::uint64_t* out) {
    constexpr std::uint8_t kNoState = 15;  // beyond all that have planes
    const std::size_t whole = column.narrow ? n_records / 64 : 0;
    std::int64_t total = whole ? level.make_plane({column.narrow, whole, state, out}) : 0;
    for (std::size_t begin = 64 * whole; begin < n_records; begin += 64) {
        std::uint8_t codes[64];
        std::fill_n(codes, 64, kNoState);
        for (std::size_t row = begin; row < std::min(begin + 64, n_records); ++row)
            codes[row - begin] = static_cast<std::uint8_t>(column[row]);
        total += level.make_plane({codes, 1, state, out + begin / 64 * kLanes});
    }
    return total;
}

}  // namespace

void Store::build_planes() const {
    Planes& p = planes_;
    p.own = aligned_words((p.n_planes + kLanes - 1) / kLanes * kLanes * p.words);
    p.totals.assign(p.n_planes, 0);
    for (std::size_t v = 0; v < n_variables(); ++v) {
        if (!has_planes(v)) continue;
        for (std::uint32_t state = 0; state + 1 < columns_[v].card; ++state) {
            const std::size_t plane = p.first[v] + state;
            std::uint64_t* out = p.own.get() + plane / kLanes * p.words * kLanes + plane % kLanes;
            p.totals[plane] = static_cast<std::uint32_t>(
                make_plane(columns_[v], n_records_, static_cast<std::uint8_t>(state), *level_, out));
        }
    }
    p.bits = p.own.get();
}

// The planes turned over, 64 rows and 64 planes at a time.
void Store::build_row_bits() const {
    const Planes& p = planes();
    RowBits& b = row_bits_;
    b.block_words = (n_records_ + 1) * kRowWords;
    b.n_blocks = (p.n_planes + kBlockColumns - 1) / kBlockColumns;
    b.bits = aligned_words(b.n_blocks * b.block_words);
    const std::size_t n_groups = (p.n_planes + kLanes - 1) / kLanes;
    for (std::size_t word = 0; word < p.words; ++word)
        for (std::size_t group = 0; group < n_groups; group += 64 / kLanes) {
            std::uint64_t words[64] = {};
            for (std::size_t k = group; k < std::min(group + 64 / kLanes, n_groups); ++k)
                std::copy_n(p.bits + (k * p.words + word) * kLanes, kLanes, words + (k - group) * kLanes);
            transpose_bits(words);
            const std::size_t column = group * kLanes;
            std::uint64_t* to = b.bits.get() + column / kBlockColumns * b.block_words + column % kBlockColumns / 64;
            for (std::size_t row = word * 64; row < std::min(word * 64 + 64, n_records_); ++row)
                to[row * kRowWords] = words[row - word * 64];
        }
}

void Store::copy_planes() const {
    const Planes& p = planes();
    row_bits_.planes = unset_words(p.n_planes * p.words);
    for (std::size_t plane = 0; plane < p.n_planes; ++plane) {
        const std::uint64_t* from = p.bits + (plane / kLanes) * p.words * kLanes + plane % kLanes;
        std::uint64_t* to = row_bits_.planes.get() + plane * p.words;
        for (std::size_t w = 0; w < p.words; ++w) to[w] = from[w * kLanes];
    }
}

}  // namespace mnlearn
