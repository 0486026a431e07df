// The splitting count, written once over a type that counts common bits and compiled once per instruction set.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#pragma once

#include "kernels/planes.hpp"
#include "kernels/scratch.hpp"
#include "kernels/tree.hpp"
#include "portability.hpp"

namespace mnlearn {
namespace {
namespace tree {

using Words = AliasingVec<std::uint64_t, 8>;

// Bits::common(set, others, n, counts): counts[k] += bits that `set` and the k-th of the others share.
// Bits::size(set): the bits of one set. Sets have kTreeWords words, at multiples of 64 bytes.
template <class Bits> class Tree {
public:
    explicit Tree(const TreeQuery& query) : q_(query), memory_(n_sets(query) * kTreeWords), next_(query.n_levels + 1) {}

    void run() {
        for (std::size_t first = 0; first < q_.words; first += kTreeWords) {
            load(first);
            visit(0, set(0), 0);
        }
    }

private:
    static std::size_t n_sets(const TreeQuery& query) {
        std::size_t n = 1 + query.n_states + 2 * query.n_levels;
        for (std::size_t level = 0; level < query.n_levels; ++level) n += query.levels[level].card - 1;
        return n;
    }
    std::uint64_t* set(std::size_t place) const { return memory_.data() + place * kTreeWords; }
    std::uint64_t* states() const { return set(1); }
    std::uint64_t* part(std::size_t level) const { return set(1 + q_.n_states + 2 * level); }
    std::uint64_t* rest(std::size_t level) const { return part(level) + kTreeWords; }

    void load_plane(std::size_t plane, std::size_t first, std::uint64_t* to) const {
        const std::size_t n = smaller(kTreeWords, q_.words - first);
        const std::uint64_t* from = q_.planes + ((plane / kLanes) * q_.words + first) * kLanes + plane % kLanes;
        for (std::size_t w = 0; w < n; ++w) to[w] = from[w * kLanes];
        for (std::size_t w = n; w < used_; ++w) to[w] = 0;
    }

    // Places in memory: all rows, the counted states, two sets a level, the planes of the levels.
    void load(std::size_t first) {
        used_ = smaller(kTreeWords, (q_.words - first + 7) / 8 * 8);
        for (std::size_t w = 0; w < used_; ++w) {
            const std::size_t begin = (first + w) * 64, left = begin < q_.n_rows ? q_.n_rows - begin : 0;
            set(0)[w] = left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
        }
        for (std::size_t k = 0; k < q_.n_states; ++k) load_plane(q_.states[k], first, states() + k * kTreeWords);
        std::size_t place = 1 + q_.n_states + 2 * q_.n_levels;
        for (std::size_t level = 0; level < q_.n_levels; ++level) {
            next_[level] = set(place);
            for (std::uint32_t a = 0; a + 1 < q_.levels[level].card; ++a, ++place)
                load_plane(q_.levels[level].plane + a, first, set(place));
        }
    }

    void visit(std::size_t level, const std::uint64_t* rows, std::size_t number) const {
        if (level == q_.n_levels) return count(rows, number);
        const std::uint32_t card = q_.levels[level].card;
        if (level + 1 == q_.n_levels && q_.n_states == 0) return count_parts(rows, number * card, card);
        const std::uint64_t* whole = rows;
        for (std::uint32_t a = 0; a + 1 < card; ++a) {
            const std::uint64_t* plane = next_[level] + a * kTreeWords;
            split(whole, plane, part(level), rest(level));
            whole = rest(level);
            visit(level + 1, part(level), number * card + a);
        }
        visit(level + 1, whole, number * card + card - 1);
    }

    void split(const std::uint64_t* whole, const std::uint64_t* plane, std::uint64_t* inside,
               std::uint64_t* outside) const {
        const std::size_t n = used_ / 8;
        const auto *from = reinterpret_cast<const Words*>(whole), *states = reinterpret_cast<const Words*>(plane);
        auto *in = reinterpret_cast<Words*>(inside), *out = reinterpret_cast<Words*>(outside);
        for (std::size_t w = 0; w < n; ++w) {
            const Words rows = from[w], state = states[w];
            in[w] = rows & state;
            out[w] = rows & ~state;
        }
    }

    void count(const std::uint64_t* rows, std::size_t number) const {
        const std::uint32_t size = Bits::size(rows, used_);
        if (size == 0) return;
        q_.sizes[number] += size;
        Bits::common(rows, states(), q_.n_states, used_, q_.counts + number * q_.n_states);
    }

    // The parts by the last variable are counted without being made, the last of them by subtraction.
    void count_parts(const std::uint64_t* rows, std::size_t number, std::uint32_t card) const {
        std::uint32_t left = Bits::size(rows, used_);
        if (left == 0) return;
        std::uint32_t sizes[kMaxParts] = {};
        Bits::common(rows, next_[q_.n_levels - 1], card - 1, used_, sizes);
        for (std::uint32_t a = 0; a + 1 < card; ++a) {
            q_.sizes[number + a] += sizes[a];
            left -= sizes[a];
        }
        q_.sizes[number + card - 1] += left;
    }

    static constexpr std::size_t kMaxParts = 16;  // more than the states of a variable with planes

    const TreeQuery& q_;
    const Scratch<std::uint64_t> memory_;
    const Scratch<const std::uint64_t*> next_;  // the planes of each level, in this block
    std::size_t used_ = 0;                      // words of this block, a multiple of 8
};

}  // namespace tree
}  // namespace
}  // namespace mnlearn
