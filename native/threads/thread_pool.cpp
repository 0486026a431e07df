#include "threads/thread_pool.hpp"

#include <chrono>
#include <exception>
#include <thread>

#if __has_include(<pthread.h>)
#include <pthread.h>
#endif

namespace mnlearn {
namespace {

std::atomic<Crew*> of_this_process{nullptr};

void know_of_forks() {
#if __has_include(<pthread.h>)
    [[maybe_unused]] static const int once = pthread_atfork(nullptr, nullptr, [] { of_this_process = nullptr; });
#endif
}

// Until it is so, or a while has passed. Not asleep: waking up takes up to 100 µs.
template <class Condition> void look_around(const Condition& is_so) {
    constexpr std::chrono::microseconds kWhile{200};
    const auto end = std::chrono::steady_clock::now() + kWhile;
    while (!is_so() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

}  // namespace

// Never destroyed: a helper may still be looking around at the very end of the process.
Crew& Crew::at_hand() {
    Crew* crew = of_this_process;
    if (crew) return *crew;
    know_of_forks();
    auto* fresh = new Crew;
    if (of_this_process.compare_exchange_strong(crew, fresh)) return *fresh;
    delete fresh;  // another thread was sooner
    return *crew;
}

bool Crew::work(std::size_t n_helpers, const std::function<void()>& run) {
    {
        const std::lock_guard lock(guard_);
        if (run_) return false;
        run_ = &run;
        wanted_ = n_helpers;
        hire();
    }
    run();
    {
        const std::lock_guard lock(guard_);
        wanted_ = 0;
    }
    const auto ended = [&] { return at_work_ == 0; };
    look_around(ended);
    std::unique_lock lock(guard_);
    ended_.wait(lock, ended);
    run_ = nullptr;
    return true;
}

// As many as are wanted, or as can be had.
void Crew::hire() {
    try {
        for (; hired_ < wanted_; ++hired_) std::thread(&Crew::stay, this).detach();
    } catch (const std::exception&) {  // no thread to be had, or no memory for one
    }
}

void Crew::stay() {
    std::unique_lock lock(guard_, std::defer_lock);
    for (;;) {
        look_around([&] { return wanted_ > 0; });
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
    --hired_;
}

}  // namespace mnlearn
