#include "screen/pair_screen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "screen/filter_bounds.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kXsTogether = 256;     // whose planes stay in the second cache
constexpr std::size_t kYsTogether = 2048;    // for which the bounds of each x are made once
constexpr std::size_t kColumnsTogether = 4;  // of y, after which what passed is scored
constexpr std::size_t kTile = 4;
constexpr float kNever = 1e30f;
constexpr double kRelativeError = 1e-5, kAbsoluteError = 1e-6;  // of the filter; see Filter::bound

}  // namespace

PairScreen::PairScreen(const Store& store, PartnerLists& lists, KernelSpec kernel, int n_threads)
    : PairScreen(store, lists, std::move(kernel), sort_variables(store, n_threads), n_threads) {}

PairScreen::PairScreen(const Store& store, PartnerLists& lists, KernelSpec kernel, ScreenVariables variables,
                       int n_threads)
    : store_(store),
      lists_(lists),
      kernel_(std::move(kernel)),
      classes_{ScreenClass(store, std::move(variables.with_planes[0]), 1, n_threads),
               ScreenClass(store, std::move(variables.with_planes[1]), 2, n_threads)},
      others_(std::move(variables.others)),
      scores_(store, kernel_) {
    for (const ScreenClass& some : classes_)
        for (std::size_t place = 0; place < some.size(); ++place) scores_.prepare(some[place], some.n_states());
}

// The statistic that a pair needs, at least, for evidence as high as a bar. Information is that of G² over 2 N.
float PairScreen::statistic_bar(float bar, std::size_t dof) const {
    if (kernel_.name == KernelName::mi) return bar * (2.0f - 1e-6f) * static_cast<float>(store_.n_rows());
    return least_(bar, static_cast<double>(dof));
}

// What the kernel must give for evidence as high as a bar, at least.
float PairScreen::needed(float bar, double dof) const {
    return kernel_.name == KernelName::mi ? bar * (1.0f - 1e-6f) : least_(bar, dof);
}

float PairScreen::evidence(double statistic, double dof) const {
    return static_cast<float>(kernel_.name == KernelName::mi ? statistic : one_dof_equivalent(statistic, dof));
}

// What the filter knows of the x of a piece: from which X² on a pair may pass a bar.
class PairScreen::Filter {
public:
    Filter(const PairScreen& screen, const Piece& piece)
        : screen_(screen),
          piece_(piece),
          dof_(piece.x->n_planes() * piece.y->n_planes()),
          room_(piece.last_x - piece.first_x + kTile),
          bars_(room_, kNever),
          slopes_(room_, 0.0f),
          offsets_(room_, -kNever),
          least_(room_),
          lows_((piece.last_y - piece.first_y) / piece.y->lanes() + 1) {
        std::array<SizeRange, 3> ranges;
        double most_rare = 0.0;  // rows of y that are not in its most frequent state
        find_ranges(ranges, most_rare);
        for (std::size_t k = 0; k < piece.last_x - piece.first_x; ++k) bound(k, ranges, most_rare);
    }

    ScreenStrip strip(std::size_t column, std::size_t n_columns) {
        const std::size_t first = piece_.first_y / piece_.y->lanes();
        for (std::size_t k = 0; k < n_columns; ++k) lows_[column - first + k] = low(column + k);
        const ScreenClass& x = *piece_.x;
        const std::size_t from = piece_.first_x;
        return {(screen_.store_.n_records() + 63) / 64,
                x.planes(),
                {x.counts(0) + from, x.counts(1) + from},
                {x.row_weights(0) + from, x.row_weights(1) + from, x.row_weights(2) + from},
                bars_.data(),
                slopes_.data(),
                offsets_.data(),
                from,
                piece_.last_x - from,
                piece_.y->columns(),
                lows_.data() + (column - first),
                column,
                n_columns,
                piece_.triangle(),
                least_.data(),
                screen_.kernel_.name != KernelName::chi2,
                static_cast<float>(1.0 - 4.0 * (kRelativeError + error_)),
                static_cast<float>(4.0 * error_)};
    }

private:
    void find_ranges(std::array<SizeRange, 3>& ranges, double& most_rare) const {
        const ScreenClass& y = *piece_.y;
        ranges.fill({std::numeric_limits<double>::infinity(), 0.0});
        for (std::size_t place = piece_.first_y; place < piece_.last_y; ++place) {
            for (std::size_t s = 0; s < y.n_states(); ++s) {
                const double size = y[place].sizes[s];
                ranges[s] = {std::min(ranges[s].low, size), std::max(ranges[s].high, size)};
            }
            most_rare = std::max(most_rare, n_rows() - y[place].sizes[y.n_planes()]);
        }
    }
    // The filter computes X² in single precision. Planes are those of the rarest states, so rounding moves the root of
    // X² by at most 1e-6 sqrt(rare rows of x × rare rows of y / N), and by 1e-5 of itself; 2 a b <= a² + b² turns both
    // into a line. The bound of G² is a polynomial of fourth degree: four times the errors.
    void bound(std::size_t k, const std::array<SizeRange, 3>& ranges, double most_rare) {
        const ScreenClass& x = *piece_.x;
        const ScreenVariable& v = x[piece_.first_x + k];
        bars_[k] = screen_.statistic_bar(screen_.lists_.bar(static_cast<std::size_t>(v.variable)), dof_);
        double sizes[3] = {};
        for (std::size_t s = 0; s < x.n_states(); ++s) sizes[s] = v.sizes[s];
        StatisticBound exact;
        if (screen_.kernel_.name != KernelName::chi2)
            exact = likelihood_bound({sizes, x.n_states()}, {ranges.data(), piece_.y->n_states()}, n_rows(), bars_[k]);
        const double rare = n_rows() - sizes[x.n_planes()];
        const double error = kAbsoluteError * std::sqrt(rare * most_rare / n_rows()),
                     kept = 1.0 - kRelativeError - error;
        const double unit = x.n_planes() == 1 ? sizes[0] * sizes[1] / (n_rows() * n_rows()) : 1.0;
        error_ = std::max(error_, error);
        slopes_[k] = static_cast<float>(unit * exact.slope * kept);
        offsets_[k] = static_cast<float>(unit * (exact.offset * kept + error + 2e-6 * exact.slope * bars_[k]));
    }
    // The lowest bar of the y of a column.
    float low(std::size_t column) const {
        const ScreenClass& y = *piece_.y;
        float lowest = kNever;
        for (std::size_t place = column * y.lanes(); place < std::min((column + 1) * y.lanes(), y.size()); ++place)
            lowest = std::min(lowest, screen_.lists_.bar(static_cast<std::size_t>(y[place].variable)));
        return lowest == kNever ? kNever : screen_.statistic_bar(lowest, dof_);
    }
    double n_rows() const { return static_cast<double>(screen_.store_.n_records()); }

    const PairScreen& screen_;
    const Piece& piece_;
    std::size_t dof_, room_;
    double error_ = 0.0;  // the largest of all x
    std::vector<float> bars_, slopes_, offsets_, least_, lows_;
};

std::vector<PairScreen::Piece> PairScreen::pieces(std::size_t first, std::size_t last) const {
    std::vector<Piece> found;
    std::size_t before = 0;
    for (std::size_t c = 0; c < kScreenPlanes; before += classes_[c++].size()) {
        const ScreenClass& x = classes_[c];
        const std::size_t begin = std::max(first, before) - before, end = std::min(last, before + x.size());
        for (std::size_t from = begin; from + before < end; from += kXsTogether)
            for (std::size_t d = c; d < kScreenPlanes; ++d) {
                const ScreenClass& y = classes_[d];
                const std::size_t to = std::min(from + kXsTogether, end - before);
                for (std::size_t k = c == d ? from / y.lanes() * y.lanes() : 0; k < y.size(); k += kYsTogether)
                    found.push_back({&x, &y, from, to, k, std::min(k + kYsTogether, y.size())});
            }
    }
    return found;
}

template <class Strip> void PairScreen::with_strips(const Piece& piece, Strip use) const {
    Filter filter(*this, piece);
    const std::size_t lanes = piece.y->lanes(), last = (piece.last_y + lanes - 1) / lanes;
    for (std::size_t column = piece.first_y / lanes; column < last; column += kColumnsTogether)
        use(filter.strip(column, std::min(kColumnsTogether, last - column)));
}

void PairScreen::scan(std::size_t first, std::size_t last, int n_threads) {
    const std::vector<Piece> found = pieces(first, last);
    parallel_for(found.size(), n_threads, [&](std::size_t k) { scan_piece(found[k]); });
    if (others_.empty()) return;
    const std::size_t fast = classes_[0].size() + classes_[1].size();
    parallel_for(last - first, n_threads, [&](std::size_t k) {
        const std::size_t row = first + k;
        if (row >= fast) return scan_other(row - fast);
        scan_with_others(row < classes_[0].size() ? classes_[0][row] : classes_[1][row - classes_[0].size()]);
    });
}

void PairScreen::scan_piece(const Piece& piece) {
    const std::size_t sx = piece.x->n_planes(), sy = piece.y->n_planes();
    const ScreenPairs filter = store_.level().screen->pairs[sx - 1][sy - 1];
    const std::size_t most = (piece.last_x - piece.first_x + kTile) * kColumnsTogether * piece.y->lanes();
    const Buffer<ScreenSurvivor> room(store_.pool(), most);
    with_strips(piece, [&](const ScreenStrip& strip) { score(piece, {room.get(), filter(strip, room.get())}); });
}

void PairScreen::score(const Piece& piece, std::span<const ScreenSurvivor> survivors) {
    const ScreenClass &xs = *piece.x, &ys = *piece.y;
    std::uint64_t n_scored = 0;
    for (const ScreenSurvivor& found : survivors) {
        if (found.y >= ys.size() || (piece.triangle() && found.y <= found.x)) continue;
        const ScreenVariable &x = xs[found.x], &y = ys[found.y];
        const TableScores::Score score = scores_(x, xs.n_planes(), y, ys.n_planes(), found.counts);
        ++n_scored;
        const float low = std::min(lists_.bar(static_cast<std::size_t>(x.variable)),
                                   lists_.bar(static_cast<std::size_t>(y.variable)));
        if (score.statistic < needed(low, score.dof)) continue;
        lists_.push(x.variable, y.variable, evidence(score.statistic, score.dof));
    }
    n_scored_ += n_scored;
}

std::uint32_t PairScreen::probe(std::size_t first, std::size_t last, int n_threads) const {
    const std::vector<Piece> found = pieces(first, last);
    std::atomic<std::uint32_t> all = 0;
    parallel_for(found.size(), n_threads, [&](std::size_t k) {
        const Piece& piece = found[k];
        const ProbePairs count = store_.level().screen->probe[piece.x->n_planes() - 1][piece.y->n_planes() - 1];
        with_strips(piece, [&](const ScreenStrip& strip) { all ^= count(strip); });
    });
    return all;
}

// A variable without planes with all later ones, and with all later ones that have planes: the first is x in both.
void PairScreen::scan_other(std::size_t other) {
    const std::int32_t x = others_[other];
    std::vector<std::int32_t> ys(others_.begin() + static_cast<std::ptrdiff_t>(other) + 1, others_.end());
    for (const ScreenClass& some : classes_)
        for (std::size_t place = 0; place < some.size(); ++place)
            if (some[place].variable > x) ys.push_back(some[place].variable);
    std::sort(ys.begin(), ys.end());
    scan_ys(x, ys);
}

void PairScreen::scan_with_others(const ScreenVariable& x) {
    const auto after = std::upper_bound(others_.begin(), others_.end(), x.variable);
    scan_ys(x.variable, {others_.data() + (after - others_.begin()), static_cast<std::size_t>(others_.end() - after)});
}

void PairScreen::scan_ys(std::int32_t x, std::span<const std::int32_t> ys) {
    if (ys.empty()) return;
    std::vector<double> out(2 * ys.size());
    run_scan(store_, kernel_, x, ys, {}, 1, out.data());
    for (std::size_t k = 0; k < ys.size(); ++k) {
        const float low =
            std::min(lists_.bar(static_cast<std::size_t>(x)), lists_.bar(static_cast<std::size_t>(ys[k])));
        const double dof = out[ys.size() + k];
        if (out[k] >= needed(low, dof)) lists_.push(x, ys[k], evidence(out[k], dof));
    }
    n_scored_ += ys.size();
}

void PairScreen::push_binary(std::span<const std::int32_t> xs, std::span<const std::int32_t> ys,
                             std::span<const std::int32_t> both) {
    std::vector<std::uint32_t> ones(store_.n_variables(), 0);
    for (std::size_t place = 0; place < classes_[0].size(); ++place) {
        const ScreenVariable& v = classes_[0][place];
        for (std::size_t s = 0; s < 2; ++s)
            if (v.states[s] == 1) ones[static_cast<std::size_t>(v.variable)] = v.sizes[s];
    }
    const std::int64_t n = store_.n_rows();
    for (std::size_t k = 0; k < xs.size(); ++k) {
        const std::int32_t x = std::min(xs[k], ys[k]), y = std::max(xs[k], ys[k]);
        const std::int64_t a = ones[static_cast<std::size_t>(x)], b = ones[static_cast<std::size_t>(y)], c = both[k];
        if (a == 0 || b == 0) continue;  // constant, or of more states
        if (c < std::max<std::int64_t>(0, a + b - n) || c > std::min(a, b))
            throw std::invalid_argument("both must be numbers of rows in which both variables have state 1; got " +
                                        std::to_string(c) + " for (" + std::to_string(x) + ", " + std::to_string(y) +
                                        "). Count them in the same data.");
        const TableScores::Score score = scores_({n - a - b + c, b - c, a - c, c});
        lists_.push(x, y, evidence(score.statistic, score.dof));
    }
    n_scored_ += xs.size();
}

void PairScreen::push_pairs(std::span<const std::int32_t> xs, std::span<const std::int32_t> ys, int n_threads) {
    parallel_for(xs.size(), n_threads, [&](std::size_t k) {
        const std::int32_t x = std::min(xs[k], ys[k]), y = std::max(xs[k], ys[k]);
        scan_ys(x, {&y, 1});
    });
}

}  // namespace mnlearn
