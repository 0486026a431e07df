// The coded data as the kernels see them: columns of codes borrowed from the caller, and bit-planes made from them.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "store/buffer_pool.hpp"
#include "store/instruction_sets.hpp"
#include "store/log_tables.hpp"
#include "store/strata.hpp"

namespace mnlearn {

class SortedRows;

// One variable: codes of one byte (at most 256 states) or two. Exactly one of the pointers is set, except for the
// constant stand-in that `local` scores use as y: one state, no codes.
struct Column {
    const std::uint8_t* narrow = nullptr;
    const std::uint16_t* wide = nullptr;
    std::uint32_t card = 1;
    bool gaps = false;  // whether the last of these codes marks a missing value

    std::uint32_t states() const { return gaps ? card - 1 : card; }
    std::uint32_t operator[](std::size_t row) const { return narrow ? narrow[row] : wide ? wide[row] : 0u; }
};

// Planes are kept for variables of at most nine states: eight planes, one byte a value. Together with the byte of
// the code itself that is two bytes a value, below the three that the library promises.
inline constexpr std::uint32_t kMaxPlaneCard = 9;
inline constexpr std::uint32_t kNoPlane = std::numeric_limits<std::uint32_t>::max();

struct Planes {
    std::size_t words = 0;                // per plane
    std::size_t n_planes = 0;             // numbered so that no variable crosses a multiple of 512
    const std::uint64_t* bits = nullptr;  // interleaved: see kernels/planes.hpp
    AlignedWords own;                     // what `bits` points to, unless the caller brought them
    std::vector<std::uint32_t> first;     // per variable: its first plane, or kNoPlane; states 0..card-2 follow
    std::vector<std::uint32_t> totals;    // per plane: its number of rows
};

// The same bits row by row, in blocks of 512 planes: see kernels/vertical.hpp.
struct RowBits {
    std::size_t n_blocks = 0;
    std::size_t block_words = 0;  // rows and the empty row
    AlignedWords bits;
    AlignedWords planes;  // once more plane by plane, where that fits the promised memory; else nothing

    // A plane in one piece: an eighth of the cache lines that it takes between seven others.
    const std::uint64_t* plane(std::size_t number, std::size_t words) const {
        return planes ? planes.get() + number * words : nullptr;
    }
};

// Planes made before, as in a packed file; used if they are numbered as ours would be, after a comparison with the
// codes.
struct GivenPlanes {
    std::span<const std::uint64_t> bits;
    std::span<const std::uint32_t> first;
    std::span<const std::uint32_t> totals;
};

// How the tables of a scan are counted. `any` stands for the cheapest one by the cost model; a test or a fit may force
// another where it is possible.
//   split_planes, split_columns  the sets of (z, x) come from bit-planes; counted by planes, or as row lists by columns
//   sorted_columns               row lists by a counting sort of keys of (z, x); counted by columns
//   keys                         a table for each y, or lanes, indexed by a key of (z, x)
//   planes, columns, alone       strata are numbered first; counted by planes, as row lists by columns, or row by row
//   distinct                     row by row over distinct rows with repeats
enum class CountingMethod { any, split_planes, split_columns, sorted_columns, keys, planes, columns, alone, distinct };
inline constexpr std::size_t kCountingMethods = 9;

class DistinctStore;

class Store {
public:
    Store(std::vector<Column> columns, std::size_t n_records, const std::int64_t* repeats, const InstructionSet& level,
          const GivenPlanes& given = {}, std::size_t max_bytes = std::numeric_limits<std::size_t>::max(),
          LogTables* log_tables = nullptr);  // those of another store of as many rows, which outlives this one

    ~Store();

    std::size_t n_variables() const { return columns_.size(); }
    std::size_t n_records() const { return n_records_; }  // stored rows
    std::int64_t n_rows() const { return n_rows_; }       // repeats included
    const Column& column(std::size_t variable) const { return columns_[variable]; }
    const std::int64_t* repeats() const { return repeats_; }
    const InstructionSet& level() const { return *level_; }
    CountingMethod forced() const { return forced_; }
    void force(CountingMethod method) { forced_ = method; }
    bool has_planes(std::size_t variable) const { return planes_.first[variable] != kNoPlane; }
    bool has_gaps() const { return has_gaps_; }  // in some variable
    // Questions about variables with gaps that no row could answer, so far.
    std::int64_t without_rows() const { return without_rows_; }
    void note_without_rows(std::int64_t n) const { without_rows_ += n; }
    bool plain() const { return plain_; }  // every variable has one plane, with its number: all are binary
    const Planes& planes() const;          // built at the first call; hold on to it, asking costs a few nanoseconds
    std::uint32_t first_plane(std::int32_t variable) const { return planes_.first[static_cast<std::size_t>(variable)]; }
    const RowBits& row_bits() const;  // likewise
    // Within the promised memory, with so much more; few variables leave blocks mostly empty.
    bool row_bits_fit(std::size_t more_bytes_a_row = 0) const;
    std::size_t extra_bytes() const;  // what has been built so far
    LogTables& log_tables() const { return shared_log_tables_ ? *shared_log_tables_ : log_tables_; }
    std::size_t cache_bytes() const;  // the bound of each cache of strata

    // The same data as distinct rows with repeats, where these are far fewer; else this store. Found out at the first
    // call.
    const Store& distinct() const;

    BufferPool& pool() const { return pool_; }

    // A cache of strata for one thread at work, given back when it is done; the last one given back is the next taken.
    std::unique_ptr<StrataCache> take_cache() const;
    void give_back(std::unique_ptr<StrataCache> cache) const;

    // The rows as the last blanket search sorted them, for the next search that takes them.
    std::shared_ptr<SortedRows> take_sorted() const;
    void keep_sorted(std::shared_ptr<SortedRows> rows, std::size_t bytes) const;

private:
    bool may_have_planes(std::size_t variable) const;
    void number_planes();
    void take_planes(const GivenPlanes& given);
    void check_planes(const GivenPlanes& given) const;
    void build_planes() const;
    void build_row_bits() const;
    void copy_planes() const;

    std::vector<Column> columns_;
    std::size_t n_records_;
    const std::int64_t* repeats_;
    std::int64_t n_rows_;
    const InstructionSet* level_;
    std::size_t max_bytes_;
    CountingMethod forced_ = CountingMethod::any;
    bool plain_ = true, has_gaps_ = false;
    std::size_t n_with_planes_ = 0;
    mutable std::once_flag planes_once_, row_bits_once_, distinct_once_;
    mutable Planes planes_;
    mutable RowBits row_bits_;
    mutable LogTables log_tables_;
    LogTables* shared_log_tables_;
    mutable std::unique_ptr<DistinctStore> distinct_;
    mutable std::atomic<std::int64_t> without_rows_ = 0;
    mutable std::atomic<std::size_t> built_bytes_ = 0;                    // of planes and row bits, once they are there
    mutable std::atomic<const DistinctStore*> distinct_built_ = nullptr;  // may be read while other threads count
    mutable BufferPool pool_;
    mutable std::mutex caches_guard_;
    mutable std::vector<std::unique_ptr<StrataCache>> caches_;  // those not in use
    mutable std::shared_ptr<SortedRows> sorted_;
    mutable std::size_t sorted_bytes_ = 0;
};

// The rows from `begin`, a multiple of 64, to `end` with a state below 15, one word every kLanes, and how many they
// are. What is left of 64 codes, or has two bytes a code, is copied first.
std::int64_t make_plane(const Column& column, std::size_t begin, std::size_t end, std::uint8_t state,
                        const InstructionSet& level, std::uint64_t* out);

// A cache taken and given back.
class CacheInUse {
public:
    explicit CacheInUse(const Store& store) : store_(store), cache_(store.take_cache()) {}
    CacheInUse(const CacheInUse&) = delete;
    ~CacheInUse() { store_.give_back(std::move(cache_)); }
    std::shared_ptr<const Strata> strata(std::span<const std::int32_t> z) { return cache_->find(store_, z); }

private:
    const Store& store_;
    std::unique_ptr<StrataCache> cache_;
};

}  // namespace mnlearn
