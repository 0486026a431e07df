#include "mixed/regression.hpp"

#include <algorithm>
#include <cmath>

#include "numbers/elementary.hpp"

namespace mnlearn {
namespace {

constexpr double kFreePrecision = 0.01;  // b0 ~ N(0, 100)
constexpr int kMaxSteps = 60, kMaxHalvings = 30;
constexpr double kConverged = 1e-12;  // Newton decrement: the error of the log evidence is smaller
constexpr double kQuadratic = 1e-4;   // below it full steps are safe
constexpr std::size_t kMostCovariances = std::size_t{1} << 24;  // numbers: 128 MB
constexpr double kExplained = 1e-12;                            // of the sum of squares: less is rounding

constexpr double kRounding = 1e-12;  // precision for each row where a numeric x has no prior

// U'^-1 of one column, in place.
void solve_column(const double* upper, std::size_t size, double* column) {
    for (std::size_t j = 0; j < size; ++j) {
        column[j] /= upper[j * size + j];
        for (std::size_t k = j + 1; k < size; ++k) column[k] -= column[j] * upper[j * size + k];
    }
}

}  // namespace

double empty_evidence(const ConditionalKernels& kernels, std::span<const double> margin) {
    const std::size_t card = margin.size(), size = card - 1;
    const Contrasts& contrasts = Contrasts::of(card);
    std::vector<double> b(size, 0.0), p(card), information(size * size), step(size);
    double total = 0.0;
    for (std::size_t a = 0; a < card; ++a) {
        total += margin[a];
        for (std::size_t i = 0; i < size; ++i) b[i] += contrasts[a][i] * elementary::log(margin[a] + 0.5);
    }
    for (int round = 0;; ++round) {
        double most = -HUGE_VAL, sum = 0.0, height = 0.0;
        for (std::size_t a = 0; a < card; ++a) {
            p[a] = 0.0;
            for (std::size_t i = 0; i < size; ++i) p[a] += contrasts[a][i] * b[i];
            most = std::max(most, p[a]);
        }
        for (std::size_t a = 0; a < card; ++a) {
            height += margin[a] * (p[a] - most);
            p[a] = elementary::exp(p[a] - most);
            sum += p[a];
        }
        height -= total * elementary::log(sum);
        for (std::size_t i = 0; i < size; ++i) height -= 0.5 * kFreePrecision * b[i] * b[i];
        std::fill(information.begin(), information.end(), 0.0);
        for (std::size_t i = 0; i < size; ++i) step[i] = -kFreePrecision * b[i];
        std::vector<double> mean(size, 0.0);
        for (std::size_t a = 0; a < card; ++a)
            for (std::size_t i = 0; i < size; ++i) mean[i] += p[a] / sum * contrasts[a][i];
        for (std::size_t a = 0; a < card; ++a)
            for (std::size_t i = 0; i < size; ++i) {
                const double centred = contrasts[a][i] - mean[i];
                step[i] += margin[a] * centred;
                for (std::size_t j = i; j < size; ++j)
                    information[i * size + j] += total * p[a] / sum * centred * (contrasts[a][j] - mean[j]);
            }
        for (std::size_t i = 0; i < size; ++i) information[i * size + i] += kFreePrecision;
        if (!kernels.factorise(information.data(), size)) return 0.0;
        solve_column(information.data(), size, step.data());
        const double decrement = kernels.dot(step.data(), step.data(), size);
        if (decrement < 1e-12 || round == kMaxSteps) return height - 0.5 * log_determinant(information.data(), size);
        for (std::size_t i = size; i-- > 0;) {
            for (std::size_t j = i + 1; j < size; ++j) step[i] -= information[i * size + j] * step[j];
            step[i] /= information[i * size + i];
            b[i] += step[i];
        }
    }
}

Regression::Regression(const MixedData& data)
    : data_(data), kernels_(*data.level().conditional), dense_(*data.level().dense) {}

Regression::Regression(const MixedData& data, double ridge) : Regression(data) { ridge_ = ridge; }

// ---- features

std::size_t Regression::width_of(std::int32_t v) const {
    const MixedColumn& z = data_[v];
    if (z.constant) return 0;
    if (z.numeric()) return 1;
    if (!z.ordered() || reading_ == Reading::nominal) return z.card - 1;
    return reading_ == Reading::ordered ? 1 : 2;
}

const double* Regression::coding_of(std::int32_t v) const {
    const MixedColumn& z = data_[v];
    if (z.numeric()) return nullptr;
    if (!z.ordered() || reading_ == Reading::nominal) return Contrasts::of(z.card)[0];
    return reading_ == Reading::ordered ? z.scores.data() : z.curve.data();
}

bool Regression::by_contrasts(std::int32_t v) const {
    return !data_[v].numeric() && (!data_[v].ordered() || reading_ == Reading::nominal);
}

double Regression::free_precision() const {
    if (data_[x_].numeric()) return 0.0;
    return ridge_ > 0.0 ? ridge_ : kFreePrecision;
}

double Regression::precision_of(std::int32_t v) const {
    if (ridge_ > 0.0) return data_[x_].numeric() ? kRounding * static_cast<double>(frame_->rows.size()) : ridge_;
    const int sides = by_contrasts(x_) + by_contrasts(v);
    if (sides == 2) return 1.0;  // the prior of the pairwise conditional
    return sides == 1 ? 0.5 / (kContrastScale * kContrastScale) : 1.0 / (kSlopeScale * kSlopeScale);
}

// Features of these rows, one after the other; those of rows that lack the variable are 0.
void Regression::add_features(std::int32_t v, std::span<const std::uint32_t> rows, std::size_t length,
                              double* out) const {
    const MixedColumn& z = data_[v];
    const std::size_t width = width_of(v);
    const double* coding = coding_of(v);
    for (std::size_t e = 0; e < width; ++e, out += length) {
        if (!coding)
            for (std::size_t k = 0; k < rows.size(); ++k) out[k] = z.values[rows[k]];
        else
            for (std::size_t k = 0; k < rows.size(); ++k) {
                const std::uint16_t state = z.states[rows[k]];
                out[k] = state == kMissingState ? 0.0 : coding[state * width + e];
            }
        std::fill(out + rows.size(), out + length, 0.0);
    }
}

void Regression::set_up(std::int32_t x, std::span<const std::int32_t> members, Reading reading, const Frame& frame) {
    x_ = x;
    reading_ = reading;
    frame_ = &frame;
    fitted_ = false;
    residuals_.clear();
    mean_spread_.clear();
    const MixedColumn& column = data_[x];
    n_free_ = column.numeric() ? 1 : column.card - 1;
    n_statistics_ = width_of(x);
    n_features_ = 0;
    blocks_.clear();
    for (const std::int32_t v : members) {
        blocks_.push_back({v, n_features_, width_of(v), precision_of(v)});
        n_features_ += blocks_.back().width;
    }
    n_parameters_ = n_free_ + n_features_ * n_statistics_;
    precision_.assign(n_parameters_, free_precision());
    for (const Block& block : blocks_)
        std::fill_n(precision_.begin() + static_cast<std::ptrdiff_t>(n_free_ + block.first * n_statistics_),
                    block.width * n_statistics_, block.precision);
}

bool Regression::fit(std::int32_t x, std::span<const std::int32_t> members, Reading reading, const Frame& frame,
                     const Regression* warm) {
    fitted_ = false;
    log_evidence_ = log_likelihood_ = height_ = 0.0;
    if (data_[x].constant || frame.rows.size() < 2) return false;
    set_up(x, members, reading, frame);
    if (n_parameters_ > kMaxParameters || data_[x].card > kMaxParameters) return false;
    const bool numeric = data_[x].numeric();
    const std::span<const std::uint32_t> rows = numeric ? std::span(frame.rows) : std::span(frame.first);
    length_ = in_lanes(rows.size());
    const std::size_t n_columns = n_free_ + (by_contrasts(x) ? 0 : n_statistics_);
    if (!numeric && n_columns * n_columns * length_ > kMostCovariances) return false;
    features_.resize((n_features_ + numeric) * length_);
    double* at = features_.data();
    if (numeric) {
        std::fill_n(at, length_, 0.0);
        std::fill_n(at, rows.size(), 1.0);
        at += length_;
    }
    for (const Block& block : blocks_) {
        add_features(block.variable, rows, length_, at);
        at += block.width * length_;
    }
    fitted_ = numeric ? fit_numbers() : fit_states(warm);
    return fitted_;
}

// ---- a categorical x

DenseGroups Regression::groups() const {
    const std::size_t card = data_[x_].card, n_columns = table_.size() / card;
    return {length_,       card,        n_columns,        n_free_,        n_columns > n_free_ ? n_free_ : 0,
            n_statistics_, n_features_, features_.data(), counts_.data(), sizes_.data(),
            table_.data()};
}

void Regression::count_states() {
    const MixedColumn& column = data_[x_];
    const std::size_t card = column.card;
    counts_.assign(card * length_, 0.0);
    sizes_.assign(length_, 0.0);
    margin_.assign(card, 0.0);
    for (std::size_t k = 0; k < frame_->rows.size(); ++k) {
        const std::size_t row = frame_->rows[k], u = frame_->group_at(k), a = column.states[row];
        const double weight = data_.weight(row);
        counts_[a * length_ + u] += weight;
        sizes_[u] += weight;
        margin_[a] += weight;
    }
    const Contrasts& contrasts = Contrasts::of(card);
    const double* coding = by_contrasts(x_) ? nullptr : coding_of(x_);
    table_.clear();
    for (std::size_t a = 0; a < card; ++a) {
        table_.insert(table_.end(), contrasts[a], contrasts[a] + card - 1);
        if (coding) table_.insert(table_.end(), coding + a * n_statistics_, coding + (a + 1) * n_statistics_);
    }
}

bool Regression::fit_states(const Regression* warm) {
    count_states();
    const std::size_t n_columns = table_.size() / data_[x_].card;
    probabilities_.resize(counts_.size());
    mean_.resize(n_columns * length_);
    surplus_.resize(n_columns * length_);
    covariance_.resize(n_columns * n_columns * length_);
    room_.resize(3 * length_);
    gradient_.resize(n_parameters_);
    weights_.assign(n_parameters_, 0.0);
    if (warm && warm->fitted_ && warm->x_ == x_ && warm->reading_ == reading_) {
        std::copy_n(warm->weights_.begin(), std::min(warm->weights_.size(), weights_.size()), weights_.begin());
    } else {
        for (std::size_t a = 0; a < margin_.size(); ++a)
            for (std::size_t i = 0; i < n_free_; ++i)
                weights_[i] += table_[a * n_columns + i] * elementary::log(margin_[a] + 0.5);
    }
    return newton();
}

double Regression::log_posterior(const std::vector<double>& weights) {
    log_likelihood_ = dense_.posterior(groups(), weights.data(), probabilities_.data());
    double height = log_likelihood_;
    for (std::size_t j = 0; j < n_parameters_; ++j) height -= 0.5 * precision_[j] * weights[j] * weights[j];
    return height;
}

// Information, prior included, and its factor at the weights of the last log posterior.
bool Regression::find_information() {
    const std::size_t size = n_parameters_;
    information_.resize(size * size);
    dense_.covariance(groups(), probabilities_.data(), mean_.data(), covariance_.data());
    dense_.information(groups(), covariance_.data(), room_.data(), information_.data());
    for (std::size_t j = 0; j < size; ++j) information_[j * size + j] += precision_[j];
    upper_ = information_;
    return kernels_.factorise(upper_.data(), size);
}

// Newton's method; an information is kept for as long as the steps shrink well, since it costs most of the time.
bool Regression::newton() {
    constexpr double kShrinks = 0.05;
    const std::size_t size = n_parameters_;
    double height = log_posterior(weights_), last = HUGE_VAL;
    bool fresh = false;  // whether the information is that of these weights
    for (int step = 0; step < kMaxSteps; ++step) {
        dense_.moments(groups(), probabilities_.data(), mean_.data(), surplus_.data());
        dense_.gradient(groups(), surplus_.data(), gradient_.data());
        for (std::size_t j = 0; j < size; ++j) gradient_[j] -= precision_[j] * weights_[j];
        for (;;) {
            if (step == 0 && !fresh) {
                if (!find_information()) return false;
                fresh = true;
            }
            step_ = gradient_;
            solve_column(upper_.data(), size, step_.data());
            const double decrement = kernels_.dot(step_.data(), step_.data(), size);
            if (!(decrement < HUGE_VAL)) return false;
            const bool done = decrement < kConverged || (decrement < 1e-9 && decrement >= 0.1 * last);
            if (!fresh && (done || decrement > kShrinks * last)) {
                if (!find_information()) return false;
                fresh = true;
                if (!done) continue;
            }
            if (done) {
                height_ = height;
                if (ridge_ > 0.0) return true;
                log_evidence_ = height - 0.5 * log_determinant(upper_.data(), size) - empty_evidence(kernels_, margin_);
                for (std::size_t j = n_free_; j < size; ++j) log_evidence_ += 0.5 * elementary::log(precision_[j]);
                return true;
            }
            last = decrement;
            break;
        }
        for (std::size_t i = size; i-- > 0;) {
            const double* row = upper_.data() + i * size;
            step_[i] = (step_[i] - kernels_.dot(row + i + 1, step_.data() + i + 1, size - i - 1)) / row[i];
        }
        double length = 1.0, reached = 0.0;
        for (int halving = 0; halving <= kMaxHalvings; ++halving, length *= 0.5) {
            proposal_ = weights_;
            for (std::size_t j = 0; j < size; ++j) proposal_[j] += length * step_[j];
            reached = log_posterior(proposal_);
            if (reached > height || last < kQuadratic) break;
        }
        weights_.swap(proposal_);
        height = reached;
        fresh = false;
    }
    return false;
}

// The moment prior of some coefficients, the last of n: ln of (b'b / s² + tr V) / (size · prior variance), where the
// factor of the information of all n is given. `mean`: b.
double Regression::moment(const double* upper, std::size_t size, std::size_t n, const double* mean, double s2) const {
    double square = 0.0, trace = 0.0;
    std::vector<double> column(size);
    for (std::size_t j = 0; j < size; ++j) {  // U^-1 e_j: its squares add up to the trace of the covariance
        square += mean[j] * mean[j];
        std::fill(column.begin(), column.end(), 0.0);
        column[j] = 1.0;
        for (std::size_t i = j + 1; i-- > 0;) {
            const double* row = upper + (n - size + i) * n + n - size;
            for (std::size_t k = i + 1; k <= j; ++k) column[i] -= row[k] * column[k];
            column[i] /= row[i];
            trace += column[i] * column[i];
        }
    }
    return elementary::log((square / s2 + trace) / (kSlopeScale * kSlopeScale * static_cast<double>(size)));
}

double Regression::moment_of_last() const {
    if (!fitted_ || blocks_.empty() || !has_moment(blocks_.back().variable)) return 0.0;
    const std::size_t size = blocks_.back().width * n_statistics_, n = n_parameters_;
    if (size == 0) return 0.0;
    std::vector<double> mean(weights_.end() - static_cast<std::ptrdiff_t>(data_[x_].numeric() ? 0 : size),
                             weights_.end());
    if (!data_[x_].numeric()) return moment(upper_.data(), size, n, mean.data(), 1.0);
    mean.assign(gradient_.end() - static_cast<std::ptrdiff_t>(size), gradient_.end());
    for (std::size_t i = size; i-- > 0;) {  // U^-1 of U'^-1 h: the coefficients
        const double* row = upper_.data() + (n - size + i) * n + n - size;
        for (std::size_t k = i + 1; k < size; ++k) mean[i] -= row[k] * mean[k];
        mean[i] /= row[i];
    }
    return moment(upper_.data(), size, n, mean.data(), rss_ / std::max(1.0, n_rows_ - 1.0));
}

// The log Bayes factor of a member by the posterior of its coefficients at 0 (Savage and Dickey).
double Regression::member_evidence(std::size_t i) const {
    const std::size_t size = blocks_[i].width * n_statistics_, n = n_parameters_, stride = in_lanes(size);
    if (size == 0) return 0.0;
    const std::size_t first = n_free_ + blocks_[i].first * n_statistics_;
    std::vector<double> columns(n * stride, 0.0), covariance(size * size, 0.0), mean(size);
    for (std::size_t j = 0; j < size; ++j) columns[(first + j) * stride + j] = 1.0;
    kernels_.solve_columns(upper_.data(), n, columns.data(), stride);
    kernels_.subtract_squares(columns.data(), n, stride, size, covariance.data());
    for (double& each : covariance) each = -each;
    double s2 = 1.0;
    if (data_[x_].numeric()) {
        s2 = rss_ / std::max(1.0, n_rows_ - 1.0);
        for (std::size_t j = 0; j < size; ++j)
            for (std::size_t p = 0; p < n; ++p) mean[j] += columns[p * stride + j] * gradient_[p];
    } else {
        std::copy_n(weights_.begin() + static_cast<std::ptrdiff_t>(first), size, mean.begin());
    }
    if (!kernels_.factorise(covariance.data(), size)) return 0.0;
    solve_column(covariance.data(), size, mean.data());
    return 0.5 * (kernels_.dot(mean.data(), mean.data(), size) / s2 + log_determinant(covariance.data(), size) +
                  static_cast<double>(size) * elementary::log(blocks_[i].precision));
}

// ---- a numeric x

double Regression::closed_evidence(const double* upper, double rss, double tss, double n_rows) const {
    double sum = 0.0;
    for (std::size_t j = 1; j < n_parameters_; ++j)
        sum += 0.5 * elementary::log(precision_[j]) - elementary::log(upper[j * n_parameters_ + j]);
    return sum - 0.5 * (n_rows - 1.0) * elementary::log(std::max(rss / tss, kExplained));
}

bool Regression::fit_numbers() {
    const std::size_t n = frame_->rows.size(), size = n_parameters_;
    response_.assign(length_, 0.0);
    n_rows_ = 0.0;
    row_weights_.assign(length_, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
        const double weight = data_.weight(frame_->rows[k]);
        n_rows_ += weight;
        row_weights_[k] = std::sqrt(weight);
        response_[k] = data_[x_].values[frame_->rows[k]] * row_weights_[k];
        if (weight != 1.0)
            for (std::size_t j = 0; j < size; ++j) features_[j * length_ + k] *= row_weights_[k];
    }
    information_.assign(size * size, 0.0);
    products_.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
        const double* mine = features_.data() + i * length_;
        products_[i] = kernels_.dot(mine, response_.data(), length_);
        for (std::size_t j = i; j < size; ++j)
            information_[i * size + j] = kernels_.dot(mine, features_.data() + j * length_, length_);
        information_[i * size + i] += precision_[i];
    }
    sum_of_squares_ = kernels_.dot(response_.data(), response_.data(), length_);
    upper_ = information_;
    if (!kernels_.factorise(upper_.data(), size)) return false;
    gradient_ = products_;
    solve_column(upper_.data(), size, gradient_.data());
    const double tss = sum_of_squares_ - gradient_[0] * gradient_[0];
    if (!(tss > kExplained * std::max(1.0, sum_of_squares_))) return false;
    rss_ = std::max(sum_of_squares_ - kernels_.dot(gradient_.data(), gradient_.data(), size), kExplained * tss);
    log_evidence_ = closed_evidence(upper_.data(), rss_, tss, n_rows_);
    tss_ = tss;
    log_likelihood_ = height_ = -0.5 * n_rows_ * elementary::log(rss_ / tss);
    return true;
}

// ---- one more variable

void Regression::find_residuals() {
    if (!residuals_.empty()) return;
    const MixedColumn& column = data_[x_];
    const std::size_t n = frame_->rows.size(), line = in_lanes(n), n_columns = table_.size() / column.card;
    const std::size_t first = n_columns > n_free_ ? n_free_ : 0;
    residuals_.assign(n_statistics_ * line, 0.0);
    for (std::size_t l = 0; l < n_statistics_; ++l)
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t row = frame_->rows[k];
            const double statistic = table_[column.states[row] * n_columns + first + l];
            residuals_[l * line + k] =
                data_.weight(row) * (statistic - mean_[(first + l) * length_ + frame_->group_at(k)]);
        }
}

void Regression::fill_sums_of_states(std::int32_t y, Sums& sums) {
    find_residuals();
    const std::size_t n = frame_->rows.size(), line = in_lanes(n), d = n_statistics_, q = width_of(y);
    const std::size_t size = q * d, stride = in_lanes(size);
    const MixedColumn& other = data_[y];
    const double* coding = coding_of(y);
    const std::size_t n_columns = table_.size() / data_[x_].card, first = n_columns > n_free_ ? n_free_ : 0;
    const auto covariance = [&](std::size_t l, std::size_t m) {
        return covariance_.data() + ((first + l) * n_columns + first + m) * length_;
    };
    sums.gradient.assign(size, 0.0);
    sums.block.assign(size * size, 0.0);
    sums.cross.assign(n_parameters_ * stride, 0.0);
    by_group_.assign((q + 1) * length_, 0.0);  // sums of the features, and room
    if (q == 1) {
        std::vector<double>& square = schur_;
        square.assign(length_, 0.0);
        phi_.resize(line);
        add_features(y, frame_->rows, line, phi_.data());
        for (std::size_t k = 0; k < n; ++k) {
            const double weighted = data_.weight(frame_->rows[k]) * phi_[k];
            by_group_[frame_->group_at(k)] += weighted;
            square[frame_->group_at(k)] += weighted * phi_[k];
        }
        for (std::size_t l = 0; l < d; ++l) {
            sums.gradient[l] = kernels_.dot(residuals_.data() + l * line, phi_.data(), line);
            for (std::size_t m = l; m < d; ++m)
                sums.block[l * size + m] = kernels_.dot(covariance(l, m), square.data(), length_);
        }
    } else {
        std::vector<double>& cells = phi_;  // rows of each group in each state of y
        const std::size_t card = other.card;
        cells.assign(card * length_, 0.0);
        std::vector<double> by_state(card * d, 0.0);
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t row = frame_->rows[k], b = other.states[row];
            if (b == kMissingState) continue;
            cells[b * length_ + frame_->group_at(k)] += data_.weight(row);
            for (std::size_t l = 0; l < d; ++l) by_state[b * d + l] += residuals_[l * line + k];
        }
        for (std::size_t b = 0; b < card; ++b) {
            const double* f = coding + b * q;
            for (std::size_t e = 0; e < q; ++e) {
                for (std::size_t u = 0; u < length_; ++u) by_group_[e * length_ + u] += cells[b * length_ + u] * f[e];
                for (std::size_t l = 0; l < d; ++l) sums.gradient[e * d + l] += f[e] * by_state[b * d + l];
            }
            for (std::size_t l = 0; l < d; ++l)
                for (std::size_t m = l; m < d; ++m) {
                    const double spread = kernels_.dot(covariance(l, m), cells.data() + b * length_, length_);
                    for (std::size_t e = 0; e < q; ++e)
                        for (std::size_t h = e; h < q; ++h) {
                            sums.block[(e * d + l) * size + h * d + m] += spread * f[e] * f[h];
                            if (h > e && m > l) sums.block[(e * d + m) * size + h * d + l] += spread * f[e] * f[h];
                        }
                }
        }
    }
    dense_.cross(groups(), covariance_.data(), by_group_.data(), q, by_group_.data() + q * length_, sums.cross.data(),
                 stride);
    sums.width = size;
}

void Regression::fill_sums_of_numbers(std::int32_t y, Sums& sums) {
    const std::size_t q = width_of(y), stride = in_lanes(q);
    phi_.resize(q * length_);
    add_features(y, frame_->rows, length_, phi_.data());
    for (std::size_t e = 0; e < q; ++e)
        for (std::size_t k = 0; k < frame_->rows.size(); ++k) phi_[e * length_ + k] *= row_weights_[k];
    sums.gradient.assign(q, 0.0);
    sums.block.assign(q * q, 0.0);
    sums.cross.assign(n_parameters_ * stride, 0.0);
    for (std::size_t e = 0; e < q; ++e) {
        const double* mine = phi_.data() + e * length_;
        sums.gradient[e] = kernels_.dot(mine, response_.data(), length_);
        for (std::size_t h = e; h < q; ++h)
            sums.block[e * q + h] = kernels_.dot(mine, phi_.data() + h * length_, length_);
        for (std::size_t j = 0; j < n_parameters_; ++j)
            sums.cross[j * stride + e] = kernels_.dot(mine, features_.data() + j * length_, length_);
    }
    sums.width = q;
}

Regression::Reduced Regression::reduce(std::int32_t y) {
    lacking_.clear();
    if (data_[y].gaps)
        for (std::size_t k = 0; k < frame_->rows.size(); ++k)
            if (!data_[y].observed(frame_->rows[k])) lacking_.push_back(static_cast<std::uint32_t>(k));
    if (lacking_.size() + 2 > frame_->rows.size()) return {nullptr, nullptr, 0.0, 0.0, 0.0, false};
    if (!lacking_.empty()) return data_[x_].numeric() ? reduce_numbers(lacking_) : reduce_states(lacking_);
    if (data_[x_].numeric()) return {upper_.data(), gradient_.data(), log_evidence_, rss_, n_rows_ - 1.0, true};
    reduced_gradient_.assign(n_parameters_, 0.0);  // it is 0 at the mode
    return {upper_.data(), reduced_gradient_.data(), log_evidence_, 0.0, 0.0, true};
}

Regression::Reduced Regression::reduce_states(const std::vector<std::uint32_t>& lacking) {
    const MixedColumn& column = data_[x_];
    const std::size_t size = n_parameters_, d = n_statistics_, n_columns = table_.size() / column.card;
    const std::size_t first = n_columns > n_free_ ? n_free_ : 0;
    std::vector<std::size_t> statistic(size);
    std::vector<double> feature(size), spread(n_columns * n_columns), margin = margin_;
    for (std::size_t j = 0; j < size; ++j) statistic[j] = j < n_free_ ? j : first + (j - n_free_) % d;
    reduced_ = information_;
    reduced_gradient_.assign(size, 0.0);
    double lost = 0.0;
    for (const std::uint32_t k : lacking) {
        const std::size_t row = frame_->rows[k], u = frame_->group_at(k), a = column.states[row];
        const double weight = data_.weight(row);
        margin[a] -= weight;
        lost += weight * elementary::log(std::max(probabilities_[a * length_ + u], 1e-300));
        for (std::size_t j = 0; j < size; ++j) {
            feature[j] = j < n_free_ ? 1.0 : features_[(j - n_free_) / d * length_ + u];
            reduced_gradient_[j] -=
                weight * feature[j] * (table_[a * n_columns + statistic[j]] - mean_[statistic[j] * length_ + u]);
        }
        for (std::size_t s = 0; s < n_columns; ++s)
            for (std::size_t t = s; t < n_columns; ++t)
                spread[s * n_columns + t] = spread[t * n_columns + s] =
                    weight * covariance_[(s * n_columns + t) * length_ + u];
        for (std::size_t i = 0; i < size; ++i) {
            const double* mine = spread.data() + statistic[i] * n_columns;
            for (std::size_t j = i; j < size; ++j)
                reduced_[i * size + j] -= mine[statistic[j]] * feature[i] * feature[j];
        }
    }
    if (!kernels_.factorise(reduced_.data(), size)) return {nullptr, nullptr, 0.0, 0.0, 0.0, false};
    solve_column(reduced_.data(), size, reduced_gradient_.data());
    const double promised = 0.5 * kernels_.dot(reduced_gradient_.data(), reduced_gradient_.data(), size);
    const double before =
        log_evidence_ + empty_evidence(kernels_, margin_) + 0.5 * log_determinant(upper_.data(), size);
    const double now = before - lost + promised - 0.5 * log_determinant(reduced_.data(), size);
    return {reduced_.data(), reduced_gradient_.data(), now - empty_evidence(kernels_, margin), 0.0, 0.0, true};
}

Regression::Reduced Regression::reduce_numbers(const std::vector<std::uint32_t>& lacking) {
    const std::size_t size = n_parameters_;
    reduced_ = information_;
    reduced_gradient_ = products_;
    double square = sum_of_squares_, n_rows = n_rows_;
    std::vector<double> feature(size);
    for (const std::uint32_t k : lacking) {
        n_rows -= row_weights_[k] * row_weights_[k];
        square -= response_[k] * response_[k];
        for (std::size_t j = 0; j < size; ++j) {
            feature[j] = features_[j * length_ + k];
            reduced_gradient_[j] -= feature[j] * response_[k];
        }
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t j = i; j < size; ++j) reduced_[i * size + j] -= feature[i] * feature[j];
    }
    if (n_rows < 2.0 || !kernels_.factorise(reduced_.data(), size)) return {nullptr, nullptr, 0.0, 0.0, 0.0, false};
    solve_column(reduced_.data(), size, reduced_gradient_.data());
    const double tss = square - reduced_gradient_[0] * reduced_gradient_[0];
    if (!(tss > 1e-9 * std::max(1.0, square))) return {nullptr, nullptr, 0.0, 0.0, 0.0, false};
    const double explained = kernels_.dot(reduced_gradient_.data(), reduced_gradient_.data(), size);
    const double rss = std::max(square - explained, kExplained * tss);
    return {reduced_.data(),
            reduced_gradient_.data(),
            closed_evidence(reduced_.data(), rss, tss, n_rows),
            rss,
            n_rows - 1.0,
            true};
}

double Regression::guess(std::int32_t y) {
    constexpr double kAlike = 3.0;  // how much more the other parameters may bring to light
    const std::size_t q = width_of(y), d = n_statistics_, n = frame_->rows.size(), line = in_lanes(n);
    if (!fitted_ || data_[x_].numeric() || q * d > 16 || n_features_ == 0) return HUGE_VAL;
    find_residuals();
    find_mean_spread();
    const MixedColumn& other = data_[y];
    const double* coding = coding_of(y);
    std::vector<double> gradient(q * d, 0.0), information(q, 0.0);
    if (!coding) {
        for (std::size_t k = 0; k < n; ++k) {
            const double value = other.values[frame_->rows[k]];
            information[0] += data_.weight(frame_->rows[k]) * value * value;
            for (std::size_t l = 0; l < d; ++l) gradient[l] += residuals_[l * line + k] * value;
        }
    } else {
        std::vector<double> by_state((other.card + 1) * d, 0.0), sizes(other.card + 1, 0.0);
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t state = std::min<std::size_t>(other.states[frame_->rows[k]], other.card);
            sizes[state] += data_.weight(frame_->rows[k]);
            for (std::size_t l = 0; l < d; ++l) by_state[state * d + l] += residuals_[l * line + k];
        }
        for (std::size_t b = 0; b < other.card; ++b)
            for (std::size_t e = 0; e < q; ++e) {
                information[e] += sizes[b] * coding[b * q + e] * coding[b * q + e];
                for (std::size_t l = 0; l < d; ++l) gradient[e * d + l] += coding[b * q + e] * by_state[b * d + l];
            }
    }
    double square = 0.0, price = 0.0;
    const double precision = precision_of(y);
    for (std::size_t e = 0; e < q; ++e)
        for (std::size_t l = 0; l < d; ++l) {
            const double schur = information[e] * mean_spread_[l] + precision;
            square += gradient[e * d + l] * gradient[e * d + l] / schur;
            price += 0.5 * elementary::log(schur / precision);
        }
    return kAlike * 0.5 * square - price + kGuessSlack;
}

void Regression::find_mean_spread() {
    if (!mean_spread_.empty()) return;
    const std::size_t n_columns = table_.size() / data_[x_].card, first = n_columns > n_free_ ? n_free_ : 0;
    double total = 0.0;
    for (const double size : margin_) total += size;
    for (std::size_t l = 0; l < n_statistics_; ++l)
        mean_spread_.push_back(
            kernels_.dot(covariance_.data() + (first + l) * (n_columns + 1) * length_, sizes_.data(), length_) / total);
}

Rise Regression::rise(std::int32_t y) {
    if (!fitted_) return {};
    const Reduced base = reduce(y);
    if (!base.ok) return {};
    if (width_of(y) == 0) return {base.without, base.without, 0.0, true};
    if (n_parameters_ + width_of(y) * n_statistics_ > kMaxParameters) return {base.without, base.without, 0.0, false};
    const bool numeric = data_[x_].numeric();
    numeric ? fill_sums_of_numbers(y, sums_) : fill_sums_of_states(y, sums_);
    const std::size_t size = sums_.width, stride = in_lanes(size);
    const double precision = precision_of(y);
    kernels_.solve_columns(base.upper, n_parameters_, sums_.cross.data(), stride);
    kernels_.subtract_squares(sums_.cross.data(), n_parameters_, stride, size, sums_.block.data());
    for (std::size_t j = 0; j < size; ++j) {
        sums_.block[j * size + j] = std::max(sums_.block[j * size + j], 0.0) + precision;
        for (std::size_t p = 0; p < n_parameters_; ++p)
            sums_.gradient[j] -= sums_.cross[p * stride + j] * base.gradient[p];
    }
    if (!kernels_.factorise(sums_.block.data(), size)) return {base.without, base.without, 0.0, false};
    solve_column(sums_.block.data(), size, sums_.gradient.data());
    const double square = kernels_.dot(sums_.gradient.data(), sums_.gradient.data(), size);
    double gain =
        0.5 * static_cast<double>(size) * elementary::log(precision) - 0.5 * log_determinant(sums_.block.data(), size);
    double s2 = 1.0;
    if (numeric) {
        const double left = std::max(1.0 - square / base.rss, kExplained);
        gain -= 0.5 * base.nu * elementary::log(left);
        s2 = base.rss * left / std::max(1.0, base.nu);
    } else {
        gain += 0.5 * square;
    }
    double added = 0.0;
    if (has_moment(y)) {
        for (std::size_t i = size; i-- > 0;) {  // the coefficients
            for (std::size_t k = i + 1; k < size; ++k)
                sums_.gradient[i] -= sums_.block[i * size + k] * sums_.gradient[k];
            sums_.gradient[i] /= sums_.block[i * size + i];
        }
        added = moment(sums_.block.data(), size, size, sums_.gradient.data(), s2);
    }
    return {base.without, base.without + gain, added, true};
}

}  // namespace mnlearn
