#include "blankets/leave_one_out.hpp"

#include <algorithm>
#include <numeric>

#include "scan/scan_runner.hpp"
#include "scan/scorer_dispatch.hpp"

namespace mnlearn {

namespace {

// Replaces keys by their ranks among those that occur; returns how many there are. Keys below `space`.
std::size_t rank(std::span<const std::uint64_t> keys, std::uint64_t space, std::vector<std::uint32_t>& ranks) {
    ranks.resize(keys.size());
    if (space <= 4 * keys.size() + 1024) {
        std::vector<std::uint32_t> table(space, 0);
        for (const std::uint64_t key : keys) table[key] = 1;
        std::uint32_t next = 0;
        for (std::uint32_t& entry : table) entry = entry ? next++ : 0;
        for (std::size_t c = 0; c < keys.size(); ++c) ranks[c] = table[keys[c]];
        return next;
    }
    std::vector<std::uint64_t> distinct(keys.begin(), keys.end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (std::size_t c = 0; c < keys.size(); ++c)
        ranks[c] =
            static_cast<std::uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), keys[c]) - distinct.begin());
    return distinct.size();
}

// A stable counting sort: `from` in the order of keys[from[i]].
void sort_by(std::span<const std::uint32_t> keys, std::size_t n_keys, std::span<const std::uint32_t> from,
             std::vector<std::uint32_t>& places, std::vector<std::uint32_t>& to) {
    places.assign(n_keys + 1, 0);
    for (const std::uint32_t key : keys) ++places[key + 1];
    for (std::size_t k = 0; k < n_keys; ++k) places[k + 1] += places[k];
    to.resize(from.size());
    for (const std::uint32_t c : from) to[places[keys[c]]++] = c;
}

}  // namespace

LeaveOneOut::LeaveOneOut(const JointTable& cells, std::size_t n_members)
    : cells_(cells),
      n_members_(n_members),
      member_(n_members),
      differs_(cells.count(), 0),
      prefix_(cells.count(), 0),
      suffix_(cells.count(), 0),
      order_(cells.count()) {
    for (std::size_t c = 1; c < cells.count(); ++c) {
        std::size_t v = 0;
        while (v < n_members && cells.states_of(v)[c] == cells.states_of(v)[c - 1]) ++v;
        differs_[c] = static_cast<std::uint32_t>(v);
    }
}

void LeaveOneOut::next() {
    if (--member_ + 1 < n_members_) extend_suffix();
    number_prefixes();
    sort_cells();
    find_groups();
}

// The member that was left out last belongs to the suffix of this one.
void LeaveOneOut::extend_suffix() {
    const auto states = cells_.states_of(member_ + 1);
    const std::uint64_t card = states.empty() ? 0 : std::uint64_t{1} + *std::max_element(states.begin(), states.end());
    std::vector<std::uint64_t> keys(cells_.count());
    for (std::size_t c = 0; c < keys.size(); ++c) keys[c] = std::uint64_t{states[c]} * n_suffixes_ + suffix_[c];
    n_suffixes_ = rank(keys, card * n_suffixes_, suffix_);
}

void LeaveOneOut::number_prefixes() {
    std::uint32_t number = 0;
    for (std::size_t c = 1; c < prefix_.size(); ++c) prefix_[c] = number += differs_[c] < member_;
    n_prefixes_ = number + 1;
}

void LeaveOneOut::sort_cells() {
    std::iota(order_.begin(), order_.end(), 0u);
    if (n_suffixes_ > 1) {
        sort_by(suffix_, n_suffixes_, order_, places_, scratch_);
        order_.swap(scratch_);
    }
    if (n_suffixes_ > 1 && n_prefixes_ > 1) {
        sort_by(prefix_, n_prefixes_, order_, places_, scratch_);
        order_.swap(scratch_);
    }
}

void LeaveOneOut::find_groups() {
    begin_.clear();
    sizes_.clear();
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const std::uint32_t c = order_[i];
        if (i == 0 || prefix_[c] != prefix_[order_[i - 1]] || suffix_[c] != suffix_[order_[i - 1]]) {
            begin_.push_back(static_cast<std::uint32_t>(i));
            sizes_.push_back(0);
        }
        sizes_.back() += cells_.sizes[c];
    }
    begin_.push_back(static_cast<std::uint32_t>(order_.size()));
}

// Every member of z left out in turn, from one table of x and z.

namespace {

// A whole table of (z, x), seen with one member of z singled out: [before][member][after][x].
struct Singled {
    const std::int64_t* counts;
    std::size_t before, member, after;
    std::uint32_t rx;

    std::size_t step() const { return after * rx; }  // from one state of the member to the next
    // Calls visit(cells) for every configuration of the others, in lexicographic order; cells[b * step() + a].
    template <class Visit> void each(Visit visit) const {
        for (std::size_t p = 0; p < before; ++p)
            for (std::size_t s = 0; s < after; ++s) visit(counts + (p * member * after + s) * rx);
    }
    std::int64_t size(const std::int64_t* cells) const {
        std::int64_t total = 0;
        for (std::size_t b = 0; b < member; ++b)
            for (std::uint32_t a = 0; a < rx; ++a) total += cells[b * step() + a];
        return total;
    }
};

// The strata that occur, scored in order; y is the member, or (ry = 1) the constant stand-in.
template <class Scorer>
void score_table(const Scorer& scorer, const Singled& table, std::span<const std::int64_t> sizes, std::uint32_t ry,
                 double* out, std::size_t stride) {
    const std::uint32_t rx = table.rx;
    const auto prepared = scorer.prepare(rx, ry, sizes);
    typename Scorer::Sum sum;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(rx) * ry), margins(rx + ry);
    const std::size_t step = table.step();
    std::size_t g = 0;
    table.each([&](const std::int64_t* cells) {
        if (rx == 2 && ry == 2 && table.member == 2) {  // the usual case, in registers
            const BinaryStratum t(cells[0], cells[step], cells[1], cells[step + 1]);
            if (t.n) scorer.add(sum, prepared, g++, t);
            return;
        }
        if (table.size(cells) == 0) return;
        std::fill(counts.begin(), counts.end(), 0);
        for (std::size_t b = 0; b < table.member; ++b)
            for (std::uint32_t a = 0; a < rx; ++a)
                counts[std::size_t{a} * ry + (ry == 1 ? 0 : b)] += cells[b * step + a];
        visit_dense({counts.data(), margins.data(), margins.data() + rx, rx, ry},
                    [&](const auto& t) { scorer.add(sum, prepared, g, t); });
        ++g;
    });
    write(scorer, sum, rx, ry, out, stride);
}

// The tables of x and y, one a group, into the scorer; y is the member that was left out, or the constant stand-in.
template <class Scorer>
void score_groups(const Scorer& scorer, const JointTable& cells, const LeaveOneOut& leaving, std::uint32_t rx,
                  std::uint32_t ry, double* out, std::size_t stride) {
    constexpr std::size_t kDense = std::size_t{1} << 18;
    const std::size_t n_variables = cells.count() ? cells.states.size() / cells.count() : 1;
    const auto xs = cells.states_of(n_variables - 1), ys = cells.states_of(leaving.member());
    const auto prepared = scorer.prepare(rx, ry, leaving.sizes());
    typename Scorer::Sum sum;
    std::vector<std::int64_t> counts, margins(rx + ry);
    SparseStratum sparse(rx, ry);
    for (std::size_t g = 0; g < leaving.n_groups(); ++g) {
        const auto group = leaving.group(g);
        if (rx == 2 && ry == 2) {  // the usual case, in registers
            std::int64_t t[4] = {};
            for (const std::uint32_t c : group) t[2 * xs[c] + ys[c]] += cells.sizes[c];
            scorer.add(sum, prepared, g, BinaryStratum(t[0], t[1], t[2], t[3]));
            continue;
        }
        const auto place = [&](std::uint32_t c) { return ry == 1 ? 0u : ys[c]; };
        if (static_cast<std::size_t>(rx) * ry <= std::min(kDense, 64 + 4 * group.size())) {
            counts.assign(static_cast<std::size_t>(rx) * ry, 0);
            for (const std::uint32_t c : group) counts[std::size_t{xs[c]} * ry + place(c)] += cells.sizes[c];
            visit_dense({counts.data(), margins.data(), margins.data() + rx, rx, ry},
                        [&](const auto& table) { scorer.add(sum, prepared, g, table); });
        } else {
            sparse.clear();
            for (const std::uint32_t c : group) sparse.add(xs[c], place(c), cells.sizes[c]);
            sparse.sum_margins();
            scorer.add(sum, prepared, g, sparse);
        }
    }
    write(scorer, sum, rx, ry, out, stride);
}

// One member after the other: run(place in z, the others, how many strata they have, scorer -> void).
class LeaveOneOutScan {
public:
    LeaveOneOutScan(const Store& store, const KernelSpec& kernel, const ScanRequest& q, bool scores_member)
        : store_(store), kernel_(kernel), q_(q), scores_member_(scores_member), rx_(column_of(store, q.x).card) {}

    void from_table(const std::vector<std::int64_t>& counts) {
        std::size_t after = counts.size() / rx_, before = 1;
        for (std::size_t k = 0; k < q_.z.size(); ++k) {
            const std::size_t member = column_of(store_, q_.z[k]).card;
            after /= member;
            const Singled table{counts.data(), before, member, after, rx_};
            std::vector<std::int64_t> sizes;
            table.each([&](const std::int64_t* cells) {
                if (const std::int64_t size = table.size(cells)) sizes.push_back(size);
            });
            with_scorer(kernel_, facts(k, sizes.size()), store_.log_tables(), [&](const auto& scorer) {
                score_table(scorer, table, sizes, card_y(k), q_.out + k, q_.z.size());
            });
            before *= member;
        }
    }

    void from_cells(const JointTable& cells) {
        LeaveOneOut leaving(cells, q_.z.size());
        for (std::size_t k = q_.z.size(); k-- > 0;) {
            leaving.next();
            with_scorer(kernel_, facts(k, leaving.n_groups()), store_.log_tables(), [&](const auto& scorer) {
                score_groups(scorer, cells, leaving, rx_, card_y(k), q_.out + k, q_.z.size());
            });
        }
    }

private:
    std::uint32_t card_y(std::size_t k) const { return scores_member_ ? column_of(store_, q_.z[k]).card : 1; }
    ScanFacts facts(std::size_t k, std::size_t n_strata) {
        others_.assign(q_.z.begin(), q_.z.end());
        others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(k));
        return facts_of(store_, others_, n_strata);
    }

    const Store& store_;
    const KernelSpec& kernel_;
    const ScanRequest& q_;
    bool scores_member_;
    std::uint32_t rx_;
    std::vector<std::int32_t> others_;
};

void leave_each_out(const Store& store, const KernelSpec& kernel, const ScanRequest& q, bool scores_member) {
    if (q.z.empty()) return;
    LeaveOneOutScan members(store, kernel, q, scores_member);
    if (table_is_small(store, q.x, q.z))
        members.from_table(whole_table(store, q.x, q.z));
    else
        members.from_cells(find_cells(store, q.x, q.z));
}

}  // namespace

void scan_leave_one_out(const Store& store, const KernelSpec& kernel, const ScanRequest& question) {
    leave_each_out(store.distinct(), kernel, question, true);
}

void scan_without_member(const Store& store, const KernelSpec& kernel, const ScanRequest& question) {
    leave_each_out(store.distinct(), kernel, question, false);
}

}  // namespace mnlearn
