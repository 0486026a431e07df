// Many questions in one call.
#include "scan/scan.hpp"
#include "threads/parallel.hpp"

namespace mnlearn {
namespace {

// Rough nanoseconds: enough to know whether threads are worth starting.
double cost_of(const Store& store, const ScanRequest& q) {
    return 300.0 + static_cast<double>(store.n_records()) * 0.3 * static_cast<double>(1 + q.z.size()) +
           20.0 * static_cast<double>(q.ys.size() + q.z.size());
}

void ask(const Store& store, const KernelSpec& kernel, BatchKind kind, const ScanRequest& q, int n_threads) {
    switch (kind) {
        case BatchKind::scan:
            run_scan(store, kernel, q.x, q.ys, q.z, n_threads, q.out);
            return;
        case BatchKind::leave_one_out:
            return scan_leave_one_out(store, kernel, q);
        case BatchKind::without_member:
            return scan_without_member(store, kernel, q);
    }
}

}  // namespace

// Few questions are answered one after the other, each over all threads; many side by side, each on one.
void scan_batch(const Store& store, const KernelSpec& kernel, BatchKind kind, std::span<const ScanRequest> questions,
                int n_threads) {
    double cost = 0.0;
    for (const ScanRequest& q : questions) cost += cost_of(store, q);
    const bool side_by_side = kind != BatchKind::scan || questions.size() >= 2 * static_cast<std::size_t>(n_threads);
    const int outer = side_by_side ? threads_for(cost, n_threads) : 1, inner = side_by_side ? 1 : n_threads;
    parallel_for(questions.size(), outer, [&](std::size_t k) { ask(store, kernel, kind, questions[k], inner); });
}

}  // namespace mnlearn
