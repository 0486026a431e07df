// Memory for a kernel, and the little arithmetic it needs from outside.
//
// In an anonymous namespace, and without the containers of the standard library: compiled for AVX-512 in one file
// and for every processor in another, the linker would keep only one copy of theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "portability.hpp"

namespace mnlearn {
namespace {

// `count` zeroed values at a multiple of 64 bytes; T is a plain number, pointer or vector of numbers.
template <class T> class Scratch {
public:
    explicit Scratch(std::size_t count)
        : values_(static_cast<T*>(::operator new((count ? count : 1) * sizeof(T), std::align_val_t{64}))) {
        for (std::size_t k = 0; k < count; ++k) values_[k] = T{};
    }
    ~Scratch() { ::operator delete(values_, std::align_val_t{64}); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    T* data() const { return values_; }
    T& operator[](std::size_t k) const { return values_[k]; }

private:
    T* values_;
};

// Numbers of 64 bits in a register of this instruction set, and the register as a vector.
#if defined(__AVX512F__)
constexpr int kWidth = 8;
#elif defined(__AVX2__)
constexpr int kWidth = 4;
#else
constexpr int kWidth = 2;
#endif
using Vector = Vec<std::uint64_t, kWidth>;

inline std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

}  // namespace
}  // namespace mnlearn
