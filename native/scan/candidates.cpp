#include "scan/candidates.hpp"

namespace mnlearn {

namespace {

constexpr std::int32_t kGroup = kLanes;  // planes that stand side by side

}  // namespace

Candidates::Candidates(const Store& store, std::span<const std::int32_t> asked)
    : ys(asked), n_states(asked.size()), n_groups(1) {
    std::int32_t signs = ys.empty() ? 0 : ys[0], steps = 0, others = 1;
    for (std::size_t k = 1; k < ys.size(); ++k) {
        signs |= ys[k];
        steps |= ys[k] - ys[k - 1];
        others += ((ys[k] ^ ys[k - 1]) & -kGroup) != 0;  // another group of so many
    }
    n_groups = static_cast<std::size_t>(others);
    if (store.plain() && signs >= 0)  // the plane of a variable has its number, and no y is constant
        in_order = steps >= 0;
    else
        look_at_each(store);
}

void Candidates::look_at_each(const Store& store) {
    std::uint32_t last = 0;
    n_states = n_groups = 0;
    for (const std::int32_t y : ys) {
        const std::uint32_t plane = y == kConstant ? kNoPlane : store.first_plane(y);
        const std::uint32_t card = y == kConstant ? 1 : store.column(static_cast<std::size_t>(y)).card;
        have_planes = have_planes && plane != kNoPlane;
        are_binary = are_binary && card == 2;
        n_states += card - 1;
        if (plane == kNoPlane) continue;
        in_order = in_order && plane >= last;
        n_groups += (n_groups == 0 || plane / kGroup != last / kGroup) + (plane % kGroup + card - 2) / kGroup;
        last = plane;
    }
}

}  // namespace mnlearn
