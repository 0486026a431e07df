// The thread pool: threads wait a short time for the next call, since starting one takes as long as a short call.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>

namespace mnlearn {

// One pool per process. A thread that finds no work for 0.2 ms ends, so that no sleeping thread is left for a fork or
// a measurement.
class ThreadPool {
public:
    // The pool of this process; after a fork the child has its own, since threads are not forked.
    static ThreadPool& instance();

    // Calls run() here and on up to n_helpers other threads at once, and returns when all that began have ended. A
    // helper that comes too late is not waited for. False, and nothing done, if the pool is at work already. `run`
    // throws nothing.
    bool work(std::size_t n_helpers, const std::function<void()>& run);

private:
    void start_threads();
    void run_until_idle();

    std::mutex guard_;
    std::condition_variable ended_;
    const std::function<void()>* run_ = nullptr;  // the work at hand
    // Helpers that may still join in, those at work (written under the guard), and all there are.
    std::atomic<std::size_t> wanted_ = 0, at_work_ = 0;
    std::size_t n_threads_ = 0;
};

// Work split over threads: pieces are taken in turn, results land where their piece says, so any number of
// threads gives the same bits.

// Calls work(piece) for every piece in [0, n_pieces), on at most n_threads threads. An exception thrown by
// a piece stops the others and is thrown again here.
void parallel_for(std::size_t n_pieces, int n_threads, const std::function<void(std::size_t)>& work);

// Whether threads are worth it: starting one takes some 15 µs here, and as long again until it is there.
inline int threads_for(double nanoseconds, int n_threads) { return nanoseconds < 5e4 ? 1 : n_threads; }

}  // namespace mnlearn
