// The rows of sampling/markovian.hpp where every variable is binary: 64 to 512 rows are drawn together, a bit each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sampling/conditional_tables.hpp"
#include "sampling/markovian.hpp"

namespace mnlearn {

// Writes rows[row][variable]. A block has 1, 2, 4 or 8 words of 64 rows, the fewest that hold all rows, or 8. Block b
// takes from the Philox stream (key, b) four numbers for the generator of each word (the first of all words, then the
// second), and then for each update one, whose upper half says which variable it is. The start of a variable is one
// draw of every word; an update draws as in kernels/binary_gibbs.hpp.
void markovian_bits(const MarkovianModel& model, const MarkovianPlan& plan,
                    const std::vector<std::optional<ConditionalTable>>& lookups, std::uint8_t* rows);

}  // namespace mnlearn
