#include "mixed/mixed_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "mixed/mixed_scan.hpp"
#include "scan/ties.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kEvidenceTogether = 16;
constexpr double kRough = 4.0;          // how much further off an estimate may be where many rows lack y
constexpr double kMostWorkOfEnd = 3e7;  // operations of an end, beyond which the other end decides if it costs less
constexpr double kOtherEnd = 1.5;       // how far apart the gains of the two ends may lie where one of them decides

struct EvidenceAnswers {
    double *value, *exact, *fell_back, *base;
};

class Scanner {
public:
    Scanner(const MixedData& data, PairReadings& pairs, const MixedOptions& options)
        : relative_(options.relative), there_(data, pairs, options.three_way), back_(data, pairs, options.three_way) {}

    void answer(MixedQuestion question, const EvidenceScan& scan, double threshold, const EvidenceAnswers& out) {
        there_.begin(scan.x, scan.z);
        switch (question) {
            case MixedQuestion::local:
                out.value[0] = out.base[0] = there_.base();
                out.exact[0] = 1.0;
                out.fell_back[0] = there_.fell_back();
                return;
            case MixedQuestion::leaders:
                return leaders(scan, threshold, out);
            case MixedQuestion::pairs:
                return pairs(scan, threshold, out);
            case MixedQuestion::removals:
                return removals(scan, threshold, out);
            default:
                return additions(question == MixedQuestion::additions, scan, out);
        }
    }

private:
    // Of both ends, or of the one that can be fitted.
    static double mean_of(const MixedScan::Added& mine, const MixedScan::Added& other) {
        if (mine.known && other.known) return 0.5 * (mine.rise + other.rise);
        return mine.known ? mine.rise : other.rise;
    }

    void put(const EvidenceAnswers& out, std::size_t j, MixedScan::Added added, double base) {
        out.value[j] = added.rise;
        out.exact[j] = added.exact;
        out.fell_back[j] = there_.fell_back() - counted_;
        out.base[j] = base;
        counted_ = there_.fell_back();
    }

    void additions(bool exact, const EvidenceScan& scan, const EvidenceAnswers& out) {
        counted_ = 0;
        const double base = there_.base();
        for (std::size_t j = 0; j < scan.ys.size(); ++j)
            put(out, j, exact ? there_.fitted(scan.ys[j], false) : there_.estimate(scan.ys[j], false), base);
    }

    void leaders(const EvidenceScan& scan, double above, const EvidenceAnswers& out) {
        counted_ = 0;
        const double base = there_.base();
        if (!relative_) above -= base;
        const std::size_t n = scan.ys.size();
        for (std::size_t j = 0; j < n; ++j) put(out, j, there_.estimate(scan.ys[j], false), base);
        while (n > 0) {
            const double best = *std::max_element(out.value, out.value + n);
            if (!(best > above)) return;
            bool fitted = false;
            for (std::size_t j = 0; j < n; ++j) {
                if (exceeds(best, out.value[j]) || out.exact[j] != 0.0) continue;
                put(out, j, there_.fitted(scan.ys[j], false), base);
                fitted = true;
            }
            if (!fitted) return;
        }
    }

    void removals(const EvidenceScan& scan, double fit_above, const EvidenceAnswers& out) {
        counted_ = 0;
        const double base = there_.base();
        if (!relative_) fit_above -= base;
        for (std::size_t i = 0; i < scan.z.size(); ++i) put(out, i, there_.without(i, fit_above), base);
    }

    // The end of x is estimated first; only where it comes near the threshold follow the end of y and the fits.
    void pairs(const EvidenceScan& scan, double fit_above, const EvidenceAnswers& out) {
        counted_ = 0;
        for (std::size_t j = 0; j < scan.ys.size(); ++j) {
            const std::int32_t y = scan.ys[j];
            const double work_x = there_.cost(scan.x, y), work_y = there_.cost(y, scan.x);
            const bool skip_x = work_x > std::max(kMostWorkOfEnd, work_y);
            const bool skip_y = work_y > std::max(kMostWorkOfEnd, work_x);
            if (fit_above > -HUGE_VAL && !skip_x) {
                const double guess = there_.guess(y);
                if (guess < fit_above - kOtherEnd) {
                    put(out, j, {guess - kGuessSlack, false}, 0.0);
                    continue;
                }
            }
            MixedScan::Added mine{0.0, true, false}, other{0.0, true, false};
            if (!skip_x) mine = there_.estimate(y, true);
            if (mine.known && !(mine.rise > fit_above - kOtherEnd - (mine.rough ? kRough : 0.0))) {
                put(out, j, {mine.rise, false}, 0.0);
                continue;
            }
            back_.begin(y, scan.z, there_.rows_with(y));
            if (!skip_y) other = back_.estimate(scan.x, true);
            const double rough = mine.rough || other.rough ? kRough : 0.0;
            if (mean_of(mine, other) > fit_above - rough) {
                if (mine.known && !mine.exact) mine = there_.fitted(y, true);
                if (other.known && !other.exact) other = back_.fitted(scan.x, true);
            }
            const bool exact = (mine.exact || !mine.known) && (other.exact || !other.known);
            put(out, j, {mean_of(mine, other), exact}, 0.0);
            out.fell_back[j] += back_.fell_back();
        }
    }

    bool relative_;
    MixedScan there_, back_;
    int counted_ = 0;
};

struct KnownQuestion {
    const char* text;
    MixedQuestion question;
};
constexpr KnownQuestion kQuestions[] = {
    {"local", MixedQuestion::local},         {"estimates", MixedQuestion::estimates},
    {"additions", MixedQuestion::additions}, {"leaders", MixedQuestion::leaders},
    {"pairs", MixedQuestion::pairs},         {"removals", MixedQuestion::removals}};

}  // namespace

MixedQuestion parse_mixed(const std::string& name) {
    for (const KnownQuestion& known : kQuestions)
        if (name == known.text) return known.question;
    throw std::invalid_argument("evidence must be local, estimates, additions, leaders, pairs or removals; got '" +
                                name + "'.");
}

std::size_t mixed_columns(MixedQuestion question, const EvidenceBatch& batch) {
    if (question == MixedQuestion::local) return batch.xs.size();
    return question == MixedQuestion::removals ? batch.zs.size() : batch.ys.size();
}

void check_mixed(const MixedData& data, const EvidenceBatch& batch) {
    check_starts(batch);
    const auto n = static_cast<std::int32_t>(data.n_variables());
    const auto check = [n](std::int32_t v) {
        if (v < 0 || v >= n)
            throw std::invalid_argument("x, y and the members of z must be the index of a variable, from 0 to " +
                                        std::to_string(n - 1) + "; got " + std::to_string(v) + ".");
    };
    for (std::size_t k = 0; k < batch.xs.size(); ++k) {
        const EvidenceScan scan = batch[k];
        check(scan.x);
        for (const std::int32_t v : scan.z) check(v);
        for (const std::int32_t y : scan.ys) check(y);
        const auto in_z = [&](std::int32_t v) { return std::ranges::find(scan.z, v) != scan.z.end(); };
        if (in_z(scan.x) || std::ranges::any_of(scan.ys, [&](std::int32_t y) { return y == scan.x || in_z(y); }))
            throw std::invalid_argument("z must not contain x or y, and y must not be x. Leave them out.");
    }
}

void run_mixed(const MixedData& data, PairReadings& pairs, const EvidenceBatch& batch, MixedQuestion question,
               const MixedOptions& options, int n_threads, double* out) {
    const std::size_t columns = mixed_columns(question, batch);
    const std::size_t n_pieces = (batch.xs.size() + kEvidenceTogether - 1) / kEvidenceTogether;
    parallel_for(n_pieces, n_threads, [&](std::size_t piece) {
        Scanner scanner(data, pairs, options);
        const std::size_t end = std::min((piece + 1) * kEvidenceTogether, batch.xs.size());
        for (std::size_t k = piece * kEvidenceTogether; k < end; ++k) {
            const auto first = question == MixedQuestion::local      ? k
                               : question == MixedQuestion::removals ? static_cast<std::size_t>(batch.z_starts[k])
                                                                     : static_cast<std::size_t>(batch.y_starts[k]);
            double* at = out + first;
            scanner.answer(question, batch[k], options.thresholds[k],
                           {at, at + columns, at + 2 * columns, at + 3 * columns});
        }
    });
}

}  // namespace mnlearn
