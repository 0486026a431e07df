// LeaveOneOut one member out of z at a time, all of them from one table.
#pragma once

#include "blankets/joint_table.hpp"

namespace mnlearn {

// The cells of (z, x) in the order of z without one member: cells that then agree stand together.
//
// The cells come in lexicographic order, so those that agree before the member are neighbours (`prefix`); how they
// rank after it (`suffix`) is carried from one member to the one before. Two stable counting sorts, by suffix and then
// by prefix, give the lexicographic order of the rest: a few steps a cell for each member.
class LeaveOneOut {
public:
    LeaveOneOut(const JointTable& cells, std::size_t n_members);

    // To the next member, from the last to the first.
    void next();

    std::size_t member() const { return member_; }  // its place in z
    std::size_t n_groups() const { return begin_.size() - 1; }
    std::span<const std::uint32_t> group(std::size_t g) const {  // its cells, in lexicographic order of (member, x)
        return {order_.data() + begin_[g], begin_[g + 1] - begin_[g]};
    }
    std::span<const std::int64_t> sizes() const { return sizes_; }  // rows of each group

private:
    void extend_suffix();
    void number_prefixes();
    void sort_cells();
    void find_groups();

    const JointTable& cells_;
    std::size_t n_members_, member_;
    std::vector<std::uint32_t> differs_;  // at which member a cell first differs from the one before it
    std::vector<std::uint32_t> prefix_, suffix_, order_, begin_;
    std::size_t n_prefixes_ = 1, n_suffixes_ = 1;
    std::vector<std::int64_t> sizes_;
    std::vector<std::uint32_t> scratch_, places_;
};

}  // namespace mnlearn
