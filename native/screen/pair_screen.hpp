// All pairs of a data set against the bars of their lists: a filter over bit-planes, then exact scores of what passes.
//
// Variables are rows 0 to size() − 1: first those with one plane, then those with two, then those that are scanned
// (screen_planes.hpp). A pair belongs to one of its rows. Rows may be scanned in any order; each once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "scan/scan.hpp"
#include "screen/evidence_scale.hpp"
#include "screen/partner_lists.hpp"
#include "screen/screen_planes.hpp"
#include "screen/table_scores.hpp"

namespace mnlearn {

class PairScreen {
public:
    // The kernel is g2, chi2 or mi.
    PairScreen(const Store& store, PartnerLists& lists, KernelSpec kernel, int n_threads);

    std::size_t size() const { return classes_[0].size() + classes_[1].size() + others_.size(); }
    std::uint64_t n_scored() const { return n_scored_; }  // pairs that passed the filter, or needed none
    void scan(std::size_t first, std::size_t last, int n_threads);
    // Counts the pairs of rows with planes as a scan does, without looking at them: what counting alone takes.
    std::uint32_t probe(std::size_t first, std::size_t last, int n_threads) const;

    // Pairs of variables of two states, counted elsewhere: rows with both in state 1.
    void push_binary(std::span<const std::int32_t> xs, std::span<const std::int32_t> ys,
                     std::span<const std::int32_t> both);
    // Pairs that are counted here, one by one.
    void push_pairs(std::span<const std::int32_t> xs, std::span<const std::int32_t> ys, int n_threads);

private:
    // Some x of one class against some y of a class.
    struct Piece {
        const ScreenClass *x, *y;
        std::size_t first_x, last_x, first_y, last_y;
        bool triangle() const { return x == y; }
    };
    std::vector<Piece> pieces(std::size_t first, std::size_t last) const;
    template <class Strip> void with_strips(const Piece& piece, Strip use) const;
    class Filter;

    void scan_piece(const Piece& piece);
    void scan_other(std::size_t other);
    void scan_with_others(const ScreenVariable& x);
    void scan_ys(std::int32_t x, std::span<const std::int32_t> ys);
    void score(const Piece& piece, std::span<const ScreenSurvivor> survivors);
    float evidence(double statistic, double dof) const;
    float needed(float bar, double dof) const;
    float statistic_bar(float bar, std::size_t dof) const;

    const Store& store_;
    PartnerLists& lists_;
    KernelSpec kernel_;
    std::array<ScreenClass, kScreenPlanes> classes_;
    std::vector<std::int32_t> others_;
    TableScores scores_;
    LeastStatistics least_;
    std::atomic<std::uint64_t> n_scored_ = 0;

    PairScreen(const Store& store, PartnerLists& lists, KernelSpec kernel, ScreenVariables variables, int n_threads);
};

}  // namespace mnlearn
