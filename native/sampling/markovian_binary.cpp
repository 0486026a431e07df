#include "sampling/markovian_binary.hpp"

#include <algorithm>
#include <array>

#include "sampling/philox.hpp"
#include "store/instruction_sets.hpp"
#include "threads/parallel.hpp"

namespace mnlearn {
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

void markovian_bits(const MarkovianModel& model, const MarkovianPlan& plan, const Lookups& lookups,
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
