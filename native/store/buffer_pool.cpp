#include "store/buffer_pool.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace mnlearn {

void AlignedDelete::operator()(std::uint64_t* p) const { ::operator delete[](p, std::align_val_t{64}); }

AlignedWords unset_words(std::size_t count) {
    return AlignedWords(static_cast<std::uint64_t*>(::operator new[](count * 8 + 64, std::align_val_t{64})));
}

AlignedWords aligned_words(std::size_t count) {
    AlignedWords words = unset_words(count);
    std::memset(words.get(), 0, count * 8 + 64);
    return words;
}

// Room for all there will ever be, so that giving back needs none.
void BufferPool::set_bound(std::size_t max_bytes) {
    const std::lock_guard lock(guard_);
    kept_.reserve(kMaxKept + 1);
    max_words_ = max_bytes / 8;
    drop_beyond_bound();
}

BufferPool::Block BufferPool::take(std::size_t count) {
    {
        const std::lock_guard lock(guard_);
        auto best = kept_.end();
        for (auto block = kept_.begin(); block != kept_.end(); ++block)
            if (block->count >= count && (best == kept_.end() || block->count < best->count)) best = block;
        if (best != kept_.end()) {
            std::swap(*best, kept_.back());
            Block found = std::move(kept_.back());
            kept_.pop_back();
            words_ -= found.count;
            return found;
        }
    }
    return {unset_words(count), count};
}

void BufferPool::give_back(Block block) noexcept {
    const std::lock_guard lock(guard_);
    if (block.count > max_words_) return;
    words_ += block.count;
    kept_.push_back(std::move(block));
    drop_beyond_bound();
}

// The smallest blocks go first: large ones are expensive to allocate.
void BufferPool::drop_beyond_bound() {
    while (kept_.size() > kMaxKept || words_ > max_words_) {
        const auto least = std::min_element(kept_.begin(), kept_.end(),
                                            [](const Block& a, const Block& b) { return a.count < b.count; });
        words_ -= least->count;
        kept_.erase(least);
    }
}

std::size_t BufferPool::bytes() const {
    const std::lock_guard lock(guard_);
    return 8 * words_;
}

}  // namespace mnlearn
