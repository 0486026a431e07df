#include "mixed/likelihoods.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "numbers/elementary.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kScansTogether = 16;
constexpr double kRidge = 1e-4;
constexpr double kMostWork = 1e8;       // operations of an end, beyond which the other end alone decides
constexpr double kMuchMore = 4.0;       // if that costs so much less
constexpr double kMostCells = 3e7;      // of the covariances of the states of x, by group of rows
constexpr double kNothingLeft = 1e-10;  // of the sum of squares of a number

constexpr double kUnfitted = -1.0, kLeftOut = -2.0;  // instead of a gain of likelihood

struct Answers {
    double *value, *parameters, *rows, *failed;
};

std::vector<std::int32_t> with(std::span<const std::int32_t> z, std::int32_t v) {
    std::vector<std::int32_t> all(z.begin(), z.end());
    all.push_back(v);
    return all;
}

class LikelihoodScan {
public:
    explicit LikelihoodScan(const MixedData& data)
        : data_(data), base_(data, kRidge), other_(data, kRidge), more_(data, kRidge) {}

    void answer(LikelihoodQuestion question, const EvidenceScan& scan, const Answers& out) {
        x_ = scan.x;
        z_ = scan.z;
        const std::vector<std::int32_t> all = with(z_, x_);
        frame_.rows = observed_rows(data_, all);
        group_rows(data_, z_, frame_);
        made_ = false;
        if (question == LikelihoodQuestion::local) return local(out);
        for (std::size_t j = 0; j < scan.ys.size(); ++j) {
            const Answers at{out.value + j, out.parameters + j, out.rows + j, out.failed + j};
            question == LikelihoodQuestion::tests ? test(scan.ys[j], at) : addition(scan.ys[j], at);
        }
    }

private:
    double count(std::span<const std::uint32_t> rows) const {
        double sum = 0.0;
        for (const std::uint32_t row : rows) sum += data_.weight(row);
        return sum;
    }

    // Features of a variable on these rows: states that do not occur there have none.
    std::size_t width(std::int32_t v, std::span<const std::uint32_t> rows) const {
        const MixedColumn& column = data_[v];
        if (column.constant || rows.empty()) return 0;
        if (column.numeric()) {
            const double first = column.values[rows[0]];
            return std::ranges::any_of(rows, [&](std::uint32_t row) { return column.values[row] != first; }) ? 1 : 0;
        }
        std::vector<std::uint8_t> seen(column.card, 0);
        std::size_t states = 0;
        for (const std::uint32_t row : rows) {
            states += seen[column.states[row]] == 0;
            seen[column.states[row]] = 1;
        }
        return column.ordered() ? std::min<std::size_t>(states - 1, 1) : states - 1;
    }

    void local(const Answers& out) {
        out.rows[0] = count(frame_.rows);
        fill_base();
        put(base_, out);
    }

    void addition(std::int32_t y, const Answers& out) {
        fill_base();
        part_.rows = frame_.rows;
        if (data_[y].gaps) std::erase_if(part_.rows, [&](std::uint32_t row) { return !data_[y].observed(row); });
        out.rows[0] = count(part_.rows);
        const std::vector<std::int32_t> members = with(z_, y);
        group_rows(data_, members, part_);
        more_.fit(x_, members, Reading::ordered, part_, base_.fitted() ? &base_ : nullptr);
        put(more_, out);
    }

    void put(const Regression& fit, const Answers& out) const {
        const bool failed = !fit.fitted() && !data_[x_].constant;
        out.value[0] = failed ? std::nan("") : fit.penalised();
        out.parameters[0] = static_cast<double>(fit.n_slopes());
        out.failed[0] = failed;
    }

    void fill_base() {
        if (!made_) base_.fit(x_, z_, Reading::ordered, frame_);
        made_ = true;
    }

    void test(std::int32_t y, const Answers& out) {
        const bool all = !data_[y].gaps;
        Frame& frame = all ? frame_ : part_;
        if (!all) {
            part_.rows = frame_.rows;
            std::erase_if(part_.rows, [&](std::uint32_t row) { return !data_[y].observed(row); });
            group_rows(data_, z_, part_);
        }
        const double n = count(frame.rows);
        std::size_t given = 0;
        for (const std::int32_t v : z_) given += width(v, frame.rows);
        const std::size_t w_x = width(x_, frame.rows), w_y = width(y, frame.rows), dof = w_x * w_y;
        const double m = n - 1.0 - static_cast<double>(given) - 0.5 * static_cast<double>(w_x + w_y + 1);
        out.rows[0] = n;
        out.parameters[0] = static_cast<double>(dof);
        out.value[0] = out.failed[0] = 0.0;
        if (dof == 0 || !(m > 0.0)) return;
        if (z_.empty() && nominal(x_) && nominal(y)) {
            out.value[0] = 2.0 * m / n * table_gain(y, frame.rows);
            return;
        }
        const double work_x = work(x_, given + w_y, w_x, n), work_y = work(y, given + w_x, w_y, n);
        double mine = kLeftOut, theirs = kLeftOut;
        if (!(work_x > kMostWork && work_x > kMuchMore * work_y)) {
            if (all && !too_large(x_, frame)) fill_base();
            mine = gain(x_, y, frame, all ? &base_ : nullptr);
        }
        if (!(work_y > kMostWork && work_y > kMuchMore * work_x)) theirs = gain(y, x_, frame, nullptr);
        out.failed[0] = (mine == kUnfitted) + (theirs == kUnfitted);
        const double sum = std::max(mine, 0.0) + std::max(theirs, 0.0);
        out.value[0] = m / n * (mine >= 0.0 && theirs >= 0.0 ? sum : 2.0 * sum);
    }

    bool nominal(std::int32_t v) const { return !data_[v].numeric() && !data_[v].ordered(); }

    // About how many operations an information matrix of v takes.
    double work(std::int32_t v, std::size_t features, std::size_t width, double n) const {
        if (data_[v].numeric()) return 0.0;
        const double size = static_cast<double>(data_[v].card - 1 + features * width);
        return size * size * n;
    }
    bool too_large(std::int32_t v, const Frame& frame) const {
        const double card = static_cast<double>(data_[v].card);
        return card * card * static_cast<double>(frame.n_groups) > kMostCells;
    }

    // l(v | z + u) - l(v | z).
    double gain(std::int32_t v, std::int32_t u, const Frame& frame, Regression* known) {
        const std::vector<std::int32_t> members = with(z_, u);
        larger_.rows = frame.rows;
        group_rows(data_, members, larger_);
        if (too_large(v, frame) || too_large(v, larger_)) return kUnfitted;
        if (!known) other_.fit(v, z_, Reading::ordered, frame);
        const Regression& without = known ? *known : other_;
        if (!without.fitted()) return kUnfitted;
        if (data_[v].numeric() && without.unexplained() < kNothingLeft) return 0.0;
        if (!more_.fit(v, members, Reading::ordered, larger_, &without)) return kUnfitted;
        return std::max(more_.penalised() - without.penalised(), 0.0);
    }

    // The same of two nominal variables given nothing: Σ n_ab ln(n_ab N / (n_a n_b)).
    double table_gain(std::int32_t y, std::span<const std::uint32_t> rows) const {
        const MixedColumn &a = data_[x_], &b = data_[y];
        std::vector<double> cells(a.card * b.card, 0.0), of_a(a.card, 0.0), of_b(b.card, 0.0);
        double n = 0.0, sum = 0.0;
        for (const std::uint32_t row : rows) {
            const double weight = data_.weight(row);
            cells[a.states[row] * b.card + b.states[row]] += weight;
            of_a[a.states[row]] += weight;
            of_b[b.states[row]] += weight;
            n += weight;
        }
        // Sorted, so that exchanging x and y and renaming states leaves every bit.
        std::vector<double> terms;
        for (std::size_t s = 0; s < a.card; ++s)
            for (std::size_t t = 0; t < b.card; ++t) {
                const double cell = cells[s * b.card + t];
                if (cell > 0.0) terms.push_back(cell * elementary::log(cell * n / (of_a[s] * of_b[t])));
            }
        std::sort(terms.begin(), terms.end());
        for (const double term : terms) sum += term;
        return std::max(sum, 0.0);
    }

    const MixedData& data_;
    Regression base_, other_, more_;
    Frame frame_, part_, larger_;
    std::int32_t x_ = 0;
    std::span<const std::int32_t> z_;
    bool made_ = false;
};

}  // namespace

LikelihoodQuestion parse_likelihood(const std::string& name) {
    if (name == "tests") return LikelihoodQuestion::tests;
    if (name == "additions") return LikelihoodQuestion::additions;
    if (name == "local") return LikelihoodQuestion::local;
    throw std::invalid_argument("likelihoods must be tests, additions or local; got '" + name + "'.");
}

void run_likelihoods(const MixedData& data, const EvidenceBatch& batch, LikelihoodQuestion question, int n_threads,
                     double* out) {
    const bool local = question == LikelihoodQuestion::local;
    const std::size_t columns = local ? batch.xs.size() : batch.ys.size();
    const std::size_t n_pieces = (batch.xs.size() + kScansTogether - 1) / kScansTogether;
    parallel_for(n_pieces, n_threads, [&](std::size_t piece) {
        LikelihoodScan scan(data);
        const std::size_t end = std::min((piece + 1) * kScansTogether, batch.xs.size());
        for (std::size_t k = piece * kScansTogether; k < end; ++k) {
            double* at = out + (local ? k : static_cast<std::size_t>(batch.y_starts[k]));
            scan.answer(question, batch[k], {at, at + columns, at + 2 * columns, at + 3 * columns});
        }
    });
}

}  // namespace mnlearn
