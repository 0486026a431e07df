// What the parts of counting take: nanoseconds of one core, for each code path. docs/engine.md says what each part is,
// benchmarks/plan_fit.py measures them all. Only their ratios matter, and those carry over to other processors well
// enough: benchmarks/plan.py shows how good the choices made with them are.
#pragma once

namespace mnlearn {

struct CostConstants {
    // A scan of each way, whatever its size, beyond what any scan takes.
    double tree, split_planes, split_columns, sorted_columns, planes, columns, keys, lanes, alone;
    // Bitsets: a word of a plane brought into line, a word of a set split off, and a set.
    double load_word, split_word, split_set;
    // Eight planes against a set: a word of it, and the counts.
    double group_word, group_set;
    // Row lists from bitsets: a word looked through, a row, a row sorted once more by the last variables, one strung
    // together from blocks, a list.
    double list_word, list_row, sorted_row, strung_row, list_set;
    // 512 columns: a row, a row that is not in the second cache, a set, a digit of a set's counters.
    double column_row, far_row, column_set, column_digit;
    // Keys: a digit of a row, a row sorted by its key, a list; a set of all that could occur, counted in lanes.
    double key_digit, key_row, key_set, whole_set;
    // Eight lanes: a row, a set. One y by its key: a row, a cell.
    double lane_row, lane_set, table_row, table_cell;
    // Numbered strata: any, a row, a configuration that could occur; then a row into a list or into a bitset.
    double strata, strata_row, strata_set, listed_row, bitset_row, bitset_word;
    // The tree: a word of a set and a state of y, a word of a set split off, a set, a set and a state of y.
    double tree_word, tree_split, tree_set, tree_state;
    // One y after the other: y, a row, a cell.
    double alone_y, alone_row, alone_cell;
    // Tables handed to the score: binary ones side by side, likewise for a few y, a cell of others.
    double table, few_table, cell;
};

extern const CostConstants kAvx512Constants, kAvx2Constants, kPortableConstants;

}  // namespace mnlearn
