// Random numbers by counting: Philox 4x64 with ten rounds (Salmon, Moraes, Dror & Shaw, SC 2011). A block of four
// numbers is a function of key and counter alone, so the same key gives the same numbers on every machine. The order
// is that of NumPy's Philox, which the tests compare with.
#pragma once

#include <array>
#include <cstdint>

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

    struct Wide {
        std::uint64_t high, low;
    };

    static Wide multiply(std::uint64_t a, std::uint64_t b) {
#ifdef __SIZEOF_INT128__
        __extension__ using Full = unsigned __int128;
        const Full product = static_cast<Full>(a) * b;
        return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
#else
        const std::uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
        const std::uint64_t low = a0 * b0, left = a1 * b0 + (low >> 32), right = a0 * b1 + (left & 0xffffffff);
        return {a1 * b1 + (left >> 32) + (right >> 32), a * b};
#endif
    }

    void refill() {
        for (unsigned at = 0; at < kAhead; at += 4) {
            ++counter_;  // 2^64 blocks are never used up, so the higher words stay zero
            std::uint64_t c0 = counter_, c1 = 0, c2 = 0, c3 = 0, k0 = key_[0], k1 = key_[1];
            for (int round = 0; round < 10; ++round) {
                const Wide x = multiply(0xD2E7470EE14C6C93, c0), y = multiply(0xCA5A826395121157, c2);
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
