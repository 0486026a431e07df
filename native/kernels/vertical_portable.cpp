// The vertical count on vectors of 16 bytes.
#include "kernels/vertical_impl.hpp"

namespace mnlearn {
namespace {

typedef std::uint64_t Vector __attribute__((vector_size(16)));

}  // namespace

void count_vertical_portable(const VerticalQuery& query) {
    count_vertical<Vector>(query, [](const Counter<Vector>& counter, std::uint32_t* counts) { counter.write(counts); });
}

// Four at a time: how many bits a word has is hard to foretell, that it has no more than four, or eight, is not.
std::uint32_t* list_bits_portable(const std::uint64_t* set, std::size_t words, std::int64_t, std::uint32_t* rows) {
    for (std::size_t w = 0; w < words; ++w) {
        std::uint64_t left = set[w];
        const int size = std::popcount(left);
        for (int done = 0; done < size; done += 4)
            for (int k = 0; k < 4; ++k) {
                rows[done + k] =
                    static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(left));
                left &= left - 1;
            }
        rows += size;
    }
    return rows;
}

std::uint64_t probe_loads_portable(const std::uint64_t* rows, std::size_t n_rows) {
    return load_rows<Vector>(rows, n_rows);
}

}  // namespace mnlearn
