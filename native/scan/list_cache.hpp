// Row lists that questions leave behind: those of the last few x, within a bound of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "store/buffer_pool.hpp"

namespace mnlearn {

struct KeptLists;  // scan/refined_lists.hpp

// Few, because lists that come from a far cache are no sooner refined than new ones are made in a near one.
//
// For all threads: whoever asks about x takes its lists out and gives newer ones back, so nobody waits while others
// make or read lists. Those that were used longest ago go first.
class ListCache {
public:
    // What became of the questions so far, for tests and benchmarks.
    struct Tally {
        std::size_t made = 0, refined = 0, found = 0;
    };

    ListCache();
    ~ListCache();
    void set_up(std::size_t n_variables, std::size_t max_bytes);
    void set_bound(std::size_t max_bytes);  // forgets all there is

    std::unique_ptr<KeptLists> take(std::int32_t x);  // null if there are none
    void give_back(std::unique_ptr<KeptLists> lists);
    void count(std::size_t Tally::* what);
    Tally tally() const;
    std::size_t bytes() const;

    // Whether to keep the next lists that are made. Those that were of use earn it for others; without that only a
    // few are kept, to see whether they are of use.
    bool wanted();
    BufferPool& pool() { return pool_; }  // where their memory comes from

private:
    static constexpr std::size_t kMaxKept = 32;
    static constexpr std::size_t kMostCredit = 64, kEarned = 2, kSeldom = 16;
    using Entries = std::list<std::unique_ptr<KeptLists>>;
    Entries drop_from(std::size_t more);  // what must go for so many bytes more

    mutable std::mutex guard_;
    BufferPool pool_;
    Entries kept_;                           // the last used first
    std::vector<Entries::iterator> places_;  // by x; the end of the list where nothing is kept
    std::size_t bytes_ = 0, max_bytes_ = 0;
    std::size_t credit_ = kMostCredit, refused_ = 0;
    Tally tally_;
};

}  // namespace mnlearn
