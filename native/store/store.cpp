#include "store/store.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/transpose.hpp"
#include "portability.hpp"
#include "store/distinct_rows.hpp"

namespace mnlearn {

namespace {

std::int64_t total_rows(std::size_t n_records, const std::int64_t* repeats) {
    if (!repeats) return static_cast<std::int64_t>(n_records);
    std::int64_t total = 0;
    for (std::size_t row = 0; row < n_records; ++row)
        if (repeats[row] < 1 || add_overflows(total, repeats[row], &total))
            throw std::invalid_argument("repeats must be at least 1 and add up to less than 2^63.");
    return total;
}

template <class Code> std::uint32_t largest(const Code* codes, std::size_t n_records) {
    Code most = 0;
    for (std::size_t row = 0; row < n_records; ++row) most = std::max(most, codes[row]);
    return most;
}

void check_codes(const Column& column, std::size_t n_records) {
    constexpr std::uint32_t kMostStates = 65'536;
    if (column.card > kMostStates)
        throw std::invalid_argument("cards must be at most 65,536; got " + std::to_string(column.card) + ".");
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
    for (const Column& column : columns_) {
        check_codes(column, n_records);
        has_gaps_ = has_gaps_ || column.gaps;
    }
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

// How the planes are numbered must be ours: then the bits lie where ours would. Files hold them, so each is compared.
void Store::take_planes(const GivenPlanes& given) {
    Planes& p = planes_;
    const std::size_t words = (p.n_planes + kLanes - 1) / kLanes * kLanes * p.words;
    const bool aligned = reinterpret_cast<std::uintptr_t>(given.bits.data()) % 64 == 0;
    if (given.bits.empty() || given.bits.size() != words || given.totals.size() != p.n_planes || !aligned) return;
    if (!std::equal(given.first.begin(), given.first.end(), p.first.begin(), p.first.end())) return;
    check_planes(given);
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

std::int64_t make_plane(const Column& column, std::size_t begin, std::size_t end, std::uint8_t state,
                        const InstructionSet& level, std::uint64_t* out) {
    constexpr std::uint8_t kNoState = 15;  // beyond all that have planes
    const std::size_t whole = column.narrow ? (end - begin) / 64 : 0;
    std::int64_t total = whole ? level.make_plane({column.narrow + begin, whole, state, out}) : 0;
    for (std::size_t from = begin + 64 * whole; from < end; from += 64) {
        std::uint8_t codes[64];
        std::fill_n(codes, 64, kNoState);
        for (std::size_t row = from; row < std::min(from + 64, end); ++row)
            codes[row - from] = static_cast<std::uint8_t>(column[row]);
        total += level.make_plane({codes, 1, state, out + (from - begin) / 64 * kLanes});
    }
    return total;
}

namespace {

[[noreturn]] void throw_other_planes() {
    throw std::invalid_argument(
        "planes and plane_totals must be those of the codes; got others. Leave them out to make them anew.");
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
                make_plane(columns_[v], 0, n_records_, static_cast<std::uint8_t>(state), *level_, out));
        }
    }
    p.bits = p.own.get();
}

// Eight planes at a time are made again from the codes, for a few thousand rows that stay in cache, and compared: the
// states of a variable, the rows beyond the last and the lanes without a plane.
void Store::check_planes(const GivenPlanes& given) const {
    constexpr std::size_t kBlockWords = 64, kBlockRows = 64 * kBlockWords;
    const Planes& p = planes_;
    std::vector<std::pair<std::size_t, std::uint8_t>> owners(p.n_planes, {n_variables(), std::uint8_t{0}});
    for (std::size_t v = 0; v < n_variables(); ++v)
        for (std::uint32_t state = 0; has_planes(v) && state + 1 < columns_[v].card; ++state)
            owners[p.first[v] + state] = {v, static_cast<std::uint8_t>(state)};
    std::vector<std::int64_t> totals(p.n_planes, 0);
    std::uint64_t made[kBlockWords * kLanes];
    for (std::size_t group = 0; group * kLanes < p.n_planes; ++group)
        for (std::size_t begin = 0; begin < n_records_; begin += kBlockRows) {
            const std::size_t end = std::min(begin + kBlockRows, n_records_), words = (end - begin + 63) / 64;
            std::fill_n(made, words * kLanes, 0);
            for (std::size_t plane = group * kLanes; plane < std::min((group + 1) * kLanes, p.n_planes); ++plane) {
                const auto [v, state] = owners[plane];
                if (v < n_variables())
                    totals[plane] += make_plane(columns_[v], begin, end, state, *level_, made + plane % kLanes);
            }
            const std::uint64_t* there = given.bits.data() + (group * p.words + begin / 64) * kLanes;
            if (!std::equal(made, made + words * kLanes, there)) throw_other_planes();
        }
    if (!std::equal(totals.begin(), totals.end(), given.totals.begin())) throw_other_planes();
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
