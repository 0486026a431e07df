#include "threads/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "threads/thread_pool.hpp"

namespace mnlearn {
namespace {

// Threads for this call only: the pool is busy, since several threads ask at once, or one piece of work has pieces.
void run_on_new_threads(std::size_t n_helpers, const std::function<void()>& run) {
    std::vector<std::jthread> helpers;
    try {
        for (std::size_t k = 0; k < n_helpers; ++k) helpers.emplace_back(run);
    } catch (const std::system_error&) {  // no more threads to be had: go on with those there are
    }
    run();
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
