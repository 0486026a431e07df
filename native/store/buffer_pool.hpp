// Memory that is used again: getting it from the system anew for every scan would take longer than many a scan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace mnlearn {

struct AlignedDelete {
    void operator()(std::uint64_t* p) const;
};
using AlignedWords = std::unique_ptr<std::uint64_t[], AlignedDelete>;
AlignedWords aligned_words(std::size_t count);  // zeroed, at a multiple of 64 bytes
AlignedWords unset_words(std::size_t count);    // the same, but not zeroed

// Blocks not in use, up to a bound; what exceeds it goes back to the system.
class BufferPool {
public:
    struct Block {
        AlignedWords words;
        std::size_t count = 0;
    };
    void set_bound(std::size_t max_bytes);
    Block take(std::size_t count);  // the smallest that has so many words, or a new one
    void give_back(Block block) noexcept;
    std::size_t bytes() const;

private:
    static constexpr std::size_t kMaxKept = 16;
    void drop_beyond_bound();

    mutable std::mutex guard_;
    std::vector<Block> kept_;
    std::size_t words_ = 0, max_words_ = 0;
};

// Room for so many numbers, of unknown content, from a pool and back to it.
template <class T> class Buffer {
public:
    Buffer() = default;
    Buffer(BufferPool& pool, std::size_t count) : pool_(&pool), block_(pool.take((count * sizeof(T) + 7) / 8)) {}
    Buffer(Buffer&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), block_(std::move(other.block_)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(block_, other.block_);
        return *this;
    }
    ~Buffer() {
        if (pool_) pool_->give_back(std::move(block_));
    }
    T* get() const { return reinterpret_cast<T*>(block_.words.get()); }
    T& operator[](std::size_t k) const { return get()[k]; }
    std::size_t bytes() const { return 8 * block_.count; }

private:
    BufferPool* pool_ = nullptr;
    BufferPool::Block block_;
};

}  // namespace mnlearn
