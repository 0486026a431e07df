// A local score: a kernel of the table of x and its blanket, less a price for the blanket.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scan/scan.hpp"

namespace mnlearn {

// local(x, z) = (scale · kernel(x | z) − weight of x · configurations of z) + log prior of |z|, in this order of
// operations: the bits are those of mnlearn.scores.
struct LocalScore {
    const Store* store;
    KernelSpec kernel;
    double scale;
    std::vector<double> weights, cards;  // of each variable; no weights: configurations are free
    std::vector<double> log_prior;       // by the size of the blanket

    std::size_t n_variables() const { return store->n_variables(); }
    // Sets are ascending throughout.
    double local(std::int32_t x, std::span<const std::int32_t> z) const;
    // out[j] = local(x, z + ys[j]).
    void additions(std::int32_t x, std::span<const std::int32_t> z, std::span<const std::int32_t> ys,
                   double* out) const;
    // out[j] = local(x, z − z[j]).
    void removals(std::int32_t x, std::span<const std::int32_t> z, double* out) const;

private:
    double configurations(std::span<const std::int32_t> z) const;
    double finished(std::int32_t x, double value, double n_configurations, std::size_t size) const;
};

// Lists of variables, one after the other; list k is members[starts[k]] to members[starts[k + 1]].
struct Lists {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> members;

    std::size_t size() const { return starts.size() - 1; }
    std::span<const std::int32_t> operator[](std::size_t k) const {
        const auto first = static_cast<std::size_t>(starts[k]), last = static_cast<std::size_t>(starts[k + 1]);
        return members.subspan(first, last - first);
    }
};

// A score with memory of its own.
struct OwnLists {
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> members;

    void append(std::span<const std::int32_t> list) {
        members.insert(members.end(), list.begin(), list.end());
        starts.push_back(static_cast<std::int64_t>(members.size()));
    }
};

// local(xs[k], blankets[k]) of each; blankets in any order.
std::vector<double> local_scores(const LocalScore& score, std::span<const std::int32_t> xs, const Lists& blankets,
                                 int n_threads);

}  // namespace mnlearn
