// Whether row lists of an earlier question are refined, or made anew: by constants of their own, rough nanoseconds from
// whole scans with the one and with the other (benchmarks/lists.py). Both take about as long, so little decides.
#include <algorithm>
#include <cmath>

#include "scan/scan_runner.hpp"

namespace mnlearn {
namespace {

// A row: from bits into lists; a bit of the key that it is sorted by; by keys, and for each variable of z. A list by
// keys.
constexpr double kListBit = 0.1, kSortBit = 0.1, kSortRow = 1.1, kDigit = 0.1, kSortSet = 8.0;

// Lists from planes, a row: by the bits of each set, or by keys and the bits of the sets that keys have no room for.
double fresh_row(const Store& store, double sets) {
    const InstructionSet& level = store.level();
    if (!level.sort_rows) return kListBit + sets / 64.0 * level.fresh_word;
    constexpr double kKeys = 1 << kSortBits;
    const double bits = std::log2(std::min(sets, kKeys)), more = std::max(0.0, sets / kKeys - 1.0);
    return bits * kSortBit + more / 64.0 * level.fresh_word;
}

// Lists made anew, parted by one variable more, joined by one less; `sets` as there are with the variable. Here, among
// things that take about as long, what a list costs whatever its size counts as well.
double cost_of_fresh(const Store& store, Source source, std::size_t size_z, double sets) {
    constexpr double kPlanes = 650.0, kPlaneList = 20.0, kKeys = 400.0, kKeyList = 3.0;
    constexpr double kSorted = 0.82, kStringRow = 0.13;  // blocks of rows sorted one by one are strung together
    const double rows = static_cast<double>(store.n_records()), digits = kDigit * static_cast<double>(size_z);
    if (source == Source::lists) {
        const bool sorted = store.level().sort_rows, strung = sorted && store.n_records() > 64 * kSortWords;
        const double together = kPlanes + rows * fresh_row(store, sets) + kPlaneList * sets;
        return (sorted ? kSorted : 1.0) * together + (strung ? kStringRow * rows : 0.0);
    }
    return kKeys + rows * (kSortRow + digits) + (kSortSet + kKeyList) * sets;
}
constexpr double kPackRow = 0.06, kNarrowRow = 0.2;  // of lists that are kept: copied, from four bytes to two
constexpr double kRefineStep = 450.0, kRefineList = 15.0, kJoinRow = 0.1;
double cost_of_parting(const Store& store, double sets) {
    return kRefineStep + store.level().refine_row * static_cast<double>(store.n_records()) + kRefineList * sets;
}
double cost_of_joining(const Store& store, double sets) {
    return kRefineStep + kJoinRow * static_cast<double>(store.n_records()) + kRefineList * sets;
}
constexpr double kKeptWorth = 0.8;  // kept lists are further away than what new ones are made from

double sets_of(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    double sets = column_of(store, x).card;
    for (const std::int32_t v : z) sets *= column_of(store, v).card;
    return sets;
}

}  // namespace

bool refining_pays(const Store& store, std::int32_t x, std::span<const std::int32_t> z, Source source,
                   std::span<const std::int32_t> leave, std::span<const std::int32_t> join) {
    const double sets = sets_of(store, x, z);
    double refined = static_cast<double>(join.size()) * cost_of_parting(store, sets);
    for (const std::int32_t v : leave) refined += cost_of_joining(store, sets * column_of(store, v).card);
    const double packing = (store.level().sort_rows ? kPackRow : kNarrowRow) * static_cast<double>(store.n_records());
    return refined < kKeptWorth * (cost_of_fresh(store, source, z.size(), sets) + packing);  // to be kept in their turn
}

bool keeping_pays(const Store& store, std::int32_t x, std::span<const std::int32_t> z, Source source) {
    const double sets = 2.0 * sets_of(store, x, z);
    return cost_of_parting(store, sets) < kKeptWorth * cost_of_fresh(store, source, z.size() + 1, sets);
}

}  // namespace mnlearn
