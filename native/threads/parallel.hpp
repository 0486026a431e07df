// Work split over threads: pieces are taken in turn, results land where their piece says, so any number of
// threads gives the same bits.
#pragma once

#include <cstddef>
#include <functional>

namespace mnlearn {

// Calls work(piece) for every piece in [0, n_pieces), on at most n_threads threads. An exception thrown by
// a piece stops the others and is thrown again here.
void parallel_for(std::size_t n_pieces, int n_threads, const std::function<void(std::size_t)>& work);

// Whether threads are worth it: starting one takes some 15 µs here, and as long again until it is there.
inline int threads_for(double nanoseconds, int n_threads) { return nanoseconds < 5e4 ? 1 : n_threads; }

}  // namespace mnlearn
