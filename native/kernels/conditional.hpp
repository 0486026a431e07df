// Kernels of log-linear conditionals P(x | groups): their likelihood, information and one-step gains.
//
// Sums run in eight lanes, whatever the instruction set, so every code path has the same bits. Matrices are row-major;
// of a symmetric one the upper triangle is used, and its factor U (A = U'U) takes its place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

inline constexpr std::size_t kFitLanes = 8;
inline constexpr std::size_t in_lanes(std::size_t size) { return (size + kFitLanes - 1) / kFitLanes * kFitLanes; }

// A binary x: P(x = 0 | u) = 1 / (1 + exp(-√2 Σ_q weight_q feature_q(u))).
struct BinaryGroups {
    std::size_t n_groups;  // a multiple of 8; groups of no rows fill it up
    std::size_t n_features;
    const double* features;  // [q * n_groups + u]
    const double *zeros, *ones;
};
// The log likelihood; first[u] = P(x = 0 | u), second[u] = P(x = 1 | u).
using BinaryPosterior = double (*)(const BinaryGroups&, const double* weights, double* first, double* second);
// surplus[u]: Σ (C_x - mean) over the rows of the group; gradient[q]: its sum with the features.
using BinaryGradient = void (*)(const BinaryGroups&, const double* first, const double* second, double* surplus,
                                double* gradient);
// upper[q, r] = Σ_u weight_u feature_q(u) feature_r(u); room: n_groups numbers.
using WeightedGram = void (*)(const BinaryGroups&, const double* weight, double* room, double* upper);

// One-step gains of eight binary y of a binary x. zero[(u * 2 + a) * 8 + lane]: rows of group u with x = a, y = 0.
struct BinaryGains {
    const BinaryGroups* groups;
    const double *first, *second;
    const double* weighted;  // [q * n_groups + u]: variance times feature
    const double* upper;     // factor of the information
    const double* zero;
    std::size_t n_groups;  // those with rows
    double* room;          // n_features * 8 numbers
    double* gain;          // 8
};
using FindBinaryGains = void (*)(const BinaryGains&);

// F of eight binary y of a binary x, from the same counts; `half`, `whole`: tables of rising log-gamma.
struct BinaryTables {
    const double* counts;  // of x: [u * stride + a]
    std::size_t stride;
    const double* zero;
    std::size_t n_groups;
    const double *half, *whole;
    double* score;  // 8
};
using ScoreBinaryTables = void (*)(const BinaryTables&);

// What a neighbour is to the model: a state in every group, and numbers that code each state.
struct CodedMember {
    const std::uint32_t* states;  // by group
    const double* coding;         // [state * width + e]
    std::size_t card, width;
    std::size_t first;  // its first feature; feature 0 is the intercept
};
// x of any number of states, by its contrasts C. Parameter q * width + k is the weight of feature q on contrast k.
struct GeneralGroups {
    std::size_t n_groups, card, width, n_members;
    const CodedMember* members;
    const double* contrasts;  // [a * width + k]
    const double* counts;     // [u * in_lanes(card) + a]
    const double* sizes;      // [u]
};
// The log likelihood. tables: room for in_lanes(card) numbers for the intercept and each state of each member.
using GeneralPosterior = double (*)(const GeneralGroups&, const double* weights, double* tables, double* probabilities,
                                    double* sums);
// Mean and covariance of the contrasts in each group, Σ (C_x - mean) over its rows.
struct GeneralMoments {
    const double* probabilities;
    double *mean, *spread, *surplus;  // strides in_lanes(width), in_lanes(width²), in_lanes(width)
};
// Mean, surplus and gradient; room: in_lanes(width) numbers for the intercept and each state of each member.
using GeneralGradient = void (*)(const GeneralGroups&, const GeneralMoments&, double* room, double* gradient);
// Covariance and information. cells: Σ rows · spread, for the intercept, each state of a member, each pair of states
// of two members. room: see information_room in evidence/pairwise_model.cpp.
using GeneralInformation = void (*)(const GeneralGroups&, const GeneralMoments&, double* cells, double* room,
                                    double* upper);

// A block of features that depends on a state, such as that of one more neighbour, in every entry.
struct Entries {
    std::size_t n_entries;
    const std::uint32_t *group, *state;
    const double* rows;
    const double* surplus;  // stride in_lanes(width)
};
// Σ over the entries in each state: spread[s * in_lanes(width²)], surplus[s * in_lanes(width)].
using SumEntries = void (*)(const GeneralGroups&, const double* spread, const Entries&, double* by_state,
                            double* surplus_by_state);
// Σ rows · spread in each state s of the block, for the intercept and each state of a member.
using CrossEntries = void (*)(const GeneralGroups&, const double* spread, const Entries&, std::size_t n_states,
                              double* crossed);
struct CodedBlock {
    std::size_t n_states, width;
    const double* coding;  // [state * width + e]
};
// cross[(q * x_width + k) * stride + e * x_width + l] from `crossed`.
using ContractCross = void (*)(const GeneralGroups&, const CodedBlock&, const double* crossed, double* room,
                               double* cross, std::size_t stride);

// In place; false if the matrix is not positive definite.
using Factorise = bool (*)(double* upper, std::size_t size);
// columns := U'^-1 columns, `stride` numbers a row, a multiple of 8.
using SolveColumns = void (*)(const double* upper, std::size_t size, double* columns, std::size_t stride);
// matrix -= columns' columns, upper triangle, with `width` columns.
using SubtractSquares = void (*)(const double* columns, std::size_t size, std::size_t stride, std::size_t width,
                                 double* matrix);
using DotRows = double (*)(const double* a, const double* b, std::size_t size);

struct ConditionalKernels {
    BinaryPosterior binary_posterior;
    BinaryGradient binary_gradient;
    WeightedGram weighted_gram;
    FindBinaryGains binary_gains;
    ScoreBinaryTables binary_tables;
    GeneralPosterior general_posterior;
    GeneralGradient general_gradient;
    GeneralInformation general_information;
    SumEntries sum_entries;
    CrossEntries cross_entries;
    ContractCross contract_cross;
    Factorise factorise;
    SolveColumns solve_columns;
    SubtractSquares subtract_squares;
    DotRows dot;
};

}  // namespace mnlearn
