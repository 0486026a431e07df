// Keys, written once as loops that compilers vectorise, and compiled once per instruction set.
#include "kernels/row_keys.hpp"
#include "kernels/scratch.hpp"

namespace mnlearn {
namespace {

template <class Code>
inline void append(std::uint16_t* __restrict keys, const Code* __restrict codes, std::uint16_t card, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) keys[k] = static_cast<std::uint16_t>(keys[k] * card + codes[k]);
}

// Block by block: the keys stay in the first cache while all digits are appended.
inline void make_keys(const KeyQuery& q) {
    constexpr std::size_t kRowsTogether = 4096;
    for (std::size_t begin = 0; begin < q.n_rows; begin += kRowsTogether) {
        const std::size_t n = smaller(kRowsTogether, q.n_rows - begin);
        for (std::size_t d = 0; d < q.n_digits; ++d) {
            const auto card = static_cast<std::uint16_t>(q.digits[d].card);  // 2^16 itself only for a single digit
            if (q.digits[d].narrow)
                append(q.keys + begin, q.digits[d].narrow + begin, card, n);
            else
                append(q.keys + begin, q.digits[d].wide + begin, card, n);
        }
    }
}

}  // namespace
}  // namespace mnlearn
