// What the kernels for NEON share: sizes of sets and masks of bytes.
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

namespace mnlearn {
namespace {
namespace neon {

constexpr std::size_t kVectorsPerByteSum = 31;  // a byte of a running count gains at most 8 a vector: 248 fit

inline uint64x2_t load(const std::uint64_t* words) { return vld1q_u64(words); }

// Adds the bits of each byte.
inline void add_bits(uint8x16_t& bytes, uint64x2_t rows) {
    bytes = vaddq_u8(bytes, vcntq_u8(vreinterpretq_u8_u64(rows)));
}

// The bits of many vectors: four running counts, so that none waits for another.
struct Size {
    uint32x4_t total = vdupq_n_u32(0);

    // vector(k): 128 bits. A multiple of four of them.
    template <class Vector128> void add(std::size_t n_vectors, const Vector128& vector) {
        for (std::size_t k = 0; k < n_vectors;) {
            constexpr std::size_t kTogether = 4 * kVectorsPerByteSum;
            const std::size_t end = n_vectors - k < kTogether ? n_vectors : k + kTogether;
            uint8x16_t bytes[4] = {vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0)};
            for (; k < end; k += 4)
                for (std::size_t j = 0; j < 4; ++j) add_bits(bytes[j], vector(k + j));
            uint16x8_t sum = vpaddlq_u8(bytes[0]);
            for (std::size_t j = 1; j < 4; ++j) sum = vpadalq_u8(sum, bytes[j]);
            total = vpadalq_u16(total, sum);
        }
    }
    std::uint32_t bits() const { return vaddvq_u32(total); }
};

// Bit k of the result is set where byte k of the four vectors is all ones rather than zero.
inline std::uint64_t bits_of(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    const uint8x16_t place = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    const uint8x16_t first = vpaddq_u8(vandq_u8(a, place), vandq_u8(b, place));
    const uint8x16_t second = vpaddq_u8(vandq_u8(c, place), vandq_u8(d, place));
    const uint8x16_t bytes = vpaddq_u8(vpaddq_u8(first, second), vdupq_n_u8(0));
    return vgetq_lane_u64(vreinterpretq_u64_u8(bytes), 0);
}

}  // namespace neon
}  // namespace
}  // namespace mnlearn
