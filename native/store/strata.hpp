// The observed configurations of a conditioning set, numbered in lexicographic order.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

namespace mnlearn {

class Store;

struct Strata {
    std::size_t count = 0;              // observed configurations; at most the number of stored rows
    std::vector<std::uint32_t> of_row;  // per row its stratum; empty when there is only one
    std::vector<std::int64_t> sizes;    // rows per stratum, repeats included

    std::uint32_t operator[](std::size_t row) const { return of_row.empty() ? 0u : of_row[row]; }
    std::size_t bytes() const { return 4 * of_row.size() + 8 * sizes.size(); }
};

// Never more than a few numbers a row, whatever the product of the cardinalities: after each few variables the
// keys are renumbered by rank among those observed. z in ascending order gives the lexicographic numbering.
Strata find_strata(const Store& store, std::span<const std::int32_t> z);

// How often each key below `space` occurs; four tables in turn, so that equal keys in a row do not wait for each other.
std::vector<std::uint32_t> histogram(std::span<const std::uint16_t> keys, std::size_t space);

// Rows listed stratum by stratum: rows[begin[s] .. begin[s + 1]).
struct RowLists {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> begin;
};
RowLists list_rows(const Store& store, const Strata& strata);

// The last few numberings, so that a search which asks about the same z again does not pay for it again. One at a
// time uses it; a store keeps one for each thread at work (store/store.hpp).
class StrataCache {
public:
    // The strata of z: kept ones, or new ones. What is returned stays whole as long as it is held.
    std::shared_ptr<const Strata> find(const Store& store, std::span<const std::int32_t> z);
    std::size_t bytes() const { return bytes_; }

private:
    struct Kept {
        std::vector<std::int32_t> z;
        std::shared_ptr<const Strata> strata;
    };
    void keep(const Store& store, Kept entry);

    static constexpr std::size_t kMaxKept = 8;
    std::list<Kept> kept_;  // the last used first
    std::size_t bytes_ = 0;
};

}  // namespace mnlearn
