// Random numbers by counting: Philox 4x64 with ten rounds (Salmon, Moraes, Dror & Shaw, SC 2011). A block of four
// numbers is a function of key and counter alone, so the same key gives the same numbers on every machine. The order
// is that of NumPy's Philox, which the tests compare with.
#pragma once

#include <array>
#include <cstdint>

#include "portability.hpp"

namespace mnlearn {

class Philox {
public:
    Philox(std::uint64_t key, std::uint64_t stream) : key_{key, stream} {}

    std::uint64_t bits() {
        if (used_ == kAhead) refill();
        return numbers_[used_++];
    }

    // From [0, 1), a multiple of 2^-53.
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

private:
    // Blocks do not depend on one another: many at a time keep the multipliers busy.
    static constexpr unsigned kAhead = 64;

    void refill() {
        for (unsigned at = 0; at < kAhead; at += 4) {
            ++counter_;  // 2^64 blocks are never used up, so the higher words stay zero
            std::uint64_t c0 = counter_, c1 = 0, c2 = 0, c3 = 0, k0 = key_[0], k1 = key_[1];
            for (int round = 0; round < 10; ++round) {
                const HighLow x = multiply_wide(0xD2E7470EE14C6C93, c0), y = multiply_wide(0xCA5A826395121157, c2);
                c0 = y.high ^ c1 ^ k0;
                c1 = y.low;
                c2 = x.high ^ c3 ^ k1;
                c3 = x.low;
                k0 += 0x9E3779B97F4A7C15;
                k1 += 0xBB67AE8584CAA73B;
            }
            numbers_[at] = c0;
            numbers_[at + 1] = c1;
            numbers_[at + 2] = c2;
            numbers_[at + 3] = c3;
        }
        used_ = 0;
    }

    std::array<std::uint64_t, 2> key_;
    std::uint64_t counter_ = 0;
    std::array<std::uint64_t, kAhead> numbers_{};
    unsigned used_ = kAhead;
};

}  // namespace mnlearn
