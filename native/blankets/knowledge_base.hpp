// What the answers already paid for imply: the knowledge base K and the rules of Algorithm 5 of [JAIR09].
//
// The twin of `Answers` and its rules in tests/references/gsimn.py, which say it in the words of the paper. A set of
// variables is n bits in words; the sets of a pair are kept in the order in which they came, and found in constant
// time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mnlearn {

// Who answers a question: the data, or else the first rule that can, dependences first  [JAIR09, Sec. 4.6].
enum class AnsweredBy : std::uint8_t {
    data,
    dependent_by_strong_union,        // lines 7-9
    dependent_by_triangle,            // lines 10-14
    independent_by_strong_union,      // lines 15-17
    independent_by_triangle,          // lines 18-22
    independent_by_mirrored_triangle  // the same with x and y exchanged
};
inline bool says_dependent(AnsweredBy rule) {
    return rule == AnsweredBy::dependent_by_strong_union || rule == AnsweredBy::dependent_by_triangle;
}

using Bits = std::vector<std::uint64_t>;
inline void put(Bits& set, std::int32_t v) { set[static_cast<std::size_t>(v) / 64] |= std::uint64_t{1} << v % 64; }
inline void take(Bits& set, std::int32_t v) { set[static_cast<std::size_t>(v) / 64] &= ~(std::uint64_t{1} << v % 64); }

// Sets of variables, each known by its number.
class Sets {
public:
    explicit Sets(std::size_t n_variables) : n_words_((n_variables + 63) / 64) {}

    std::size_t n_words() const { return n_words_; }
    const std::uint64_t* operator[](std::uint32_t set) const { return words_.data() + set * n_words_; }
    std::uint32_t enter(const Bits& set);  // a scan enters many answers given one set: the last set is not kept twice

    bool equal(std::uint32_t a, std::uint32_t b) const { return a == b || equal((*this)[a], (*this)[b]); }
    bool equal(const std::uint64_t* a, const std::uint64_t* b) const;
    bool contains(const std::uint64_t* a, const std::uint64_t* b) const;  // a ⊇ b

private:
    std::size_t n_words_;
    std::vector<std::uint64_t> words_;
};

// For each pair: the sets given which it was found dependent (or all those given which it was found independent).
class Facts {
public:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    Facts(std::size_t n_variables, const Sets& sets);
    // Those y for which x has a set, as bits.
    const std::uint64_t* others(std::int32_t x) const {
        return others_.data() + static_cast<std::size_t>(x) * sets_.n_words();
    }
    // The first set of the pair that fits.
    template <class Fits> std::uint32_t first(std::int32_t x, std::int32_t y, Fits fits) const {
        for (std::uint32_t k = first_[pair(x, y)]; k != kNone; k = nodes_[k].next)
            if (fits(sets_[nodes_[k].set])) return nodes_[k].set;
        return kNone;
    }
    bool add(std::int32_t x, std::int32_t y, std::uint32_t set);  // whether it is news

private:
    struct Node {
        std::uint32_t set, next;
    };
    static std::size_t pair(std::int32_t x, std::int32_t y) {
        const auto low = static_cast<std::size_t>(x < y ? x : y), high = static_cast<std::size_t>(x < y ? y : x);
        return high * (high - 1) / 2 + low;
    }

    const Sets& sets_;
    Bits others_;                       // a row of bits for each x
    std::vector<std::uint32_t> first_;  // of each pair: its first node
    std::vector<Node> nodes_;
};

class KnowledgeBase {
public:
    KnowledgeBase(std::size_t n_variables, bool mirrored);
    KnowledgeBase(const KnowledgeBase&) = delete;  // its facts look at its sets
    KnowledgeBase& operator=(const KnowledgeBase&) = delete;

    std::size_t n_variables() const { return n_variables_; }
    Bits no_variables() const { return Bits(sets_.n_words(), 0); }

    // Who answers whether x ⟂ y | z: `data` where no rule does.
    AnsweredBy implied(std::int32_t x, std::int32_t y, const Bits& z);
    // The same, and what a rule says is known from now on  [lines 13, 21].
    AnsweredBy infer(std::int32_t x, std::int32_t y, const Bits& z);
    // What the data said  [line 25].
    void learn(std::int32_t x, std::int32_t y, const Bits& z, bool independent);

private:
    struct Implied {
        AnsweredBy source;
        std::uint32_t set = Facts::kNone;    // for which set it is known;
        std::uint32_t other = Facts::kNone;  // if not none: for what the two have in common
    };
    Implied look_up(std::int32_t x, std::int32_t y, const Bits& z);
    Implied dependent_by_triangle(std::int32_t y, const Bits& z) const;
    std::uint32_t independent_by_triangle(std::int32_t x, std::int32_t y, const Bits& z) const;
    void add(std::int32_t x, std::int32_t y, std::uint32_t set, bool independent);

    // What is asked next is asked about the same x, given the same z or a little more: `near` is kept.
    void find_near(std::int32_t x, const Bits& z);

    std::size_t n_variables_;
    bool mirrored_;
    Sets sets_;
    Facts dependent_, independent_;
    std::int32_t x_ = -1;
    Bits near_z_, near_;                   // each w with x ⟂̸ w | a for some a ⊇ near_z,
    std::vector<std::uint32_t> near_set_;  // [w]: and the first such a
    Bits scratch_;
};

}  // namespace mnlearn
