// New rows from old ones and a structure: every value is drawn given the present values of its neighbours, with the
// frequencies that the old rows show. No parameters are fitted: the rows are the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mnlearn {

// The old rows, column by column (the codes of x begin at codes[x * n_rows]), and the neighbours of every variable:
// those of x are neighbors[starts[x]] .. neighbors[starts[x + 1]].
struct MarkovianModel {
    std::size_t n_rows;
    std::span<const std::uint8_t> codes;
    std::span<const std::int32_t> cards;
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> neighbors;
};

// How a frequency becomes a weight: exp(b f) of the frequency f given the neighbours, the same of the frequency of
// value and neighbours together, or the frequency itself. A configuration that no old row has gives equal weights.
enum class Weighing { conditional, joint, plain };
Weighing parse_weighing(const std::string& name);

struct MarkovianPlan {
    Weighing weighing;
    double inverse_temperature;  // b
    std::size_t n_updates, n_new;
    std::uint64_t key;
    int n_threads;
    std::string level;  // the instruction set, by name; empty for the fastest
};

inline constexpr std::size_t kTogether = 64;  // new rows that are drawn together

// Throws std::invalid_argument unless every code and every neighbour is one.
void check_markovian(const MarkovianModel& model, const MarkovianPlan& plan);

// Writes rows[row][variable]: as in markovian_binary if every variable is binary, else as follows. Rows
// start at random and then change one variable n_updates times. Block b of 64 rows draws from the Philox stream (key,
// b), 17 numbers for the start of each variable and 17 for each update: the first has in its upper half which variable
// it is (in an update) and in its lowest 16 bits the low bits of all 64 rows; the others have the high bits of rows k,
// 16 + k, 32 + k and 48 + k, from their lowest 16 bits on.
void markovian(const MarkovianModel& model, const MarkovianPlan& plan, std::uint8_t* rows);

}  // namespace mnlearn
