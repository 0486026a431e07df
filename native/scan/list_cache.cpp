#include "scan/list_cache.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "scan/refined_lists.hpp"

namespace mnlearn {

ListCache::ListCache() = default;
ListCache::~ListCache() = default;

void ListCache::set_up(std::size_t n_variables, std::size_t max_bytes) {
    places_.assign(n_variables, kept_.end());
    set_bound(max_bytes);
}

void ListCache::set_bound(std::size_t max_bytes) {
    Entries old;
    const std::lock_guard lock(guard_);
    old.swap(kept_);
    places_.assign(places_.size(), kept_.end());
    bytes_ = refused_ = 0;
    credit_ = kMostCredit;
    max_bytes_ = max_bytes;
    tally_ = {};
    pool_.set_bound(max_bytes / 8);
}

std::unique_ptr<KeptLists> ListCache::take(std::int32_t x) {
    const std::lock_guard lock(guard_);
    const auto place = std::exchange(places_[static_cast<std::size_t>(x)], kept_.end());
    if (place == kept_.end()) return nullptr;
    auto lists = std::move(*place);
    kept_.erase(place);
    bytes_ -= lists->bytes();
    return lists;
}

ListCache::Entries ListCache::drop_from(std::size_t more) {
    Entries dropped;
    while (!kept_.empty() && (kept_.size() >= kMaxKept || bytes_ + more > max_bytes_)) {
        const KeptLists& oldest = *kept_.back();
        bytes_ -= oldest.bytes();
        places_[static_cast<std::size_t>(oldest.x)] = kept_.end();
        dropped.splice(dropped.begin(), kept_, std::prev(kept_.end()));
    }
    return dropped;
}

void ListCache::give_back(std::unique_ptr<KeptLists> lists) {
    const std::size_t more = lists->bytes();
    Entries fresh, dropped;              // what they hold in the end is destroyed after the lock is gone
    fresh.push_front(std::move(lists));  // the only step that may fail, before anything is changed
    const std::lock_guard lock(guard_);
    if (more > max_bytes_) return;
    auto& place = places_[static_cast<std::size_t>(fresh.front()->x)];
    if (place != kept_.end()) {  // somebody else asked about the same x meanwhile
        bytes_ -= (*place)->bytes();
        dropped.splice(dropped.begin(), kept_, place);
    }
    dropped.splice(dropped.begin(), drop_from(more));
    bytes_ += more;
    kept_.splice(kept_.begin(), fresh);
    place = kept_.begin();
}

void ListCache::count(std::size_t Tally::* what) {
    const std::lock_guard lock(guard_);
    ++(tally_.*what);
    if (what != &Tally::made) credit_ = std::min(credit_ + kEarned, kMostCredit);
}

ListCache::Tally ListCache::tally() const {
    const std::lock_guard lock(guard_);
    return tally_;
}

std::size_t ListCache::bytes() const {
    const std::lock_guard lock(guard_);
    return bytes_ + pool_.bytes();
}

bool ListCache::wanted() {
    const std::lock_guard lock(guard_);
    if (max_bytes_ == 0) return false;
    if (credit_ == 0) return ++refused_ % kSeldom == 0;
    --credit_;
    return true;
}

}  // namespace mnlearn
