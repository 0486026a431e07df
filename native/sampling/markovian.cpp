#include "sampling/markovian.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include "sampling/conditional_tables.hpp"
#include "sampling/philox.hpp"
#include "store/instruction_sets.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {

namespace {

void check_rule(bool holds, const char* rule) {
    if (!holds) throw std::invalid_argument(rule);
}

// A number below n from 32 random bits.
std::uint32_t below(std::uint32_t n, std::uint32_t bits) {
    return static_cast<std::uint32_t>((std::uint64_t{bits} * n) >> 32);
}

class Block {
public:
    Block(const MarkovianModel& model, std::uint64_t key, std::uint64_t stream)
        : random_(key, stream), states_(model.cards.size()) {
        for (std::size_t x = 0; x < states_.size(); ++x) {
            const auto card = static_cast<std::uint32_t>(model.cards[x]);
            next_numbers(random_.bits());
            for (std::size_t l = 0; l < kTogether; ++l)
                states_[x][l] = static_cast<std::uint8_t>(below(card, numbers_[l]));
        }
    }

    void update(const std::vector<std::optional<ConditionalTable>>& lookups) {
        const auto n = static_cast<std::uint32_t>(states_.size());
        const std::uint64_t shared = random_.bits();
        next_numbers(shared);
        lookups[below(n, static_cast<std::uint32_t>(shared >> 32))]->draw(states_, numbers_);
    }

    void write(std::uint8_t* rows, std::size_t n_rows) const {
        for (std::size_t l = 0; l < n_rows; ++l)
            for (std::size_t x = 0; x < states_.size(); ++x) rows[l * states_.size() + x] = states_[x][l];
    }

private:
    // 16 bits of its own for each row, and 16 below them for all rows: each number is uniform, and two rows feel that
    // they share something once in 2^16 draws. Half the random bits are half the time.
    void next_numbers(std::uint64_t shared) {
        constexpr std::size_t kFour = kTogether / 4;
        std::uint64_t raw[kFour];
        for (std::uint64_t& four : raw) four = random_.bits();
        const auto low = static_cast<std::uint32_t>(shared & 0xffff);
        for (std::size_t quarter = 0; quarter < 4; ++quarter)
            for (std::size_t k = 0; k < kFour; ++k)
                numbers_[quarter * kFour + k] = static_cast<std::uint32_t>(raw[k] >> (16 * quarter)) << 16 | low;
    }

    Philox random_;
    std::vector<SixtyFour> states_;
    std::uint32_t numbers_[kTogether];
};

void markovian_bytes(const MarkovianModel& model, const MarkovianPlan& plan,
                     const std::vector<std::optional<ConditionalTable>>& lookups, std::uint8_t* rows) {
    const std::size_t n = model.cards.size(), n_blocks = (plan.n_new + kTogether - 1) / kTogether;
    const auto work = static_cast<double>(n_blocks * kTogether * plan.n_updates);
    parallel_for(n_blocks, threads_for(3.0 * work, plan.n_threads), [&](std::size_t b) {
        Block block(model, plan.key, b);
        for (std::size_t u = 0; u < plan.n_updates; ++u) block.update(lookups);
        block.write(rows + b * kTogether * n, std::min(kTogether, plan.n_new - b * kTogether));
    });
}

}  // namespace

Weighing parse_weighing(const std::string& name) {
    if (name == "conditional") return Weighing::conditional;
    if (name == "joint") return Weighing::joint;
    if (name == "plain") return Weighing::plain;
    throw std::invalid_argument("weighing must be conditional, joint or plain; got '" + name + "'.");
}

void check_markovian(const MarkovianModel& model, const MarkovianPlan& plan) {
    const std::size_t n = model.cards.size();
    check_rule(model.n_rows > 0 && model.codes.size() == n * model.n_rows,
               "codes must have a column for each variable.");
    check_rule(model.n_rows < (std::size_t{1} << 31), "codes must have fewer than 2^31 rows.");
    check_rule(std::isfinite(plan.inverse_temperature) && plan.inverse_temperature >= 0,
               "inverse_temperature must be a number of at least 0.");
    check_rule(model.starts.size() == n + 1 && model.starts.front() == 0 &&
                   std::is_sorted(model.starts.begin(), model.starts.end()) &&
                   static_cast<std::size_t>(model.starts.back()) == model.neighbors.size(),
               "neighbors must be listed variable by variable.");
    for (std::size_t x = 0; x < n; ++x) {
        check_rule(model.cards[x] >= 1 && model.cards[x] <= 256, "cards must be from 1 to 256.");
        const std::uint8_t* codes = model.codes.data() + x * model.n_rows;
        check_rule(*std::max_element(codes, codes + model.n_rows) < model.cards[x], "codes must be below their cards.");
        for (auto k = model.starts[x]; k < model.starts[x + 1]; ++k) {
            const std::int32_t y = model.neighbors[static_cast<std::size_t>(k)];
            check_rule(y >= 0 && static_cast<std::size_t>(y) < n && static_cast<std::size_t>(y) != x,
                       "neighbors must be other variables.");
        }
    }
}

void markovian(const MarkovianModel& model, const MarkovianPlan& plan, std::uint8_t* rows) {
    const std::size_t n = model.cards.size();
    const auto old = static_cast<double>(n * model.n_rows);
    std::vector<std::optional<ConditionalTable>> lookups(n);
    parallel_for(n, threads_for(2.0 * old, plan.n_threads),
                 [&](std::size_t x) { lookups[x].emplace(model, x, plan.weighing, plan.inverse_temperature); });
    if (std::all_of(model.cards.begin(), model.cards.end(), [](std::int32_t card) { return card == 2; }))
        markovian_binary(model, plan, lookups, rows);
    else
        markovian_bytes(model, plan, lookups, rows);
}

namespace {

using Lookups = std::vector<std::optional<ConditionalTable>>;

class BitBlock {
public:
    BitBlock(std::size_t n, std::size_t n_words, const MarkovianPlan& plan, std::size_t stream)
        : n_(n),
          n_words_(n_words),
          choice_(plan.key, stream),
          states_(n * n_words),
          lanes_(64 * n_words),
          update_bits_(choose_instruction_set(plan.level).update_binary) {
        for (std::size_t k = 0; k < 4 * n_words; ++k) random_[k] = choice_.bits();
        const std::uint32_t half = std::uint32_t{1} << 31;  // reached by one in two
        for (std::size_t x = 0; x < n; ++x)
            update_bits_({states_.data(), n_words_, x, nullptr, 0, &half, nullptr, random_.data()});
    }

    void update(const Lookups& lookups) {
        const auto x = static_cast<std::size_t>(((choice_.bits() >> 32) * n_) >> 32);
        const ConditionalTable& lookup = *lookups[x];
        const std::vector<std::int32_t>& around = lookup.around();
        const bool masked = around.size() <= kMostAroundBits;
        if (!masked) find_lanes(lookup);
        update_bits_({states_.data(), n_words_, x, around.data(), around.size(), lookup.thresholds().data(),
                      masked ? nullptr : lanes_.data(), random_.data()});
    }

    void write(std::uint8_t* rows, std::size_t n_rows) const {
        for (std::size_t l = 0; l < n_rows; ++l)
            for (std::size_t x = 0; x < n_; ++x) rows[l * n_ + x] = static_cast<std::uint8_t>(bit(x, l));
    }

private:
    std::uint64_t bit(std::size_t x, std::size_t row) const {
        return (states_[x * n_words_ + row / 64] >> (row % 64)) & 1;
    }

    void find_lanes(const ConditionalTable& lookup) {
        for (std::size_t row = 0; row < lanes_.size(); ++row)
            lanes_[row] = lookup.threshold([&](std::int32_t y) { return bit(static_cast<std::size_t>(y), row); });
    }

    std::size_t n_, n_words_;
    Philox choice_;
    std::vector<std::uint64_t> states_;
    std::vector<std::uint32_t> lanes_;
    std::array<std::uint64_t, 4 * kMostWords> random_{};
    UpdateBinary update_bits_;
};

}  // namespace

void markovian_binary(const MarkovianModel& model, const MarkovianPlan& plan, const Lookups& lookups,
                      std::uint8_t* rows) {
    const std::size_t n = model.cards.size();
    std::size_t n_words = 1;
    while (64 * n_words < plan.n_new && n_words < kMostWords) n_words *= 2;
    const std::size_t size = 64 * n_words, n_blocks = (plan.n_new + size - 1) / size;
    const auto work = static_cast<double>(n_blocks * size * plan.n_updates);
    parallel_for(n_blocks, threads_for(work, plan.n_threads), [&](std::size_t b) {
        BitBlock block(n, n_words, plan, b);
        for (std::size_t u = 0; u < plan.n_updates; ++u) block.update(lookups);
        block.write(rows + b * size * n, std::min(size, plan.n_new - b * size));
    });
}

}  // namespace mnlearn
