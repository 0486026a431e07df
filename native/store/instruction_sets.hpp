// The code paths: kernels compiled for an instruction set, and what they cost. Each store uses one of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel_table.hpp"
#include "scan/cost_constants.hpp"

namespace mnlearn {

struct InstructionSet : KernelTable {
    InstructionSet(std::string_view label, const KernelTable& kernels, const CostConstants& constants,
                   double nanoseconds_a_word)
        : KernelTable(kernels), name(label), costs(constants), tree_word(nanoseconds_a_word) {}

    std::string_view name;
    CostConstants costs;  // for the cost model of scan/cost_model.cpp
    double tree_word;     // nanoseconds for a word of a set that count_tree splits off
};

// Fastest first; only those that this processor and operating system can run.
const std::vector<InstructionSet>& available_instruction_sets();

// The instruction set called `name`; the fastest one when `name` is empty. Throws std::invalid_argument otherwise.
const InstructionSet& choose_instruction_set(const std::string& name);

}  // namespace mnlearn
