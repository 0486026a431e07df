// Partial correlations of one x with many y given z, from a correlation matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mnlearn {

// By rows, symmetric, within ±1. A constant variable has zeros, also on the diagonal, where all others have 1.
struct CorrelationMatrix {
    std::size_t n;
    const double* values;
    double operator()(std::int32_t u, std::int32_t v) const {
        return values[static_cast<std::size_t>(u) * n + static_cast<std::size_t>(v)];
    }
    bool varies(std::int32_t v) const { return (*this)(v, v) > 0.0; }
};

// z is factored once for all y: Cholesky, the largest residual first, ties by place. The y of a scan do not meet, so
// any grouping of them gives the same bits. One for each thread.
class PartialCorrelations {
public:
    explicit PartialCorrelations(CorrelationMatrix correlation) : correlation_(correlation) {}

    // Of each y, within ±(1 − 2⁻⁵³); 0 where x or y is constant. NaN where the matrix does not have the digits: what z
    // leaves of x, of y or of a member of z is a share of 1e-6 or less of its variance. Good until the next call.
    std::span<double> operator()(std::int32_t x, std::span<const std::int32_t> ys, std::span<const std::int32_t> z);

    // Of each member of z, in its order, given the other members, from one factor; empty where some are not clear.
    std::span<const double> members(std::int32_t x, std::span<const std::int32_t> z);

    // The share of the variance of x that z and each y leave; at the end what z alone leaves. Members of z of which the
    // others leave a share of `explained` or less are left out, and so is such a y.
    std::span<const double> shares(std::int32_t x, std::span<const std::int32_t> ys, std::span<const std::int32_t> z,
                                   double explained);

    // The share of the variance of x that z leaves without each member in turn, and with each y in its place: a row for
    // each member, in the order of z, z − m first. One factor serves all by rank-one updates. Empty where some are not
    // clear, or x or a member is constant.
    std::span<const double> exchanged(std::int32_t x, std::span<const std::int32_t> ys, std::span<const std::int32_t> z,
                                      double explained);

    // The two of ys that together leave the smallest share of the variance of x given z. Of pairs within `rounding` of
    // the best, those that explain most of x one by one; then the first. At least two ys, ascending.
    struct Pair {
        std::size_t first, second;  // places in ys
        double explained;           // share of what z leaves of x
    };
    Pair best_pair(std::int32_t x, std::span<const std::int32_t> ys, std::span<const std::int32_t> z, double explained,
                   double rounding);

private:
    void standardize(std::int32_t x, std::span<const std::int32_t> ys, double explained);
    double explained_by(std::size_t first, std::size_t second, double explained) const;
    bool factor(std::span<const std::int32_t> z, double least);
    double solve_x(std::int32_t x);
    void invert();
    void order_members(std::span<const std::int32_t> z);
    template <int width> void solve(const std::int32_t* ys, double* out);
    template <int width> void residuals(std::int32_t x, const std::int32_t* ys, double* shared, double* left);
    template <int width> void exchange(std::int32_t x, const std::int32_t* ys, std::size_t column, double explained);
    template <class Work> static void in_blocks(std::span<const std::int32_t> ys, const Work& work);

    CorrelationMatrix correlation_;
    std::vector<std::int32_t> order_;  // members of z that vary, in the order of the factor
    std::vector<double> factor_;       // [i * size + j], j < i: the factor; the diagonal holds its inverse
    std::vector<double> remaining_;    // of the variance of each member
    std::size_t size_ = 0;             // of the factor: members that are left out come after those of it
    std::vector<double> of_x_;         // x in the coordinates of the factor
    std::vector<double> block_;        // a few y in these, [i * width + k]
    std::vector<double> inverse_;      // of the factor, [i * size + j]
    std::vector<double> precision_;    // of each member: one over the share that the others leave of it
    std::vector<double> weight_x_;     // the coefficient of each member for x, over the root of its precision
    std::vector<std::size_t> places_;  // in z, of the members in the order of the factor
    std::vector<double> found_;
    // Of each y what z leaves, of length 1, in the coordinates of the factor; and its correlation with what z leaves of
    // x.
    std::vector<double> coordinates_, scale_, with_x_;
    std::vector<std::int32_t> asked_;
};

// Fisher's z in units of its standard error, artanh(r) √dof, and the log of its two-sided p-value; both 0 with dof = 0,
// NaN for NaN.
void fisher_tails(std::span<const double> r, double dof, double* statistic, double* log_p);

}  // namespace mnlearn
