// Row lists refined from question to question: when z gains or loses a variable, the lists of the same x are parted or
// joined instead of made anew.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "scan/count_bitsets.hpp"
#include "scan/scan_runner.hpp"

namespace mnlearn {

struct KeptLists {
    std::int32_t x;
    std::vector<std::int32_t> z;  // ascending
    SortedLists sorted;

    std::size_t bytes() const;
};

// One variable more, or one less: strata in lexicographic order as ever, tables the same to the last count.
KeptLists grown(const Store& store, const KeptLists& from, std::int32_t joins);
KeptLists shrunk(const Store& store, const KeptLists& from, std::int32_t leaves);

// The lists of a question: those kept, refined where that is sooner than making them, else new ones. They are kept in
// their turn when the question is done.
class ListsInUse {
public:
    ListsInUse(const Store& store, std::int32_t x, std::span<const std::int32_t> z, Source source);
    ListsInUse(const ListsInUse&) = delete;
    ~ListsInUse();
    const SortedLists& get() const { return lists_->sorted; }

private:
    bool refine(std::int32_t x, std::span<const std::int32_t> z, Source source);

    const Store& store_;
    std::unique_ptr<KeptLists> lists_;
    bool always_;  // whether it pays or not: whoever forces a way and keeps lists wants to see them refined
    bool keep_ = false;
};

}  // namespace mnlearn
