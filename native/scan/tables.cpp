#include "scan/tables.hpp"

#include <stdexcept>
#include <string>

#include "scan/scan_runner.hpp"
#include "scan/stratum_table.hpp"
#include "store/strata.hpp"
#include "threads/thread_pool.hpp"

namespace mnlearn {

TableScan::TableScan(const Store& store, std::int32_t x, std::span<const std::int32_t> ys,
                     std::span<const std::int32_t> z, int n_threads)
    : store_(store), x_(x), ys_(ys), z_(z), n_threads_(n_threads) {
    method_ = choose_method(store, x, Candidates(store, ys), z, true);
    if (method_ == CountingMethod::split_planes || method_ == CountingMethod::split_columns) {
        ready_ = sets_from_planes(store, x, z);
        strata_ = &ready_->strata;
    } else {
        kept_ = CacheInUse(store).strata(z);
        strata_ = kept_.get();
    }
}

double TableScan::n_cells() const {
    double cells = 0.0;
    for (const std::int32_t y : ys_)
        cells += static_cast<double>(n_strata()) * column_of(store_, x_).card * column_of(store_, y).card;
    return cells;
}

void check_cells(const TableScan& scan, std::int32_t x, double max_cells) {
    if (scan.n_cells() > max_cells)
        throw std::invalid_argument("tables would need " + std::to_string(scan.n_cells() / 1e9) +
                                    " billion cells for x=" + std::to_string(x) + "; at most " +
                                    std::to_string(max_cells / 1e9) +
                                    " billion are counted out. Use reduce, which visits only the occupied cells, "
                                    "ask for fewer y at a time, or merge rare states.");
}

void TableScan::configurations(std::int64_t* out) const {
    if (ready_) {  // digits of the number of the configuration, the last variable first
        for (std::size_t s = 0; s < n_strata(); ++s) {
            std::size_t number = ready_->numbers[s];
            for (std::size_t k = z_.size(); k-- > 0;) {
                const std::size_t card = column_of(store_, z_[k]).card;
                out[s * z_.size() + k] = static_cast<std::int64_t>(number % card);
                number /= card;
            }
        }
        return;
    }
    for (std::size_t k = 0; k < z_.size(); ++k)
        with_codes(column_of(store_, z_[k]), [&](auto code) {
            for (std::size_t row = 0; row < store_.n_records(); ++row)
                out[(*strata_)[row] * z_.size() + k] = static_cast<std::int64_t>(code(row));
        });
}

void TableScan::count(std::span<const TableTarget> targets) const {
    if (ys_.empty()) return;
    const Query q{store_, x_, ys_, *strata_, n_threads_, nullptr};
    const Candidates ys(store_, ys_);
    const Plan plan = ready_ ? plan_together(q, ys, method_) : make_plan(q, ys);
    if (!plan.ys.empty()) {
        if (plan.by_columns || method_ == CountingMethod::split_columns)
            count_in_lists(plan, targets);
        else
            count_in_bitsets(plan, targets);
    }
    const double cost = 2.0 * static_cast<double>(store_.n_records()) * static_cast<double>(plan.alone.size());
    parallel_for(plan.alone.size(), threads_for(cost, n_threads_),
                 [&](std::size_t k) { count_alone(plan.alone[k], targets[plan.alone[k]]); });
}

void TableScan::count_in_bitsets(const Plan& plan, std::span<const TableTarget> targets) const {
    const std::size_t rx = column_of(store_, x_).card;
    AlignedWords own;
    SetSizes sizes;
    if (!ready_) {
        own = aligned_words(n_strata() * rx * store_.planes().words);
        sizes = n_strata() == 1 ? bitsets_of_states(store_, x_, own.get())
                                : bitsets_of_strata(store_, x_, *strata_, own.get());
    }
    const SetSizes& x = ready_ ? ready_->x : sizes;
    const std::uint64_t* sets = ready_ ? ready_->sets.get() : own.get();
    const auto blocks = split_blocks(store_, plan.ys);
    parallel_for(blocks.size(), threads_for(plan.cost_together, n_threads_), [&](std::size_t b) {
        const auto [begin, end] = blocks[b];
        const PlaneColumns columns = plane_columns(store_, plan.ys.subspan(begin, end - begin));
        std::vector<std::uint32_t> counts;
        count_by_planes(store_, sets, x.n_sets(), columns, counts);
        for (std::size_t k = begin; k < end; ++k) {
            const TableTarget& target = targets[plan.place(k)];
            const std::int32_t y = plan.ys[k];
            CountedY counted{counts.data() + columns.column[k - begin], columns.width(),
                             store_.planes().totals.data() + store_.first_plane(y), column_of(store_, y).card};
            for (std::size_t s = 0; s < n_strata(); ++s, counted.counts += rx * counted.stride)
                fill_table(x, s, counted, target.cells + s * target.stride);
        }
    });
}

void TableScan::count_in_lists(const Plan& plan, std::span<const TableTarget> targets) const {
    const SetLists lists = ready_ ? lists_of_bitsets(store_, *ready_) : lists_of_strata(store_, x_, *strata_);
    const std::size_t rx = column_of(store_, x_).card, step = std::max<std::size_t>(1, kSetsInCache / rx);
    store_.row_bits();  // built here, not in every thread's turn
    const auto blocks = split_blocks(store_, plan.ys);
    parallel_for(blocks.size(), threads_for(plan.cost_together, n_threads_), [&](std::size_t b) {
        const std::size_t number = store_.first_plane(plan.ys[blocks[b].first]) / kBlockColumns;
        const Buffer<std::uint32_t> counts(store_.pool(), kSetsInCache * kBlockColumns);
        for (std::size_t first = 0; first < n_strata(); first += step) {
            const std::size_t last = std::min(first + step, n_strata());
            count_by_columns(store_, lists, first * rx, last * rx, number, counts.get());
            for (std::size_t k = blocks[b].first; k < blocks[b].second; ++k) {
                const TableTarget& target = targets[plan.place(k)];
                const std::int32_t y = plan.ys[k];
                CountedY counted{counts.get() + store_.first_plane(y) % kBlockColumns, kBlockColumns, nullptr,
                                 column_of(store_, y).card};
                for (std::size_t s = first; s < last; ++s, counted.counts += rx * kBlockColumns)
                    fill_table(lists.x, s, counted, target.cells + s * target.stride);
            }
        }
    });
}

void TableScan::count_alone(std::size_t j, const TableTarget& target) const {
    const std::size_t ry = column_of(store_, ys_[j]).card;
    const std::int64_t* repeats = store_.repeats();
    with_codes(column_of(store_, x_), [&](auto code_x) {
        with_codes(column_of(store_, ys_[j]), [&](auto code_y) {
            for (std::size_t row = 0; row < store_.n_records(); ++row)
                target.cells[(*strata_)[row] * target.stride + code_x(row) * ry + code_y(row)] +=
                    repeats ? repeats[row] : 1;
        });
    });
}

}  // namespace mnlearn
