#include "threads/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

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

// Spins until the condition holds or a time has passed: waking a sleeping thread takes up to 100 µs.
template <class Condition> void spin_until(const Condition& is_so) {
    constexpr std::chrono::microseconds kWhile{200};
    const auto end = std::chrono::steady_clock::now() + kWhile;
    while (!is_so() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

}  // namespace

// Never destroyed: a thread may still spin at the very end of the process.
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

// As many threads as wanted, or as the system allows.
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

namespace {

// Threads for this call only: the pool is busy, since several threads ask at once, or one piece of work has pieces.
void run_on_new_threads(std::size_t n_helpers, const std::function<void()>& run) {
    std::vector<std::thread> helpers;  // not std::jthread, which the clang of older Macs lacks
    helpers.reserve(n_helpers);
    try {
        for (std::size_t k = 0; k < n_helpers; ++k) helpers.emplace_back(run);
    } catch (const std::system_error&) {  // no more threads to be had: go on with those there are
    }
    run();
    for (std::thread& helper : helpers) helper.join();
}

}  // namespace

void parallel_for(std::size_t n_pieces, int n_threads, const std::function<void(std::size_t)>& work) {
    const std::size_t n_workers = std::min(n_pieces, static_cast<std::size_t>(std::max(1, n_threads)));
    if (n_workers <= 1) {
        for (std::size_t piece = 0; piece < n_pieces; ++piece) work(piece);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_guard;
    const auto run = [&] {
        try {
            for (std::size_t piece = next++; piece < n_pieces; piece = next++) work(piece);
        } catch (...) {
            const std::lock_guard lock(failure_guard);
            if (!failure) failure = std::current_exception();
            next = n_pieces;
        }
    };
    if (!ThreadPool::instance().work(n_workers - 1, run)) run_on_new_threads(n_workers - 1, run);
    if (failure) std::rethrow_exception(failure);
}

}  // namespace mnlearn
