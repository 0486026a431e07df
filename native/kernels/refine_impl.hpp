// Parting row lists, written once over the type of a row number and compiled once per instruction set.
//
// Everything is in an anonymous namespace: the instruction sets must not share an inline function.
#include <cstring>

#include "kernels/refine.hpp"
#include "kernels/vertical.hpp"

namespace mnlearn {
namespace {

constexpr std::uint32_t kMostParts = 9;  // of a variable that has planes

// Every row is written to both parts, and only one of them moves on: no branch that nobody could predict.
template <class Row>
void part_in_two(const Row* rows, std::size_t n, const std::uint8_t* codes, Row*& zero, Row*& one) {
    Row *first = zero, *second = one;
    for (std::size_t k = 0; k < n; ++k) {
        const Row row = rows[k];
        const std::size_t code = codes[row];
        *first = *second = row;
        first += 1 - code;
        second += code;
    }
    zero = first, one = second;
}

template <class Row> void part_row_by_row(const RefineQuery<Row>& q, const Row* rows, std::size_t n, Row** parts) {
    if (q.card == 2) return part_in_two(rows, n, q.codes, parts[0], parts[1]);
    for (std::size_t k = 0; k < n; ++k) *parts[q.codes[rows[k]]]++ = rows[k];
}

// Whole vectors, up to kRefineSpill numbers more than there are: lists are short, and a call for each would show.
template <class Row> void copy_rows(const Row* from, std::size_t n, Row* to) {
    constexpr std::size_t kBytes = 64, kStep = kBytes / sizeof(Row);
    for (std::size_t k = 0; k < n; k += kStep) std::memcpy(to + k, from + k, kBytes);
}

// Part: appends the rows of a list to its parts, which it moves on. The first part goes where it belongs, the others
// follow when its size is known.
template <class Row, class Part> void refine_lists(const RefineQuery<Row>& q, Part part) {
    Row *next = q.out, *ends[kMostParts];
    std::size_t place = 0;
    for (std::size_t list = 0; list < q.n_lists; ++list) {
        const auto n = static_cast<std::size_t>(q.sizes[list]), room = n + kRefineSpill;
        ends[0] = next;
        for (std::uint32_t a = 1; a < q.card; ++a) ends[a] = q.scratch + (a - 1) * room;
        part(q, q.rows + q.begin[list], n, ends);
        for (std::uint32_t a = 0; a < q.card; ++a, ++place) {
            const Row* begin = a == 0 ? next : q.scratch + (a - 1) * room;
            const auto size = static_cast<std::size_t>(ends[a] - begin);
            if (a > 0) copy_rows(begin, size, next);
            q.starts[place] = static_cast<std::uint32_t>(next - q.out);
            q.ends[place] = q.starts[place] + static_cast<std::uint32_t>(size);
            for (std::size_t k = 0; k < kListStep; ++k) next[size + k] = q.empty;
            next += (size + kListStep - 1) / kListStep * kListStep;
        }
    }
}

}  // namespace
}  // namespace mnlearn
