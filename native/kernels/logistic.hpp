// Kernels of logistic regressions: the loss of grouped rows, and rows as the bits of planes.
//
// Sums run in eight lanes, whatever the instruction set, so every code path has the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

// Rows that agree in all columns are one group: how many they are, and how many of them have the answer 1.
struct LogisticGroups {
    std::size_t n_groups;  // a multiple of 8; groups of no rows fill it up
    std::size_t n_columns;
    const double* columns;  // [j * n_groups + u]
    const double *total, *ones;
};
// −log L; of every group also the residual n p − ones and the weight n p (1 − p).
using LogisticLoss = double (*)(const LogisticGroups&, const double* b, double* residual, double* weight);
// Of each plane: Σ values[i] over the bits i that are set; 64 numbers for every word.
using SumsOfBits = void (*)(const std::uint64_t* const* planes, std::size_t n_planes, std::size_t n_words,
                            const double* values, double* sums);
// keys[i] = 2 keys[i] + bit i; 64 keys for every word.
using AppendBits = void (*)(const std::uint64_t* plane, std::size_t n_words, std::uint32_t* keys);

struct LogisticKernels {
    LogisticLoss loss;
    SumsOfBits sums_of_bits;
    AppendBits append_bits;
};

}  // namespace mnlearn
