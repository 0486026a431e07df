#include "evidence/pairwise_model.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numbers>

#include "numbers/elementary.hpp"

namespace mnlearn {
namespace {

constexpr double kInterceptPrecision = 0.01;  // b0 ~ N(0, 100)
constexpr double kWeightPrecision = 1.0;      // of a new block; for two binary variables: log odds ratio ~ N(0, 4)
constexpr int kMaxSteps = 60, kMaxHalvings = 30;
constexpr double kConverged = 1e-18;  // Newton decrement; its root is how far the mode may be, in standard deviations
constexpr double kQuadratic = 1e-4;   // below it full steps are safe, and their gains may drown in rounding

void resize(std::vector<double>& numbers, std::size_t size) {
    if (numbers.size() < size) numbers.resize(size);
}

std::size_t n_states(const std::vector<CodedMember>& members) {
    std::size_t sum = 1;
    for (const CodedMember& member : members) sum += member.card;
    return sum;
}

// Cells of the intercept, of each state, of each pair of states of two members.
std::size_t n_cells(const std::vector<CodedMember>& members) {
    std::size_t sum = n_states(members);
    for (std::size_t i = 0; i < members.size(); ++i)
        for (std::size_t j = i + 1; j < members.size(); ++j) sum += members[i].card * members[j].card;
    return sum;
}

// Blocks that contracting the cells of two members needs: [state][feature] and [feature][feature] of the widest.
std::size_t information_room(const std::vector<CodedMember>& members) {
    std::size_t most = n_states(members), widest = 0;
    for (const CodedMember& member : members) {
        most = std::max(most, member.card + member.width);
        widest = std::max(widest, member.width);
    }
    for (const CodedMember& member : members) most = std::max(most, (member.card + member.width) * widest);
    return most;
}

}  // namespace

Contrasts::Contrasts(std::size_t card) : card_(card), values_(card * (card - 1), 0.0) {
    for (std::size_t k = 1; k < card; ++k) {
        const double scale = 1.0 / std::sqrt(static_cast<double>(k * (k + 1)));
        for (std::size_t a = 0; a < k; ++a) values_[a * width() + k - 1] = scale;
        values_[k * width() + k - 1] = -static_cast<double>(k) * scale;
    }
}

const Contrasts& Contrasts::of(std::size_t card) {
    static std::once_flag made[kMaxParameters + 2];
    static std::unique_ptr<const Contrasts> known[kMaxParameters + 2];
    std::call_once(made[card], [card] { known[card] = std::make_unique<const Contrasts>(card); });
    return *known[card];
}

void GroupedTable::clear(std::size_t states) {
    n_groups = 0;
    card = states;
    counts.clear();
    sizes.clear();
}

bool GroupedTable::add_group(const double* of_state, std::size_t apart) {
    double size = 0.0;
    for (std::size_t a = 0; a < card; ++a) size += of_state[a * apart];
    if (size == 0.0) return false;
    counts.resize((n_groups + 1) * stride(), 0.0);
    double* mine = counts.data() + n_groups * stride();
    for (std::size_t a = 0; a < card; ++a) mine[a] = of_state[a * apart];
    sizes.push_back(size);
    ++n_groups;
    return true;
}

void Design::add_neighbour(std::size_t card) {
    members.push_back({card, card - 1, n_features, card <= kMaxParameters ? Contrasts::of(card)[0] : nullptr});
    n_features += card - 1;
    ++n_neighbours;
}

std::vector<double> Design::products(std::size_t i, std::size_t j) const {
    const Member &y = members[i], &z = members[j];
    std::vector<double> values;
    for (std::size_t b = 0; b < y.card; ++b)
        for (std::size_t c = 0; c < z.card; ++c)
            for (std::size_t e = 0; e < y.width; ++e)
                for (std::size_t h = 0; h < z.width; ++h)
                    values.push_back(std::numbers::sqrt2 * y.coding[b * y.width + e] * z.coding[c * z.width + h]);
    return values;
}

void Design::add_products(std::size_t i, std::size_t j) {
    const Member y = members[i], z = members[j];
    codings.push_back(std::make_shared<const std::vector<double>>(products(i, j)));
    members.push_back({y.card * z.card, y.width * z.width, n_features, codings.back()->data()});
    n_features += y.width * z.width;
    states.resize(members.size() * n_groups);
    std::uint32_t* mine = states.data() + (members.size() - 1) * n_groups;
    for (std::size_t u = 0; u < n_groups; ++u)
        mine[u] = states_of(i)[u] * static_cast<std::uint32_t>(z.card) + states_of(j)[u];
}

void Design::drop_products() {
    n_features -= members.back().width;
    members.pop_back();
    codings.pop_back();
    states.resize(members.size() * n_groups);
}

bool Fit::run(const ConditionalKernels& kernels, const GroupedTable& table, const Design& design, const Contrasts& of_x,
              const Fit* warm) {
    kernels_ = &kernels;
    table_ = &table;
    of_x_ = &of_x;
    n_features_ = design.n_features;
    width_ = of_x.width();
    if (n_parameters() > kMaxParameters) return false;
    prepare(table, design);
    start(table, warm);
    double height = log_posterior(weights_), last = HUGE_VAL;
    for (int step = 0; step < kMaxSteps; ++step) {
        find_gradient();
        if (!find_information()) return false;
        const double decrement = find_step();
        if (!(decrement < HUGE_VAL)) return false;
        const bool stalled = decrement < 1e-9 && decrement >= 0.1 * last;  // by rounding: of so many rows
        last = decrement;
        if (decrement < kConverged || stalled) {
            finish(height);
            return true;
        }
        climb(decrement, height);
    }
    return false;
}

void Fit::climb(double decrement, double& height) {
    double length = 1.0, reached = 0.0;
    for (int halving = 0; halving <= kMaxHalvings; ++halving, length *= 0.5) {
        proposal_ = weights_;
        for (std::size_t j = 0; j < n_parameters(); ++j) proposal_[j] += length * step_[j];
        reached = log_posterior(proposal_);
        if (reached > height || decrement < kQuadratic) break;
    }
    weights_.swap(proposal_);
    height = reached;
}

void Fit::finish(double height) {
    log_evidence_ = height - 0.5 * log_determinant(upper_.data(), n_parameters());
    for (std::size_t j = width_; j < n_parameters(); ++j)
        if (precision_[j] != kWeightPrecision) log_evidence_ += 0.5 * elementary::log(precision_[j]);
    if (!binary()) return;
    resize(weighted_, n_features_ * n_groups_);
    for (std::size_t q = 0; q < n_features_; ++q)
        for (std::size_t u = 0; u < n_groups_; ++u)
            weighted_[q * n_groups_ + u] = 2.0 * first_[u] * second_[u] * features_[q * n_groups_ + u];
}

// The Newton step; returns the decrement.
double Fit::find_step() {
    const std::size_t size = n_parameters();
    step_ = gradient_;
    for (std::size_t j = 0; j < size; ++j) {  // U'^-1 g
        step_[j] /= upper_[j * size + j];
        for (std::size_t k = j + 1; k < size; ++k) step_[k] -= step_[j] * upper_[j * size + k];
    }
    const double decrement = kernels_->dot(step_.data(), step_.data(), size);
    for (std::size_t i = size; i-- > 0;) {  // U^-1
        const double* row = upper_.data() + i * size;
        step_[i] = (step_[i] - kernels_->dot(row + i + 1, step_.data() + i + 1, size - i - 1)) / row[i];
    }
    return decrement;
}

void Fit::prepare(const GroupedTable& table, const Design& design) {
    members_.clear();
    for (std::size_t i = 0; i < design.members.size(); ++i) {
        const Design::Member& m = design.members[i];
        members_.push_back({design.states_of(i), m.coding, m.card, m.width, m.first});
    }
    const std::size_t size = n_parameters();
    precision_.assign(size, kInterceptPrecision);
    for (const Design::Member& m : design.members)
        std::fill_n(precision_.begin() + static_cast<std::ptrdiff_t>(m.first * width_), m.width * width_, m.precision);
    gradient_.resize(size);
    upper_.resize(size * size);
    if (!binary()) {
        n_groups_ = table.n_groups;
        const std::size_t line = in_lanes(width_), block = in_lanes(width_ * width_);
        resize(probabilities_, n_groups_ * table.stride());
        resize(mean_, n_groups_ * line);
        resize(surplus_, n_groups_ * line);
        resize(spread_, n_groups_ * block);
        resize(sums_, in_lanes(n_groups_));
        resize(tables_, n_states(members_) * table.stride());
        resize(cells_, n_cells(members_) * block);
        resize(room_, information_room(members_) * block);
        return;
    }
    n_groups_ = in_lanes(table.n_groups);
    zeros_.assign(n_groups_, 0.0);
    ones_.assign(n_groups_, 0.0);
    for (std::size_t u = 0; u < table.n_groups; ++u) zeros_[u] = table[u][0], ones_[u] = table[u][1];
    for (auto* numbers : {&first_, &second_, &weight_, &surplus_, &room_}) resize(*numbers, n_groups_);
    features_.assign(n_features_ * n_groups_, 0.0);
    std::fill_n(features_.begin(), table.n_groups, 1.0);
    for (const CodedMember& m : members_)
        for (std::size_t e = 0; e < m.width; ++e)
            for (std::size_t u = 0; u < table.n_groups; ++u)
                features_[(m.first + e) * n_groups_ + u] = m.coding[m.states[u] * m.width + e];
}

BinaryGroups Fit::binary_groups() const {
    return {n_groups_, n_features_, features_.data(), zeros_.data(), ones_.data()};
}

GeneralGroups Fit::general_groups() const {
    return {
        n_groups_,           table_->card, width_, members_.size(), members_.data(), (*of_x_)[0], table_->counts.data(),
        table_->sizes.data()};
}

GeneralMoments Fit::general_moments() { return {probabilities_.data(), mean_.data(), spread_.data(), surplus_.data()}; }

// The margin of x, smoothed, as if there were no neighbours; or the fit of fewer features.
void Fit::start(const GroupedTable& table, const Fit* warm) {
    weights_.assign(n_parameters(), 0.0);
    if (warm) {
        std::copy(warm->weights_.begin(), warm->weights_.end(), weights_.begin());
        return;
    }
    for (std::size_t a = 0; a < table.card; ++a) {
        double total = 0.5;
        for (std::size_t u = 0; u < table.n_groups; ++u) total += table[u][a];
        for (std::size_t k = 0; k < width_; ++k) weights_[k] += (*of_x_)[a][k] * elementary::log(total);
    }
}

double Fit::mean_square(std::size_t i) const {
    const std::size_t size = members_[i].width * width_;
    const double* mine = weights_.data() + members_[i].first * width_;
    return size ? kernels_->dot(mine, mine, size) / static_cast<double>(size) : 0.0;
}

double Fit::log_posterior(const std::vector<double>& weights) {
    double height = binary()
                        ? kernels_->binary_posterior(binary_groups(), weights.data(), first_.data(), second_.data())
                        : kernels_->general_posterior(general_groups(), weights.data(), tables_.data(),
                                                      probabilities_.data(), sums_.data());
    for (std::size_t j = 0; j < weights.size(); ++j) height -= 0.5 * precision_[j] * weights[j] * weights[j];
    return height;
}

void Fit::find_gradient() {
    if (binary())
        kernels_->binary_gradient(binary_groups(), first_.data(), second_.data(), surplus_.data(), gradient_.data());
    else
        kernels_->general_gradient(general_groups(), general_moments(), room_.data(), gradient_.data());
    for (std::size_t j = 0; j < n_parameters(); ++j) gradient_[j] -= precision_[j] * weights_[j];
}

// The factor of the information of the log posterior.
bool Fit::find_information() {
    const std::size_t size = n_parameters();
    if (binary()) {
        for (std::size_t u = 0; u < n_groups_; ++u)
            weight_[u] = (zeros_[u] + ones_[u]) * (first_[u] * second_[u] * 2.0);
        kernels_->weighted_gram(binary_groups(), weight_.data(), room_.data(), upper_.data());
    } else {
        kernels_->general_information(general_groups(), general_moments(), cells_.data(), room_.data(), upper_.data());
    }
    for (std::size_t j = 0; j < size; ++j) upper_[j * size + j] += precision_[j];
    return kernels_->factorise(upper_.data(), size);
}

void Fit::surplus_of(std::size_t u, const double* counts, double* surplus) const {
    if (binary()) {
        surplus[0] = std::numbers::sqrt2 * (counts[0] * second_[u] - counts[1] * first_[u]);
        return;
    }
    const std::size_t line = in_lanes(width_);
    std::fill_n(surplus, line, 0.0);
    for (std::size_t a = 0; a < table_->card; ++a) {
        if (counts[a] == 0.0) continue;
        for (std::size_t k = 0; k < width_; ++k) surplus[k] += counts[a] * ((*of_x_)[a][k] - mean_[u * line + k]);
    }
}

// Into by_state_ and surplus_by_state_: rows times covariance, and Σ (C_x - mean), in each state of the block.
void Fit::sum_states(const Entries& entries, std::size_t n_states) {
    const std::size_t line = in_lanes(width_), square = in_lanes(width_ * width_);
    by_state_.assign(n_states * square, 0.0);
    surplus_by_state_.assign(n_states * line, 0.0);
    if (!binary()) {
        kernels_->sum_entries(general_groups(), spread_.data(), entries, by_state_.data(), surplus_by_state_.data());
        return;
    }
    for (std::size_t t = 0; t < entries.n_entries; ++t) {
        const std::size_t u = entries.group[t], s = entries.state[t];
        by_state_[s * square] += entries.rows[t] * 2.0 * first_[u] * second_[u];
        surplus_by_state_[s * line] += entries.surplus[t * line];
    }
}

// block_ := the block's information and prior, block_gradient_ := its gradient, from the sums by state.
double Fit::gain_from_sums(const CodedBlock& block, double* cross, std::size_t stride) {
    const std::size_t w = width_, size = block.width * w, line = in_lanes(w), square = in_lanes(w * w);
    block_.assign(size * size, 0.0);
    block_gradient_.assign(size, 0.0);
    for (std::size_t s = 0; s < block.n_states; ++s) {
        const double* f = block.coding + s * block.width;
        const double* spread = by_state_.data() + s * square;
        for (std::size_t e = 0; e < block.width; ++e) {
            for (std::size_t k = 0; k < w; ++k) block_gradient_[e * w + k] += f[e] * surplus_by_state_[s * line + k];
            for (std::size_t h = e; h < block.width; ++h) {
                const double scale = f[e] * f[h];
                for (std::size_t k = 0; k < w; ++k) {
                    double* row = block_.data() + (e * w + k) * size + h * w;
                    for (std::size_t l = 0; l < w; ++l) row[l] += scale * spread[k * w + l];
                }
            }
        }
    }
    for (std::size_t j = 0; j < size; ++j) block_[j * size + j] += kWeightPrecision;
    if (cross) {
        kernels_->solve_columns(upper_.data(), n_parameters(), cross, stride);
        kernels_->subtract_squares(cross, n_parameters(), stride, size, block_.data());
    }
    if (!kernels_->factorise(block_.data(), size)) return 0.0;
    for (std::size_t j = 0; j < size; ++j) {
        block_gradient_[j] /= block_[j * size + j];
        for (std::size_t k = j + 1; k < size; ++k) block_gradient_[k] -= block_gradient_[j] * block_[j * size + k];
    }
    return 0.5 * kernels_->dot(block_gradient_.data(), block_gradient_.data(), size);
}

Fit::Range Fit::gain_range(const Entries& entries, const CodedBlock& block) {
    constexpr double kAlike = 3.0, kSlack = 6.0;  // how much more the other parameters may bring to light
    sum_states(entries, block.n_states);
    const double square = gain_from_sums(block, nullptr, 0);
    const double price = 0.5 * log_determinant(block_.data(), block.width * width_);
    return {square - price, kAlike * square - price + kSlack};
}

double Fit::gain(const Entries& entries, const CodedBlock& block) {
    const std::size_t size = block.width * width_, stride = in_lanes(size), square = in_lanes(width_ * width_);
    cross_.assign(n_parameters() * stride, 0.0);
    if (binary()) {
        dense_cross(entries, block, cross_.data(), stride);
    } else {
        const std::size_t cells = n_states(members_) * square;
        resize(room_, (block.n_states + block.width) * cells + information_room(members_) * square);
        double* crossed = room_.data() + block.width * cells + information_room(members_) * square;
        kernels_->cross_entries(general_groups(), spread_.data(), entries, block.n_states, crossed);
        kernels_->contract_cross(general_groups(), block, crossed, room_.data(), cross_.data(), stride);
    }
    sum_states(entries, block.n_states);
    const double gain = gain_from_sums(block, cross_.data(), stride);
    return gain - 0.5 * log_determinant(block_.data(), size);
}

void Fit::dense_cross(const Entries& entries, const CodedBlock& block, double* cross, std::size_t stride) {
    resize(room_, n_groups_ * block.width);
    std::fill_n(room_.begin(), n_groups_ * block.width, 0.0);
    for (std::size_t t = 0; t < entries.n_entries; ++t) {
        const std::size_t u = entries.group[t];
        const double rows = entries.rows[t] * 2.0 * first_[u] * second_[u];
        for (std::size_t e = 0; e < block.width; ++e)
            room_[e * n_groups_ + u] += rows * block.coding[entries.state[t] * block.width + e];
    }
    for (std::size_t q = 0; q < n_features_; ++q)
        for (std::size_t e = 0; e < block.width; ++e)
            cross[q * stride + e] =
                kernels_->dot(features_.data() + q * n_groups_, room_.data() + e * n_groups_, n_groups_);
}

void Fit::binary_gains(const double* zero, double* gain) {
    const BinaryGroups groups = binary_groups();
    resize(room_, n_features_ * kFitLanes);
    kernels_->binary_gains({&groups, first_.data(), second_.data(), weighted_.data(), upper_.data(), zero,
                            table_->n_groups, room_.data(), gain});
}

BlockPosterior Fit::posterior_of(std::span<const std::size_t> members) const {
    BlockPosterior found{{}, {}, {0}};
    for (const std::size_t i : members) found.starts.push_back(found.starts.back() + members_[i].width * width_);
    const std::size_t size = found.starts.back(), stride = in_lanes(size);
    std::vector<double> columns(n_parameters() * stride, 0.0);
    found.covariance.assign(size * size, 0.0);
    for (std::size_t i = 0; i < members.size(); ++i) {
        const std::size_t first = members_[members[i]].first * width_;
        for (std::size_t j = found.starts[i]; j < found.starts[i + 1]; ++j) {
            const std::size_t parameter = first + j - found.starts[i];
            columns[parameter * stride + j] = 1.0;
            found.mean.push_back(weights_[parameter]);
        }
    }
    kernels_->solve_columns(upper_.data(), n_parameters(), columns.data(), stride);
    kernels_->subtract_squares(columns.data(), n_parameters(), stride, size, found.covariance.data());
    for (std::size_t j = 0; j < size; ++j)  // only the upper triangle is computed
        for (std::size_t k = j; k < size; ++k)
            found.covariance[k * size + j] = found.covariance[j * size + k] = -found.covariance[j * size + k];
    return found;
}

double Fit::member_evidence(std::size_t i) const {
    BlockPosterior mine = posterior_of(std::span(&i, 1));
    const std::size_t size = mine.mean.size();
    std::vector<double>&z = mine.mean, &covariance = mine.covariance;
    if (!kernels_->factorise(covariance.data(), size)) return 0.0;
    for (std::size_t j = 0; j < size; ++j) {
        z[j] /= covariance[j * size + j];
        for (std::size_t k = j + 1; k < size; ++k) z[k] -= z[j] * covariance[j * size + k];
    }
    const double prior = static_cast<double>(size) * elementary::log(precision_[members_[i].first * width_]);
    return 0.5 * (kernels_->dot(z.data(), z.data(), size) + log_determinant(covariance.data(), size) + prior);
}

// In the space of all pairs of states, of which the products are a part, each pair of states has its own parameters:
// the quadratic form there is no less, and a sum over pairs of states. The price is about that of the smallest pairs.
double Fit::guess_from_sums(const double* spread, std::size_t n_pairs, std::size_t n_paid) {
    constexpr double kAlike = 2.0;  // how much more the other parameters may bring to light
    const std::size_t w = width_, line = in_lanes(w), square = in_lanes(w * w);
    std::vector<double> prices(n_pairs);
    double square_form = 0.0;
    block_.resize(w * w);
    block_gradient_.resize(w);
    for (std::size_t s = 0; s < n_pairs; ++s) {
        for (std::size_t k = 0; k < w * w; ++k) block_[k] = 2.0 * spread[s * square + k];
        for (std::size_t k = 0; k < w; ++k) {
            block_[k * w + k] += kWeightPrecision;
            block_gradient_[k] = std::numbers::sqrt2 * surplus_by_state_[s * line + k];
        }
        if (!kernels_->factorise(block_.data(), w)) return HUGE_VAL;
        for (std::size_t k = 0; k < w; ++k) {
            block_gradient_[k] /= block_[k * w + k];
            for (std::size_t l = k + 1; l < w; ++l) block_gradient_[l] -= block_gradient_[k] * block_[k * w + l];
            square_form += block_gradient_[k] * block_gradient_[k];
        }
        prices[s] = 0.5 * log_determinant(block_.data(), w);
    }
    std::partial_sort(prices.begin(), prices.begin() + static_cast<std::ptrdiff_t>(n_paid), prices.end());
    double guess = kAlike * 0.5 * square_form;
    for (std::size_t s = 0; s < n_paid; ++s) guess -= prices[s];
    return guess;
}

double Fit::product_guess(std::size_t i, std::size_t j) {
    const CodedMember &y = members_[i], &z = members_[j];
    const std::size_t w = width_, line = in_lanes(w), square = in_lanes(w * w), n_pairs = y.card * z.card;
    const double* cells = cells_.data() + n_states(members_) * square;
    for (std::size_t a = 0; a < members_.size(); ++a)
        for (std::size_t b = a + 1; b < members_.size() && (a < i || (a == i && b < j)); ++b)
            cells += members_[a].card * members_[b].card * square;
    surplus_by_state_.assign(n_pairs * line, 0.0);
    for (std::size_t u = 0; u < n_groups_; ++u) {
        double* sum = surplus_by_state_.data() + (y.states[u] * z.card + z.states[u]) * line;
        for (std::size_t k = 0; k < w; ++k) sum[k] += surplus_[u * line + k];
    }
    return guess_from_sums(cells, n_pairs, y.width * z.width);
}

double Fit::product_guess(const Entries& entries, std::size_t card, std::size_t i) {
    const CodedMember& z = members_[i];
    pair_states_.resize(entries.n_entries);
    for (std::size_t t = 0; t < entries.n_entries; ++t)
        pair_states_[t] = entries.state[t] * static_cast<std::uint32_t>(z.card) + z.states[entries.group[t]];
    sum_states({entries.n_entries, entries.group, pair_states_.data(), entries.rows, entries.surplus}, card * z.card);
    return guess_from_sums(by_state_.data(), card * z.card, (card - 1) * z.width);
}

double log_determinant(const double* upper, std::size_t size) {
    double sum = 0.0;
    for (std::size_t i = 0; i < size; ++i) sum += elementary::log(upper[i * size + i]);
    return 2.0 * sum;
}

}  // namespace mnlearn
