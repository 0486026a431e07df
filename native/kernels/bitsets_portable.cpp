#include "kernels/bitsets_impl.hpp"

namespace mnlearn {
namespace {

typedef std::uint64_t Vector __attribute__((vector_size(16)));

}  // namespace

void split_set_portable(const SplitQuery& query) { split_set<Vector>(query); }

std::uint32_t* list_bits_portable(const std::uint64_t* set, std::size_t words, std::int64_t, std::uint32_t* rows) {
    return list_by_fours(set, words, rows);
}

}  // namespace mnlearn
