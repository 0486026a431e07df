#include "blankets/knowledge_base.hpp"

#include <algorithm>

namespace mnlearn {
namespace {

bool has(const Bits& set, std::int32_t v) { return set[static_cast<std::size_t>(v) / 64] >> v % 64 & 1; }

// Visits the variables of `word(k)` for each word k, in ascending order, until `visit` has seen enough.
template <class Word, class Visit> void each_member(std::size_t n_words, Word word, Visit visit) {
    for (std::size_t k = 0; k < n_words; ++k)
        for (std::uint64_t left = word(k); left; left &= left - 1)
            if (visit(static_cast<std::int32_t>(64 * k) + std::countr_zero(left))) return;
}

}  // namespace

std::uint32_t Sets::enter(const Bits& set) {
    const auto n = static_cast<std::uint32_t>(words_.size() / n_words_);
    if (n > 0 && equal((*this)[n - 1], set.data())) return n - 1;
    words_.insert(words_.end(), set.begin(), set.end());
    return n;
}

bool Sets::equal(const std::uint64_t* a, const std::uint64_t* b) const { return std::equal(a, a + n_words_, b); }

bool Sets::contains(const std::uint64_t* a, const std::uint64_t* b) const {
    for (std::size_t k = 0; k < n_words_; ++k)
        if (b[k] & ~a[k]) return false;
    return true;
}

Facts::Facts(std::size_t n_variables, const Sets& sets)
    : sets_(sets),
      others_(n_variables * sets.n_words(), 0),
      first_(n_variables * (n_variables - std::min<std::size_t>(n_variables, 1)) / 2, kNone) {}

bool Facts::add(std::int32_t x, std::int32_t y, std::uint32_t set) {
    const auto news = static_cast<std::uint32_t>(nodes_.size());
    const std::size_t key = pair(x, y);
    std::uint32_t last = kNone;
    for (std::uint32_t k = first_[key]; k != kNone; k = nodes_[k].next) {
        if (sets_.equal(nodes_[k].set, set)) return false;
        last = k;
    }
    (last == kNone ? first_[key] : nodes_[last].next) = news;
    nodes_.push_back({set, kNone});
    for (const auto& [u, v] : {std::pair{x, y}, std::pair{y, x}})
        others_[static_cast<std::size_t>(u) * sets_.n_words() + static_cast<std::size_t>(v) / 64] |= std::uint64_t{1}
                                                                                                     << v % 64;
    return true;
}

KnowledgeBase::KnowledgeBase(std::size_t n_variables, bool mirrored)
    : n_variables_(n_variables),
      mirrored_(mirrored),
      sets_(n_variables),
      dependent_(n_variables, sets_),
      independent_(n_variables, sets_),
      near_z_(no_variables()),
      near_(no_variables()),
      near_set_(n_variables),
      scratch_(no_variables()) {}

AnsweredBy KnowledgeBase::implied(std::int32_t x, std::int32_t y, const Bits& z) { return look_up(x, y, z).source; }

AnsweredBy KnowledgeBase::infer(std::int32_t x, std::int32_t y, const Bits& z) {
    const Implied found = look_up(x, y, z);
    switch (found.source) {
        case AnsweredBy::dependent_by_triangle:
            for (std::size_t k = 0; k < sets_.n_words(); ++k) scratch_[k] = sets_[found.set][k] & sets_[found.other][k];
            add(x, y, sets_.enter(scratch_), false);  // line 13
            break;
        case AnsweredBy::independent_by_triangle:
        case AnsweredBy::independent_by_mirrored_triangle:
            add(x, y, found.set, true);  // line 21
            break;
        default:
            break;  // strong union implies the set already
    }
    return found.source;
}

void KnowledgeBase::learn(std::int32_t x, std::int32_t y, const Bits& z, bool independent) {
    add(x, y, sets_.enter(z), independent);
}

KnowledgeBase::Implied KnowledgeBase::look_up(std::int32_t x, std::int32_t y, const Bits& z) {
    find_near(x, z);
    if (has(near_, y)) return {AnsweredBy::dependent_by_strong_union, near_set_[static_cast<std::size_t>(y)]};
    if (const Implied found = dependent_by_triangle(y, z); found.source != AnsweredBy::data) return found;
    std::uint32_t a = independent_.first(x, y, [&](const std::uint64_t* b) { return sets_.contains(z.data(), b); });
    if (a != Facts::kNone) return {AnsweredBy::independent_by_strong_union, a};
    a = independent_by_triangle(x, y, z);
    if (a != Facts::kNone) return {AnsweredBy::independent_by_triangle, a};
    if (!mirrored_) return {AnsweredBy::data};
    a = independent_by_triangle(y, x, z);
    return a == Facts::kNone ? Implied{AnsweredBy::data} : Implied{AnsweredBy::independent_by_mirrored_triangle, a};
}

// x ⟂̸ w | a and w ⟂̸ y | b with a, b ⊇ z give x ⟂̸ y | a ∩ b.
KnowledgeBase::Implied KnowledgeBase::dependent_by_triangle(std::int32_t y, const Bits& z) const {
    Implied found{AnsweredBy::data};
    const std::uint64_t* partners = dependent_.others(y);
    const auto above = [&](const std::uint64_t* b) { return sets_.contains(b, z.data()); };
    each_member(
        sets_.n_words(), [&](std::size_t k) { return near_[k] & partners[k]; },
        [&](std::int32_t w) {
            const std::uint32_t b = dependent_.first(w, y, above);
            if (b != Facts::kNone)
                found = {AnsweredBy::dependent_by_triangle, near_set_[static_cast<std::size_t>(w)], b};
            return b != Facts::kNone;
        });
    return found;
}

// x ⟂ w | a with a ⊆ z and w ⟂̸ y | b with b ⊇ a give x ⟂ y | a.
std::uint32_t KnowledgeBase::independent_by_triangle(std::int32_t x, std::int32_t y, const Bits& z) const {
    std::uint32_t found = Facts::kNone;
    const std::uint64_t *strangers = independent_.others(x), *partners = dependent_.others(y);
    each_member(
        sets_.n_words(), [&](std::size_t k) { return strangers[k] & partners[k]; },
        [&](std::int32_t w) {
            found = independent_.first(x, w, [&](const std::uint64_t* a) {
                const auto above = [&](const std::uint64_t* b) { return sets_.contains(b, a); };
                return sets_.contains(z.data(), a) && dependent_.first(w, y, above) != Facts::kNone;
            });
            return found != Facts::kNone;
        });
    return found;
}

void KnowledgeBase::add(std::int32_t x, std::int32_t y, std::uint32_t set, bool independent) {
    const bool news = (independent ? independent_ : dependent_).add(x, y, set);
    if (!news || independent || (x != x_ && y != x_)) return;
    const std::int32_t other = x == x_ ? y : x;
    if (has(near_, other) || !sets_.contains(sets_[set], near_z_.data())) return;
    put(near_, other);
    near_set_[static_cast<std::size_t>(other)] = set;
}

void KnowledgeBase::find_near(std::int32_t x, const Bits& z) {
    if (x == x_ && z == near_z_) return;
    const bool grew = x == x_ && sets_.contains(z.data(), near_z_.data());  // who is near now was so before
    const std::uint64_t* partners = dependent_.others(x);
    const auto above = [&](const std::uint64_t* a) { return sets_.contains(a, z.data()); };
    x_ = x;
    near_z_ = z;
    each_member(
        sets_.n_words(), [&](std::size_t k) { return grew ? near_[k] : near_[k] = partners[k] & ~z[k]; },
        [&](std::int32_t w) {
            const std::uint32_t a = dependent_.first(x, w, above);
            near_set_[static_cast<std::size_t>(w)] = a;
            if (a == Facts::kNone) take(near_, w);
            return false;
        });
}

}  // namespace mnlearn
