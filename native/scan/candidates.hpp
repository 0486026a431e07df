// The candidates y of a scan, looked at once: all that the choice of a way of counting asks about them.
#pragma once

#include <cstdint>
#include <span>

#include "store/store.hpp"

namespace mnlearn {

inline constexpr std::int32_t kConstant = -1;  // as y: the constant stand-in, which turns a scan into x given z alone
inline const Column kConstantColumn{};
inline const Column& column_of(const Store& store, std::int32_t v) {
    return v == kConstant ? kConstantColumn : store.column(static_cast<std::size_t>(v));
}

struct Candidates {
    Candidates(const Store& store, std::span<const std::int32_t> ys);

    std::span<const std::int32_t> ys;
    bool have_planes = true;  // every one of them
    bool are_binary = true;   // every one of them
    bool in_order = true;     // of their planes, where they have them
    std::size_t n_states;     // Σ (states − 1): planes, where every one has them
    std::size_t n_groups;     // of eight planes in which they stand, about; in order, exactly for binary ones

private:
    void look_at_each(const Store& store);
};

}  // namespace mnlearn
