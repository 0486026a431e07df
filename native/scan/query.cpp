// The rules of a question, and the names of the kernels.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "scan/scan.hpp"

namespace mnlearn {
namespace {

struct KnownKernel {
    const char* text;
    KernelName name;
    std::size_t n_settings;
    int n_outputs;
};

constexpr KnownKernel kKernels[] = {{"chi2", KernelName::chi2, 1, 2},
                                    {"g2", KernelName::g2, 1, 2},
                                    {"mi", KernelName::mi, 1, 2},
                                    {"bayes", KernelName::bayes, 4, 1},
                                    {"bayes_dependent", KernelName::bayes_dependent, 4, 1},
                                    {"dirichlet", KernelName::dirichlet, 2, 1},
                                    {"entropy", KernelName::entropy, 0, 1},
                                    {"first_cell", KernelName::first_cell, 0, 1}};

std::string in_braces(std::span<const std::int32_t> z) {
    std::string text = "{";
    for (const std::int32_t v : z) text += (text.size() > 1 ? ", " : "") + std::to_string(v);
    return text + "}";
}

void check_range(std::size_t n_variables, const char* what, std::int32_t v) {
    const auto n = static_cast<std::int64_t>(n_variables);
    if (v < 0 || v >= n)
        throw std::invalid_argument(std::string(what) + " must be the index of a variable, 0 to " +
                                    std::to_string(n - 1) + "; got " + std::to_string(v) + ".");
}

}  // namespace

KernelSpec parse_kernel(const std::string& name, std::vector<double> settings) {
    for (const KnownKernel& kernel : kKernels) {
        if (name != kernel.text) continue;
        if (settings.size() != kernel.n_settings)
            throw std::invalid_argument("kernel " + name + " takes " + std::to_string(kernel.n_settings) +
                                        " settings; got " + std::to_string(settings.size()) + ".");
        return {kernel.name, std::move(settings)};
    }
    std::string known;
    for (const KnownKernel& kernel : kKernels) known += (known.empty() ? "" : ", ") + std::string(kernel.text);
    throw std::invalid_argument("kernel must be one of: " + known + "; got '" + name + "'.");
}

int n_outputs(const KernelSpec& spec) {
    for (const KnownKernel& kernel : kKernels)
        if (kernel.name == spec.name) return kernel.n_outputs;
    return 0;
}

namespace {

// Whether v is among these, of which there is one at least, in ascending order; without a branch, which would be
// mispredicted.
bool is_among(std::int32_t v, std::span<const std::int32_t> ys) {
    const std::int32_t* first = ys.data();
    for (std::size_t left = ys.size(); left > 1;) {
        const std::size_t half = left / 2;
        first += static_cast<std::size_t>(first[half] <= v) * half;
        left -= half;
    }
    return *first == v;
}

// Whether some y breaks a rule: not which, but without a branch for each y. In ascending order, as most searches ask,
// x and z are searched among the ys.
bool any_refused(std::size_t n_variables, std::int32_t x, std::span<const std::int32_t> ys,
                 std::span<const std::int32_t> z) {
    constexpr std::size_t kFew = 16;  // more members of z are sooner searched
    if (ys.empty()) return false;
    const auto last = static_cast<std::int32_t>(n_variables) - 1;
    std::int32_t descents = 0, outside = 0, same = 0;
    for (std::size_t k = 1; k < ys.size(); ++k) descents += ys[k] < ys[k - 1];
    if (descents == 0) {
        for (const std::int32_t v : z) same += is_among(v, ys);
        return ys.front() < 0 || ys.back() > last || is_among(x, ys) || same > 0;
    }
    for (const std::int32_t y : ys) outside |= y | (last - (y & 0x7fffffff));  // negative then
    const auto look_for = [&](std::int32_t v) {
        for (const std::int32_t y : ys) same += y == v;
    };
    look_for(x);
    if (z.size() > kFew)
        for (const std::int32_t y : ys) same += std::binary_search(z.begin(), z.end(), y);
    else
        for (const std::int32_t v : z) look_for(v);
    return outside < 0 || same > 0;
}

}  // namespace

void check_query(std::size_t n_variables, std::int32_t x, std::span<const std::int32_t> ys,
                 std::span<const std::int32_t> z) {
    check_range(n_variables, "x", x);
    for (const std::int32_t v : z) check_range(n_variables, "every member of z", v);
    const auto given = [&](std::int32_t v) { return std::binary_search(z.begin(), z.end(), v); };
    if (given(x))
        throw std::invalid_argument("z must not contain x; got x=" + std::to_string(x) + ", z=" + in_braces(z) +
                                    ". Leave x out of z.");
    if (!any_refused(n_variables, x, ys, z)) return;
    for (const std::int32_t y : ys) {  // which, and why
        check_range(n_variables, "y", y);
        if (y == x)
            throw std::invalid_argument("y must differ from x; got x=" + std::to_string(x) +
                                        " among the ys. Ask about two different variables.");
        if (given(y))
            throw std::invalid_argument("z must not contain y; got y=" + std::to_string(y) + ", z=" + in_braces(z) +
                                        ". Leave y out of z.");
    }
}

}  // namespace mnlearn
