// The states of variables in the order of sorted rows, eight sets of rows to a block (kernels/stable_partition.hpp).
//
// A block goes through the partitions that were added since it was last looked at only when one of its variables is
// asked for again; with a variable that is not held yet, those that will be asked for next are read in.
#pragma once

#include <map>

#include "scan/scan_runner.hpp"

namespace mnlearn {

// Where a plane begins; its words stand kLanes apart.
inline const std::uint64_t* plane_of(const Store& store, std::size_t plane) {
    const Planes& planes = store.planes();
    return planes.bits + plane / kLanes * planes.words * kLanes + plane % kLanes;
}

class PartitionedColumns {
public:
    using Words = std::vector<std::uint64_t>;

    explicit PartitionedColumns(const Store& store);
    void restart();                                     // no partitions, nothing held
    void expect(std::span<const std::int32_t> ys);      // who will be asked for, in this order
    void add_partition(Words by, std::size_t n_zeros);  // from now on rows are sorted by this bit first
    void forget(std::int32_t v);                        // will not be asked for soon

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
        std::size_t n_held = 0;  // variables that are asked for
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

}  // namespace mnlearn
