// Scans of a few y, counted by a key of (z, x) for each row.
#pragma once

#include "scan/scan_runner.hpp"

namespace mnlearn {

struct SmallCounts {
    Strata strata;  // count and sizes only
    SetSizes x;
    std::vector<std::uint32_t> counts;  // [set * width + column]
    std::size_t width = 0;
    std::vector<std::size_t> column;  // per y: that of its first state; the last state is left out
};

// All configurations of z are counted, and those that do not occur are left out. For tables no larger than the data.
bool fit_whole_lanes(const Store& store, std::int32_t x, const Candidates& ys, double n_sets);
SmallCounts count_in_whole_lanes(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                                 std::span<const std::int32_t> z);

// The ys at these places of few.column, one by one.
template <class Scorer>
void score_singly(const Scorer& scorer, const Query& q, const SmallCounts& few, std::span<const std::size_t> places) {
    constexpr std::size_t kTogether = 256;  // strata whose counts stay in the first cache from one y to the next
    PreparedByCard<Scorer> prepared(scorer, few.x.card_x, q.strata.sizes);
    std::vector<typename Scorer::Sum> sums(places.size());
    for (std::size_t first = 0; first < few.x.n_strata; first += kTogether) {
        const std::size_t last = std::min(first + kTogether, few.x.n_strata);
        const std::uint32_t* counts = few.counts.data() + first * few.x.card_x * few.width;
        for (std::size_t k = 0; k < places.size(); ++k) {
            const std::uint32_t card = q.card(places[k]);
            add_strata(scorer, prepared[card], few.x, first, last,
                       {counts + few.column[places[k]], few.width, nullptr, card}, sums[k]);
        }
    }
    for (std::size_t k = 0; k < places.size(); ++k)
        write(scorer, sums[k], few.x.card_x, q.card(places[k]), q.out + places[k], q.ys.size());
}

// Several binary y of a binary x, side by side.
template <class Scorer>
void score_batch(const Scorer& scorer, const Query& q, const SmallCounts& few, std::span<const std::size_t> places) {
    std::vector<std::uint32_t> columns;
    for (const std::size_t j : places) columns.push_back(static_cast<std::uint32_t>(few.column[j]));
    BinaryBatch<Scorer> batch(scorer, q.store, columns);
    const auto prepared = scorer.prepare(2, 2, q.strata.sizes);
    add_binary_strata(batch, prepared, few.x, 0, few.x.n_strata, few.counts.data(), few.width);
    batch.finish();
    for (std::size_t k = 0; k < places.size(); ++k) write(scorer, batch.sum(k), 2, 2, q.out + places[k], q.ys.size());
}

template <class Scorer> void score_small(const Scorer& scorer, const Query& q, const SmallCounts& few) {
    constexpr std::size_t kBatch = 3;  // fewer are done sooner one by one
    std::vector<std::size_t> binary, others;
    for (std::size_t j = 0; j < q.ys.size(); ++j) (few.x.card_x == 2 && q.card(j) == 2 ? binary : others).push_back(j);
    if (binary.size() >= kBatch) score_batch(scorer, q, few, binary);
    if (binary.size() < kBatch) others.insert(others.end(), binary.begin(), binary.end());
    if (!others.empty()) score_singly(scorer, q, few, others);
}

}  // namespace mnlearn
