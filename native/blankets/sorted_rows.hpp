// Rows in the order of the configurations of x and a growing set z, for searches that test one candidate after another,
// each given those that joined before.
//
// When z grows, rows are partitioned by the new member (kernels/stable_partition.hpp): eight sets of 20,000 rows take
// half a microsecond. Only the sets that a test needs are partitioned.
#pragma once

#include <bit>
#include <map>
#include <optional>

#include "scan/scan_runner.hpp"
#include "scan/test_decision.hpp"

namespace mnlearn {

// Where a plane begins; its words stand kLanes apart.
inline const std::uint64_t* plane_of(const Store& store, std::size_t plane) {
    const Planes& planes = store.planes();
    return planes.bits + plane / kLanes * planes.words * kLanes + plane % kLanes;
}

// The states of variables in the order of the sorted rows, eight sets of rows to a block. A block catches up with new
// partitions only when one of its variables is needed; a new block also reads in the variables expected next.
class PartitionedColumns {
public:
    using Words = std::vector<std::uint64_t>;

    explicit PartitionedColumns(const Store& store);
    void restart();                                     // no partitions, nothing held
    void expect(std::span<const std::int32_t> ys);      // variables needed next, in this order
    void add_partition(Words by, std::size_t n_zeros);  // from now on rows are sorted by this bit first
    void forget(std::int32_t v);                        // not needed soon

    struct Lanes {
        const std::uint8_t* rows;
        std::size_t first, count;  // of all states but the last
    };
    Lanes look(std::int32_t v);  // in the order of now; good until the next call

    std::size_t n_words() const { return words_; }
    Words some_words();
    std::size_t bytes() const;

private:
    using Bytes = std::vector<std::uint8_t>;
    struct Partition {
        Words by;
        std::size_t n_zeros;
    };
    struct Block {
        Bytes rows;
        std::size_t depth = 0;   // how many partitions it went through
        std::size_t n_held = 0;  // variables held
    };
    struct Place {
        std::size_t block, lane;
    };

    Bytes some_bytes();
    Place read(std::int32_t v);
    void pass(const Partition& partition, Bytes& rows);

    const Store& store_;
    std::size_t words_;
    std::vector<Partition> partitions_;
    std::vector<Block> blocks_;
    std::map<std::int32_t, Place> places_;
    std::vector<std::int32_t> expected_;
    std::vector<Words> free_words_;
    std::vector<Bytes> free_bytes_;
    Bytes spare_;
};

// Whether rows can be sorted by these variables: all have planes, and the processor has a fast stable partition.
bool can_sort(const Store& store, std::int32_t x, std::span<const std::int32_t> others);

// The states of several variables side by side in one number, the last in the lowest bits: so numbers are ordered as
// the configurations are.
struct PackedStates {
    const Store& store;
    std::span<const std::int32_t> variables;

    static constexpr unsigned kBits = 64;
    unsigned width(std::int32_t v) const { return static_cast<unsigned>(std::bit_width(column_of(store, v).card - 1)); }
    // The bits of all variables from this place on.
    unsigned from(std::size_t place) const {
        unsigned bits = 0;
        for (const std::int32_t v : variables.subspan(place)) bits += width(v);
        return bits;
    }
};

class SortedRows {
public:
    explicit SortedRows(const Store& store);
    void restart(std::int32_t x);

    std::int32_t x() const { return x_; }                   // -1 before the first
    std::span<const std::int32_t> z() const { return z_; }  // ascending
    // Whether z can be reached from here.
    bool leads_to(std::span<const std::int32_t> z) const;
    void expect(std::span<const std::int32_t> ys) { columns_.expect(ys); }  // who will be asked about, in this order
    // Good until the next call. `varied`: strata in which x or y does not vary may be left out.
    PairTables count(std::int32_t y, bool varied = false);
    void join(std::int32_t y);
    void forget(std::int32_t y);  // will not be asked about soon
    std::size_t bytes() const;

    bool can_join(std::int32_t y) const;

    // What occurs of z, in lexicographic order: the states of each configuration, and its rows for each state of x.
    std::span<const std::uint64_t> keys() const { return keys_; }
    std::span<const std::uint32_t> sizes() const { return sizes_; }
    std::uint32_t card_x() const { return card_x_; }

private:
    using Words = PartitionedColumns::Words;

    void count_states(std::int32_t y);
    PairTables varied_tables();
    void take_sets(const PartitionedColumns::Lanes& lanes);
    void add_sieves(std::int32_t y);
    Words digit_of(std::size_t card, std::size_t digit);
    void split_sets(std::size_t card);
    void sort_strata(std::int32_t y);

    const Store& store_;
    std::int32_t x_ = -1;
    std::vector<std::int32_t> z_;
    PartitionedColumns columns_;
    // Strata are numbered as they stand in the order of the rows, the newest member of z first.
    std::vector<std::uint32_t> ends_;   // [stratum * card_x + state]: where the set begins; at last, the end of all
    std::vector<std::uint32_t> order_;  // their lexicographic order
    std::vector<std::uint64_t> keys_;   // in that order
    std::vector<std::uint32_t> sizes_;  // of the sets, likewise
    std::uint32_t card_x_ = 1;
    std::optional<std::int32_t> counted_;  // whose table this is:
    std::vector<std::uint32_t> counts_, varied_sizes_;
    std::vector<std::uint32_t> below_;  // [state * ends + end]: the rows before each end that have this state
    std::vector<Words> sets_;           // its states but the last, as rows in this order
    std::vector<std::uint32_t> room_;
    // Scratch of a join: where each stratum goes, [state * strata + stratum]; the next ends, the next order, its keys.
    std::vector<std::uint32_t> number_, next_ends_, next_order_;
    std::vector<std::uint64_t> next_keys_;
};

// The rows as the last question left them, if z can be reached from there; else sorted by x alone.
std::shared_ptr<SortedRows> rows_towards(const Store& store, std::int32_t x, std::span<const std::int32_t> z);
void keep_rows(const Store& store, std::shared_ptr<SortedRows> rows);  // for the next question, if memory allows

}  // namespace mnlearn
