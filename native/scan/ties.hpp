// When two scores tie: the same numbers as in mnlearn/numbers.py.
#pragma once

#include <algorithm>
#include <cmath>

namespace mnlearn {

constexpr double kTieAbsolute = 1e-9, kTieRelative = 1e-12;

// Whether a score is larger than another by more than rounding.
inline bool exceeds(double score, double than) {
    return score > than + std::max(kTieAbsolute, kTieRelative * std::max(std::abs(score), std::abs(than)));
}

}  // namespace mnlearn
