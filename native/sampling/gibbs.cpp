#include "sampling/gibbs.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "numbers/elementary.hpp"
#include "sampling/philox.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {
namespace {

const double* entry(const GibbsModel& model, std::size_t term, const std::uint8_t* state) {
    const auto first = static_cast<std::size_t>(model.other_start[term]);
    const auto n = static_cast<std::size_t>(model.other_start[term + 1]) - first;
    const std::int32_t* others = model.others.data() + first;
    const std::int64_t* strides = model.strides.data() + first;
    std::int64_t at = model.table_start[term];
    for (std::size_t o = 0; o < n; ++o) at += strides[o] * state[static_cast<std::size_t>(others[o])];
    return model.tables.data() + at;
}

// The first state whose running sum exceeds the target; the last one needs no comparison.
std::uint8_t pick(const double* sums, int card, double target) {
    if (card == 2) return target >= sums[0];  // no branch: it would be unpredictable
    int k = 0;
    while (k < card - 1 && target >= sums[k]) ++k;
    return static_cast<std::uint8_t>(k);
}

class Chain {
public:
    Chain(const GibbsModel& model, std::uint64_t key, std::uint64_t stream)
        : model_(model), random_(key, stream), state_(model.cards.size()), sums_(256) {
        for (std::size_t x = 0; x < state_.size(); ++x)
            state_[x] = static_cast<std::uint8_t>(random_.uniform() * model_.cards[x]);
    }

    void sweep() {
        for (std::size_t x = 0; x < state_.size(); ++x) {
            const auto first = static_cast<std::size_t>(model_.term_start[x]);
            const double u = random_.uniform();
            if (model_.tabled[x])
                state_[x] = pick(entry(model_, first, state_.data()), model_.cards[x], u);
            else
                state_[x] = pick(sums_.data(), model_.cards[x], u * add_up(x, first));
        }
    }

    const std::vector<std::uint8_t>& state() const { return state_; }

private:
    // Leaves the running sums of the weights of x in sums_ and returns their total.
    double add_up(std::size_t x, std::size_t first) {
        const auto last = static_cast<std::size_t>(model_.term_start[x + 1]);
        const auto card = static_cast<std::size_t>(model_.cards[x]);
        std::fill_n(sums_.begin(), card, 0.0);
        for (std::size_t term = first; term < last; ++term) {
            const double* logs = entry(model_, term, state_.data());
            for (std::size_t k = 0; k < card; ++k) sums_[k] += logs[k];
        }
        const double top = *std::max_element(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(card));
        double total = 0;
        for (std::size_t k = 0; k < card; ++k) sums_[k] = total += elementary::exp(sums_[k] - top);
        return total;
    }

    const GibbsModel& model_;
    Philox random_;
    std::vector<std::uint8_t> state_;
    std::vector<double> sums_;
};

void require(bool holds, const char* rule) {
    if (!holds) throw std::invalid_argument(rule);
}

template <class T> bool ascends_to(std::span<const T> starts, std::size_t end) {
    return !starts.empty() && starts.front() == 0 && std::is_sorted(starts.begin(), starts.end()) &&
           static_cast<std::size_t>(starts.back()) == end;
}

}  // namespace

void check_gibbs(const GibbsModel& model, const GibbsPlan& plan) {
    const std::size_t n = model.cards.size(), n_terms = model.table_start.size();
    require(model.tabled.size() == n && model.term_start.size() == n + 1 && ascends_to(model.term_start, n_terms),
            "terms must be listed variable by variable.");
    require(model.other_start.size() == n_terms + 1 && ascends_to(model.other_start, model.others.size()) &&
                model.others.size() == model.strides.size(),
            "others must be listed term by term.");
    require(plan.thin > 0, "thin must be at least 1.");
    for (std::size_t x = 0; x < n; ++x) {
        require(model.cards[x] >= 1 && model.cards[x] <= 256, "cards must be from 1 to 256.");
        require(!model.tabled[x] || model.term_start[x + 1] - model.term_start[x] == 1,
                "a tabled variable must have a single term.");
        for (auto t = static_cast<std::size_t>(model.term_start[x]);
             t < static_cast<std::size_t>(model.term_start[x + 1]); ++t) {
            std::int64_t last = model.table_start[t] + model.cards[x];
            bool valid = model.table_start[t] >= 0;
            for (auto o = static_cast<std::size_t>(model.other_start[t]);
                 o < static_cast<std::size_t>(model.other_start[t + 1]); ++o) {
                const std::int32_t other = model.others[o];
                valid = valid && other >= 0 && static_cast<std::size_t>(other) < n && model.strides[o] >= 0;
                if (valid) last += model.strides[o] * (model.cards[static_cast<std::size_t>(other)] - 1);
            }
            require(valid && last <= static_cast<std::int64_t>(model.tables.size()),
                    "every entry of a term must lie within the tables.");
        }
    }
}

void gibbs(const GibbsModel& model, const GibbsPlan& plan, std::uint8_t* codes) {
    const std::size_t n = model.cards.size();
    parallel_for(plan.n_chains, plan.n_threads, [&](std::size_t c) {
        Chain chain(model, plan.key, c);
        for (std::size_t s = 0; s < plan.burn_in; ++s) chain.sweep();
        for (std::size_t draw = 0; draw < plan.n_draws; ++draw) {
            for (std::size_t s = 0; s < plan.thin; ++s) chain.sweep();
            std::copy_n(chain.state().data(), n, codes + (draw * plan.n_chains + c) * n);
        }
    });
}

}  // namespace mnlearn
