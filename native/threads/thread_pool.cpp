#include "threads/thread_pool.hpp"

#include <chrono>
#include <exception>
#include <thread>

#if __has_include(<pthread.h>)
#include <pthread.h>
#endif

namespace mnlearn {
namespace {

std::atomic<ThreadPool*> of_this_process{nullptr};

void reset_after_fork() {
#if __has_include(<pthread.h>)
    [[maybe_unused]] static const int once = pthread_atfork(nullptr, nullptr, [] { of_this_process = nullptr; });
#endif
}

// Until it is so, or a while has passed. Not asleep: waking up takes up to 100 µs.
template <class Condition> void spin_until(const Condition& is_so) {
    constexpr std::chrono::microseconds kWhile{200};
    const auto end = std::chrono::steady_clock::now() + kWhile;
    while (!is_so() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

}  // namespace

// Never destroyed: a helper may still be looking around at the very end of the process.
ThreadPool& ThreadPool::instance() {
    ThreadPool* pool = of_this_process;
    if (pool) return *pool;
    reset_after_fork();
    auto* fresh = new ThreadPool;
    if (of_this_process.compare_exchange_strong(pool, fresh)) return *fresh;
    delete fresh;  // another thread was sooner
    return *pool;
}

bool ThreadPool::work(std::size_t n_helpers, const std::function<void()>& run) {
    {
        const std::lock_guard lock(guard_);
        if (run_) return false;
        run_ = &run;
        wanted_ = n_helpers;
        start_threads();
    }
    run();
    {
        const std::lock_guard lock(guard_);
        wanted_ = 0;
    }
    const auto ended = [&] { return at_work_ == 0; };
    spin_until(ended);
    std::unique_lock lock(guard_);
    ended_.wait(lock, ended);
    run_ = nullptr;
    return true;
}

// As many as are wanted, or as can be had.
void ThreadPool::start_threads() {
    try {
        for (; n_threads_ < wanted_; ++n_threads_) std::thread(&ThreadPool::run_until_idle, this).detach();
    } catch (const std::exception&) {  // no thread to be had, or no memory for one
    }
}

void ThreadPool::run_until_idle() {
    std::unique_lock lock(guard_, std::defer_lock);
    for (;;) {
        spin_until([&] { return wanted_ > 0; });
        lock.lock();
        if (wanted_ == 0) break;
        --wanted_;
        ++at_work_;
        const auto& run = *run_;
        lock.unlock();
        run();
        lock.lock();
        if (--at_work_ == 0) ended_.notify_one();
        lock.unlock();
    }
    --n_threads_;
}

}  // namespace mnlearn
