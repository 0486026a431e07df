// Row lists from planes: the first variables of a question split bitsets, the last ones sort the lists of those.
#include <algorithm>
#include <bit>

#include "scan/candidates.hpp"
#include "scan/row_lists.hpp"

namespace mnlearn {
namespace {

// Which variables split bitsets, and which sort by the bits of their states: x and as many of z as a key has room for.
struct Division {
    std::span<const std::int32_t> split, sorted;
    std::size_t n_split = 1;  // configurations of those that split
    int key_bits = 0;
    std::uint8_t keys[1 << kSortBits] = {};  // of the configurations of the sorted ones, in lexicographic order
    std::size_t n_keys = 1;
};
int bits_of(const Store& store, std::int32_t v) { return std::bit_width(column_of(store, v).card - 1); }

Division divide(const Store& store, std::span<const std::int32_t> z_and_x) {
    Division by{z_and_x, {}};
    while (!by.split.empty() && by.key_bits + bits_of(store, by.split.back()) <= kSortBits) {
        by.key_bits += bits_of(store, by.split.back());
        by.split = by.split.first(by.split.size() - 1);
    }
    by.sorted = z_and_x.subspan(by.split.size());
    for (const std::int32_t v : by.split) by.n_split *= column_of(store, v).card;
    for (const std::int32_t v : by.sorted) {
        const std::uint32_t card = column_of(store, v).card;
        for (std::size_t k = by.n_keys; k-- > 0;)  // from the last on, so that none is overwritten before its turn
            for (std::uint32_t a = 0; a < card; ++a)
                by.keys[k * card + card - 1 - a] =
                    static_cast<std::uint8_t>(by.keys[k] << bits_of(store, v) | (card - 1 - a));
        by.n_keys *= card;
    }
    return by;
}

// Where each bit of the key is clear. For two states that is a plane as it is.
class KeyPlanes {
public:
    KeyPlanes(const Store& store, const Division& by)
        : words_(store.planes().words), made_(store.pool(), static_cast<std::size_t>(by.key_bits) * words_) {
        for (std::size_t k = by.sorted.size(); k-- > 0;) add(store, by.sorted[k]);
    }
    const std::uint64_t* operator[](int bit) const { return bits_[bit]; }

private:
    void add(const Store& store, std::int32_t v) {
        const std::uint32_t last = column_of(store, v).card - 1;
        for (int bit = 0; bit < bits_of(store, v); ++bit, ++n_bits_)
            bits_[n_bits_] = last == 1 ? whole_plane(store, store.first_plane(v)) : bit_of_key(store, v, last, bit);
    }
    const std::uint64_t* whole_plane(const Store& store, std::size_t plane) const {
        if (const std::uint64_t* kept = store.row_bits().plane(plane, words_)) return kept;
        std::uint64_t* made = made_.get() + static_cast<std::size_t>(n_bits_) * words_;
        std::fill_n(made, words_, std::uint64_t{0});
        change(store, plane, made);
        return made;
    }
    // A row that is in no plane of a variable has its last state; a plane changes that to its own.
    const std::uint64_t* bit_of_key(const Store& store, std::int32_t v, std::uint32_t last, int bit) const {
        std::uint64_t* made = made_.get() + static_cast<std::size_t>(n_bits_) * words_;
        std::fill_n(made, words_, last >> bit & 1 ? 0 : ~std::uint64_t{0});
        for (std::uint32_t a = 0; a < last; ++a)
            if ((last ^ a) >> bit & 1) change(store, store.first_plane(v) + a, made);
        return made;
    }
    void change(const Store& store, std::size_t plane, std::uint64_t* words) const {
        const std::uint64_t* bits = store.planes().bits + (plane / kLanes) * words_ * kLanes + plane % kLanes;
        for (std::size_t w = 0; w < words_; ++w) words[w] ^= bits[w * kLanes];
    }

    std::size_t words_;
    Buffer<std::uint64_t> made_;
    int n_bits_ = 0;
    const std::uint64_t* bits_[kSortBits] = {};
};

// The lists of all blocks of rows that are sorted at a time (kernels/sort_rows.hpp).
struct BlockLists {
    static constexpr std::size_t kRows = 64 * kSortWords;  // of a block
    std::size_t n_blocks, n_lists, room;
    Buffer<std::uint16_t> rows;     // `room` of them for each block; counted from the first of the block on
    std::vector<ListPlace> places;  // [block * n_lists + list]
};
BlockLists lists_of_blocks(const Store& store, const Division& by) {
    const std::size_t words = store.planes().words, n = store.n_records();
    const Buffer<std::uint64_t> sets = sets_of_all(store, by.split);
    const KeyPlanes planes(store, by);
    const Buffer<std::uint16_t> scratch(store.pool(), kSortScratch);
    BlockLists result{(n + BlockLists::kRows - 1) / BlockLists::kRows,
                      by.n_split << by.key_bits,
                      sort_room(by.n_split, std::min(BlockLists::kRows, n), by.key_bits),
                      {},
                      {}};
    result.rows = {store.pool(), result.n_blocks * result.room};
    result.places.resize(result.n_blocks * result.n_lists);
    for (std::size_t b = 0; b < result.n_blocks; ++b) {
        const std::size_t word = b * kSortWords;
        SortQuery query{sets.get() + word,
                        by.n_split,
                        words,
                        std::min(kSortWords, words - word),
                        {},
                        by.key_bits,
                        static_cast<std::uint16_t>(n),
                        scratch.get(),
                        result.rows.get() + b * result.room,
                        result.places.data() + b * result.n_lists};
        for (int bit = 0; bit < by.key_bits; ++bit) query.planes[bit] = planes[bit] + word;
        store.level().sort_rows(query);
    }
    return result;
}

// Configurations of z that do not occur are left out, the order is kept: `which` says which list each set is.
SortedLists sized_lists(const BlockLists& blocks, const Division& by, std::uint32_t card_x,
                        std::vector<std::uint32_t>& which) {
    SortedLists result{{0, {}, {}}, {{card_x, 0, false, {}}, {}, {}, {}, {}}};
    std::vector<std::int64_t>& sizes = result.lists.x.sizes;
    sizes.reserve(by.n_split * by.n_keys);
    which.reserve(by.n_split * by.n_keys);
    result.strata.sizes.reserve(by.n_split * by.n_keys / card_x);
    for (std::size_t split = 0; split < by.n_split; ++split)
        for (std::size_t k = 0; k < by.n_keys; k += card_x) {
            std::int64_t all = 0;
            for (std::size_t a = k; a < k + card_x; ++a) {
                const std::size_t list = split << by.key_bits | by.keys[a];
                std::int64_t size = 0;
                for (std::size_t b = list; b < blocks.places.size(); b += blocks.n_lists) size += blocks.places[b].size;
                sizes.push_back(size);
                which.push_back(static_cast<std::uint32_t>(list));
                all += size;
            }
            if (!all) {
                sizes.resize(sizes.size() - card_x), which.resize(sizes.size());
                continue;
            }
            result.strata.sizes.push_back(all);
        }
    result.strata.count = result.lists.x.n_strata = result.strata.sizes.size();
    return result;
}

// A single block is as it should be; several are strung together, each from its own first row on.
void take_block(BlockLists& blocks, const std::vector<std::uint32_t>& which, SetLists& lists) {
    lists.short_rows = std::move(blocks.rows);
    lists.begin.reserve(which.size());
    lists.padded.reserve(which.size());
    for (const std::uint32_t list : which) {
        lists.begin.push_back(blocks.places[list].start);
        lists.padded.push_back(padded(blocks.places[list].size));
    }
}
template <class Row>
void string_together(const Store& store, const BlockLists& blocks, const std::vector<std::uint32_t>& which,
                     SetLists& lists) {
    place_lists<Row>(store, lists);
    for (std::size_t set = 0; set < which.size(); ++set) {
        if (set == lists.left_over) continue;
        Row* to = buffer_of<Row>(lists).get() + lists.begin[set];
        for (std::size_t b = 0; b < blocks.n_blocks; ++b) {
            const ListPlace& place = blocks.places[b * blocks.n_lists + which[set]];
            const std::uint16_t* from = blocks.rows.get() + b * blocks.room + place.start;
            const auto first = static_cast<Row>(b * BlockLists::kRows);
            to = std::transform(from, from + place.size, to,
                                [first](std::uint16_t row) { return static_cast<Row>(first + row); });
        }
        pad_list<Row>(store, lists, set);
    }
}

// The lists of all blocks as one.
void join_blocks(const Store& store, BlockLists& blocks, const std::vector<std::uint32_t>& which, SetLists& lists) {
    if (blocks.n_blocks > 1 && store.n_records() > kMostShortRows)
        return string_together<std::uint32_t>(store, blocks, which, lists);
    if (blocks.n_blocks > 1) return string_together<std::uint16_t>(store, blocks, which, lists);
    take_block(blocks, which, lists);
}

}  // namespace

SortedLists lists_from_planes(const Store& store, std::int32_t x, std::span<const std::int32_t> z) {
    if (!store.level().sort_rows) {
        PlaneSets ready = sets_from_planes(store, x, z);
        SetLists lists = lists_of_bitsets(store, ready);
        return {std::move(ready.strata), std::move(lists)};
    }
    std::vector<std::int32_t> z_and_x(z.begin(), z.end());
    z_and_x.push_back(x);
    const Division by = divide(store, z_and_x);
    BlockLists blocks = lists_of_blocks(store, by);
    std::vector<std::uint32_t> which;
    SortedLists result = sized_lists(blocks, by, column_of(store, x).card, which);
    result.lists.left_over = set_left_over(result.lists.x);
    join_blocks(store, blocks, which, result.lists);
    return result;
}

}  // namespace mnlearn
