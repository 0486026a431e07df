#include "blankets/grow_shrink.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "blankets/blanket_table.hpp"
#include "blankets/sorted_rows.hpp"
#include "scan/chi_square_tail.hpp"
#include "scan/gaps.hpp"

namespace mnlearn {
namespace {

constexpr double kNoAnswer = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kAtOnce = 4096;

// Inference before a test: the rules and z in their form; or none.
class Reasoner {
public:
    Reasoner(KnowledgeBase* known, std::int32_t x, std::span<const std::int32_t> z) : known_(known), x_(x) {
        if (known_) z_ = known_->no_variables();
        for (const std::int32_t v : z) join(v);
    }
    AnsweredBy implied(std::int32_t y) { return known_ ? known_->implied(x_, y, z_) : AnsweredBy::data; }
    AnsweredBy infer(std::int32_t y) { return known_ ? known_->infer(x_, y, z_) : AnsweredBy::data; }
    void learn(std::int32_t y, bool independent) {
        if (known_) known_->learn(x_, y, z_, independent);
    }
    void join(std::int32_t v) {
        if (known_) put(z_, v);
    }
    void leave(std::int32_t v) {
        if (known_) take(z_, v);
    }

private:
    KnowledgeBase* known_;
    std::int32_t x_;
    Bits z_;
};

// The tests of a growing set z. The rows are sorted by its members when the first variable is tested, not before.
class GrowingTests {
public:
    GrowingTests(const Store& store, const TestSpec& test, std::int32_t x, std::span<const std::int32_t> ys,
                 std::span<const std::int32_t> z, const StopRule& until)
        : store_(store),
          test_(test),
          until_(until),
          x_(x),
          ys_(ys),
          z_(z.begin(), z.end()),
          decision_(store, test, x) {}
    ~GrowingTests() {
        if (rows_) keep_rows(store_, std::move(rows_));
    }
    GrowingTests(const GrowingTests&) = delete;
    GrowingTests& operator=(const GrowingTests&) = delete;

    // The support of x ⟂ y | z; NaN where the core has no fast way. `upcoming(n)`: y and at most n - 1 to be asked
    // next.
    template <class Upcoming> double operator()(std::int32_t y, const Upcoming& upcoming) {
        while (next_ < block_.size() && block_[next_] != y) ++next_;  // those before it a rule has answered since
        if (next_ == block_.size() && in_a_row_ >= until_.in_a_row && until_.ahead > 1) scan(upcoming);
        ++in_a_row_;
        if (next_ < block_.size()) return supports_[next_++];
        if (!sort_rows()) return kNoAnswer;
        ++scanned_;
        return decision_(y, rows_->z(), rows_->count(y, decision_.wants_varied()));
    }
    bool independent(double support) const { return !decision_.dependent(support); }
    void pass(std::int32_t y) {
        if (rows_ && !until_.first) rows_->forget(y);
    }
    void join(std::int32_t y) {
        z_.insert(std::lower_bound(z_.begin(), z_.end(), y), y);
        joined_.push_back(y);
        block_.clear();
        next_ = in_a_row_ = 0;
    }
    std::size_t size_z() const { return z_.size(); }
    std::size_t scanned() const { return scanned_; }

private:
    bool sort_rows() {
        if (!rows_) {
            rows_ = rows_towards(store_, x_, z_);
            joined_.clear();
            std::set_difference(z_.begin(), z_.end(), rows_->z().begin(), rows_->z().end(),
                                std::back_inserter(joined_));
            rows_->expect(joined_);
            if (!join_rows()) return false;
            rows_->expect(ys_);
        }
        return join_rows();
    }
    bool join_rows() {
        for (const std::int32_t v : joined_) {
            if (!rows_->can_join(v)) return false;
            rows_->join(v);
        }
        joined_.clear();
        return true;
    }

    // Twice as many as were independent one by one, then twice as many again, all in one pass of the data.
    template <class Upcoming> void scan(const Upcoming& upcoming) {
        block_ = upcoming(std::min(block_.empty() ? 2 * in_a_row_ : 2 * block_.size(), until_.ahead));
        const std::size_t n = block_.size();
        std::vector<double> scores(static_cast<std::size_t>(n_outputs(test_.kernel)) * n);
        run_scan(store_, test_.kernel, x_, block_, z_, until_.n_threads, scores.data());
        supports_.resize(n);
        if (test_.kernel.name == KernelName::bayes)
            std::transform(scores.begin(), scores.end(), supports_.begin(), [](double s) { return std::min(s, 0.0); });
        else
            log_chi2_tails(scores.data(), scores.data() + n, n, supports_.data());
        next_ = 0;
        scanned_ += n;
    }

    const Store& store_;
    const TestSpec& test_;
    const StopRule& until_;
    std::int32_t x_;
    std::span<const std::int32_t> ys_;
    std::vector<std::int32_t> z_, joined_;  // z; its members that the rows are not sorted by yet
    std::shared_ptr<SortedRows> rows_;
    TestDecision decision_;
    std::size_t in_a_row_ = 0, scanned_ = 0;
    std::vector<std::int32_t> block_;  // tested ahead: variables,
    std::vector<double> supports_;     // with which support given z,
    std::size_t next_ = 0;             // and how far they were used
};

// The tests of a shrinking set. Its table is counted when the first member is tested, not before.
class ShrinkingTests {
public:
    ShrinkingTests(const Store& store, const TestSpec& test, std::int32_t x, std::span<const std::int32_t> ys,
                   std::span<const std::int32_t> z)
        : store_(store), x_(x), ys_(ys), z_(z), n_left_(z.size()), decision_(store, test, x) {}

    // The support of x ⟂ y given the others; NaN where the core has no fast way.
    double operator()(std::int32_t y) {
        if (!table_ && !count()) return kNoAnswer;
        for (const std::int32_t v : left_) {
            table_->single_out(v);
            table_->drop();
        }
        left_.clear();
        const PairTables tables = table_->single_out(y);
        singled_out_ = y;
        ++scanned_;
        return decision_(y, table_->others(), tables);
    }
    bool independent(double support) const { return !decision_.dependent(support); }
    void leave(std::int32_t y) {
        --n_left_;
        if (singled_out_ == y)
            table_->drop();
        else
            left_.push_back(y);
    }
    std::size_t size_z() const { return n_left_ - 1; }  // of the others
    std::size_t scanned() const { return scanned_; }

private:
    bool count() {
        table_ = table_of(store_, x_, ys_, z_, decision_.wants_varied());
        return table_ != nullptr;
    }

    const Store& store_;
    std::int32_t x_;
    std::span<const std::int32_t> ys_, z_;  // z as it was at first,
    std::size_t n_left_;                    // and how many of it have not left
    TestDecision decision_;
    std::unique_ptr<BlanketTable> table_;
    std::optional<std::int32_t> singled_out_;
    std::vector<std::int32_t> left_;  // who has left z, but not yet the table
    std::size_t scanned_ = 0;
};

// One question: to the rules, then to the data. False where neither answers.
template <class Tests, class... Upcoming>
bool take_turn(PhaseAnswers& answers, Reasoner& reasoner, Tests& tests, std::int32_t y, const Upcoming&... upcoming) {
    const AnsweredBy rule = reasoner.infer(y);
    if (rule != AnsweredBy::data) {
        answers.infer(rule);
        return true;
    }
    const double support = tests(y, upcoming...);
    if (std::isnan(support)) return false;
    const bool independent = tests.independent(support);
    reasoner.learn(y, independent);
    answers.test(support, independent, tests.size_z());
    return true;
}

}  // namespace

void PhaseAnswers::infer(AnsweredBy rule) {
    support.push_back(kNoAnswer);
    independent.push_back(!says_dependent(rule));
    sources.push_back(rule);
}

void PhaseAnswers::test(double value, bool is_independent, std::size_t size_z) {
    support.push_back(value);
    independent.push_back(is_independent);
    sources.push_back(AnsweredBy::data);
    ++asked;
    weighted += 2 + size_z;
    largest_z = std::max(largest_z, size_z);
}

PhaseAnswers grow(const Store& store, const TestSpec& test, std::int32_t x, std::span<const std::int32_t> ys,
                  std::span<const std::int32_t> z, const StopRule& until, KnowledgeBase* known) {
    PhaseAnswers answers;
    if (concerns_gaps(store, x, ys, z) || !can_sort(store, x, ys) || !can_sort(store, x, z)) return answers;
    GrowingTests tests(store, test, x, ys, z, until);
    Reasoner reasoner(known, x, z);
    const auto upcoming = [&](std::size_t n) {  // up to the first that must depend, for there z changes
        std::vector<std::int32_t> open{ys[answers.size()]};
        for (std::size_t k = answers.size() + 1; k < ys.size() && open.size() < n; ++k) {
            const AnsweredBy source = reasoner.implied(ys[k]);
            if (says_dependent(source)) break;
            if (source == AnsweredBy::data) open.push_back(ys[k]);
        }
        return open;
    };
    while (answers.size() < std::min(ys.size(), kAtOnce)) {
        const std::int32_t y = ys[answers.size()];
        if (!take_turn(answers, reasoner, tests, y, upcoming)) break;
        if (answers.independent.back()) {
            tests.pass(y);
            continue;
        }
        if (until.first) break;
        tests.join(y);
        reasoner.join(y);
    }
    answers.scanned = tests.scanned();
    return answers;
}

PhaseAnswers shrink(const Store& store, const TestSpec& test, std::int32_t x, std::span<const std::int32_t> ys,
                    std::span<const std::int32_t> z, KnowledgeBase* known) {
    PhaseAnswers answers;
    if (concerns_gaps(store, x, {}, z) || !can_sort(store, x, z)) return answers;
    ShrinkingTests tests(store, test, x, ys, z);
    Reasoner reasoner(known, x, z);
    for (const std::int32_t y : ys) {
        reasoner.leave(y);
        if (!take_turn(answers, reasoner, tests, y)) break;
        if (answers.independent.back())
            tests.leave(y);
        else
            reasoner.join(y);
    }
    answers.scanned = tests.scanned();
    return answers;
}

}  // namespace mnlearn
