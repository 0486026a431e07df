#include "screen/screen_planes.hpp"

#include <algorithm>
#include <numeric>

#include "threads/thread_pool.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kTogether = 64;  // variables that a thread looks at before it takes more

// All planes of one variable but that of its last state, side by side, and the rows of every state.
struct AllPlanes {
    std::vector<std::uint64_t> bits;
    std::vector<std::uint32_t> sizes;

    AllPlanes(const Store& store, const Column& column) : bits((store.n_records() + 63) / 64 * kLanes) {
        std::int64_t left = static_cast<std::int64_t>(store.n_records());
        for (std::uint32_t state = 0; state + 1 < column.card; ++state) {
            const std::int64_t rows = make_plane(column, 0, store.n_records(), static_cast<std::uint8_t>(state),
                                                 store.level(), bits.data() + state);
            sizes.push_back(static_cast<std::uint32_t>(rows));
            left -= rows;
        }
        sizes.push_back(static_cast<std::uint32_t>(left));
    }
    // A word of a plane; that of the last state is what the others leave of all rows.
    std::uint64_t word(std::size_t w, std::size_t state, std::uint64_t all) const {
        if (state + 1 < sizes.size()) return bits[w * kLanes + state];
        for (std::size_t other = 0; other + 1 < sizes.size(); ++other) all &= ~bits[w * kLanes + other];
        return all;
    }
};

bool may_have_planes(const Store& store, std::size_t variable) {
    const Column& column = store.column(variable);
    return !store.repeats() && !column.gaps && column.card >= 1 && column.card <= kMaxPlaneCard;
}

// The states that occur, the rarest first.
std::vector<std::uint8_t> occurring(const std::vector<std::uint32_t>& sizes) {
    std::vector<std::uint8_t> states;
    for (std::size_t s = 0; s < sizes.size(); ++s)
        if (sizes[s]) states.push_back(static_cast<std::uint8_t>(s));
    std::stable_sort(states.begin(), states.end(), [&](std::uint8_t a, std::uint8_t b) { return sizes[a] < sizes[b]; });
    return states;
}

}  // namespace

ScreenVariables sort_variables(const Store& store, int n_threads) {
    const std::size_t n = store.n_variables();
    std::vector<ScreenVariable> all(n);
    std::vector<std::uint8_t> n_states(n, 0);  // that occur; 0 for those without planes
    parallel_for((n + kTogether - 1) / kTogether, n_threads, [&](std::size_t piece) {
        for (std::size_t v = piece * kTogether; v < std::min((piece + 1) * kTogether, n); ++v) {
            if (!may_have_planes(store, v)) continue;
            const AllPlanes planes(store, store.column(v));
            const auto states = occurring(planes.sizes);
            n_states[v] = static_cast<std::uint8_t>(states.size());
            all[v].variable = static_cast<std::int32_t>(v);
            all[v].card = store.column(v).card;
            for (std::size_t s = 0; s < std::min<std::size_t>(states.size(), 3); ++s) {
                all[v].states[s] = states[s];
                all[v].sizes[s] = planes.sizes[states[s]];
            }
            const auto& codes = all[v].states;
            std::sort(all[v].by_code.begin(), all[v].by_code.begin() + std::min<std::size_t>(states.size(), 3),
                      [&](std::uint8_t a, std::uint8_t b) { return codes[a] < codes[b]; });
        }
    });
    ScreenVariables found;
    for (std::size_t v = 0; v < n; ++v) {
        if (n_states[v] == 0 || n_states[v] > kScreenPlanes + 1)
            found.others.push_back(static_cast<std::int32_t>(v));
        else if (n_states[v] > 1)
            found.with_planes[n_states[v] - 2].push_back(all[v]);
    }
    for (auto& some : found.with_planes)
        std::stable_sort(some.begin(), some.end(),
                         [](const ScreenVariable& a, const ScreenVariable& b) { return a.sizes[0] < b.sizes[0]; });
    return found;
}

ScreenClass::ScreenClass(const Store& store, std::vector<ScreenVariable> variables, std::size_t n_planes, int n_threads)
    : n_planes_(n_planes), variables_(std::move(variables)) {
    const std::size_t words = (store.n_records() + 63) / 64;
    const std::size_t room = (size() / 32 + 2) * 32;  // tiles may begin anywhere
    planes_ = aligned_words(room * n_planes * words);
    for (auto* some : {&counts_, &means_})
        for (auto& numbers : *some) numbers.assign(room, 0.0f);
    for (auto* some : {&row_weights_, &column_weights_})
        for (auto& numbers : *some) numbers.assign(room, 0.0f);
    make_numbers(static_cast<double>(store.n_records()));
    const std::size_t groups = (size() + kLanes - 1) / kLanes;  // no two threads write to one line of memory
    parallel_for(groups, n_threads, [&](std::size_t group) {
        for (std::size_t place = group * kLanes; place < std::min((group + 1) * kLanes, size()); ++place)
            make_planes(store, place);
    });
}

ScreenColumns ScreenClass::columns() const {
    return {planes_.get(),
            {means_[0].data(), means_[1].data()},
            {column_weights_[0].data(), column_weights_[1].data(), column_weights_[2].data()}};
}

void ScreenClass::make_planes(const Store& store, std::size_t place) {
    const ScreenVariable& v = variables_[place];
    const Column& column = store.column(static_cast<std::size_t>(v.variable));
    const std::size_t n_rows = store.n_records(), words = (n_rows + 63) / 64;
    const AllPlanes all(store, column);
    for (std::size_t plane = 0; plane < n_planes_; ++plane) {
        std::uint64_t* out = planes_.get() + (place / kLanes * n_planes_ + plane) * words * kLanes + place % kLanes;
        for (std::size_t w = 0; w < words; ++w) {
            const std::size_t left = n_rows - 64 * w;
            out[w * kLanes] =
                all.word(w, v.states[plane], left < 64 ? (std::uint64_t{1} << left) - 1 : ~std::uint64_t{0});
        }
    }
}

void ScreenClass::make_numbers(double n_rows) {
    for (std::size_t place = 0; place < size(); ++place) {
        const auto& sizes = variables_[place].sizes;
        for (std::size_t p = 0; p < n_planes_; ++p) {
            counts_[p][place] = static_cast<float>(sizes[p]);
            means_[p][place] = static_cast<float>(sizes[p] / n_rows);
        }
        double inverses = 0.0;
        for (std::size_t s = 0; s < n_states(); ++s) {
            row_weights_[s][place] = static_cast<float>(n_rows / sizes[s]);
            column_weights_[s][place] = static_cast<float>(1.0 / sizes[s]);
            inverses += 1.0 / sizes[s];
        }
        if (n_planes_ == 1) column_weights_[0][place] = static_cast<float>(inverses);
    }
}

}  // namespace mnlearn
