// The variables of a data set as the filter of pairs sees them: classes by the number of states that occur.
//
// Variables of two or three occurring states have planes of all but the most frequent one. Constant variables have no
// evidence and are left out. All others (more states, gaps, rows with repeats) have no planes here.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/screen.hpp"
#include "store/store.hpp"

namespace mnlearn {

// One variable: its occurring states, the rarest first.
struct ScreenVariable {
    std::int32_t variable;
    std::array<std::uint8_t, 3> states;
    std::array<std::uint32_t, 3> sizes;               // rows with each
    std::array<std::uint8_t, 3> by_code = {0, 1, 2};  // their places here, in the order of their codes
    std::uint32_t card = 0;                           // states that are declared
};

// The variables of one class, sorted by their rarest states: bounds for many y at a time are then close.
class ScreenClass {
public:
    ScreenClass(const Store& store, std::vector<ScreenVariable> variables, std::size_t n_planes, int n_threads);

    std::size_t size() const { return variables_.size(); }
    std::size_t n_planes() const { return n_planes_; }
    std::size_t n_states() const { return n_planes_ + 1; }
    std::size_t lanes() const { return kScreenCounts / n_planes_; }  // variables in a column
    const ScreenVariable& operator[](std::size_t place) const { return variables_[place]; }

    ScreenColumns columns() const;
    const std::uint64_t* planes() const { return planes_.get(); }
    const float* counts(std::size_t plane) const { return counts_[plane].data(); }
    const float* row_weights(std::size_t state) const { return row_weights_[state].data(); }

private:
    void make_planes(const Store& store, std::size_t place);
    void make_numbers(double n_rows);

    std::size_t n_planes_;
    std::vector<ScreenVariable> variables_;
    AlignedWords planes_;
    // With room for whole tiles beyond the last variable.
    std::array<std::vector<float>, kScreenPlanes> counts_, means_;
    std::array<std::vector<float>, kScreenPlanes + 1> row_weights_, column_weights_;
};

struct ScreenVariables {
    std::vector<ScreenVariable> with_planes[kScreenPlanes];  // by the number of planes, less one
    std::vector<std::int32_t> others;                        // variables without planes, ascending
};
ScreenVariables sort_variables(const Store& store, int n_threads);

}  // namespace mnlearn
