// What the parts of counting take: nanoseconds of one core, for each code path. cost_model.cpp says how often each is
// paid, `papers/benchmarks plan-fit` measures them all. Only their ratios matter, and those carry over to other
// processors well enough: `papers/benchmarks plan` shows how good the choices made with them are.
#pragma once

namespace mnlearn {

struct CostConstants {
    // A scan of each way, whatever its size, beyond what any scan takes.
    double split_planes, split_columns, sorted_columns, planes, columns, keys, alone;
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
    // Numbered strata: any, a row, a configuration that could occur; then a row into a bitset, a word of a bitset.
    double strata, strata_row, strata_set, listed_row, bitset_row, bitset_word;
    // One y after the other: y, a row, a cell.
    double alone_y, alone_row, alone_cell;
    // Tables handed to the score: binary ones side by side, likewise for a few y, a cell of others.
    double table, few_table, cell;
};

inline constexpr CostConstants kAvx512Constants{
    .split_planes = 1410,
    .split_columns = 1300,
    .sorted_columns = 1180,
    .planes = 1260,
    .columns = 482,
    .keys = 1200,
    .alone = 596,
    .load_word = 1.24,
    .split_word = 0.35,
    .split_set = 16.6,
    .group_word = 0.424,
    .group_set = 1.97,
    .list_word = 16.3,
    .list_row = 0,
    .sorted_row = 0.332,
    .strung_row = 0.383,
    .list_set = 11.7,
    .column_row = 0.769,
    .far_row = 2.47,
    .column_set = 45.6,
    .column_digit = 4.97,
    .key_digit = 0.0614,
    .key_row = 1.33,
    .key_set = 10.9,
    .whole_set = 4.95,
    .lane_row = 1.23,
    .lane_set = 6.95,
    .table_row = 0.398,
    .table_cell = 2.73,
    .strata = 634,
    .strata_row = 0.994,
    .strata_set = 9.35,
    .listed_row = 2.81,
    .bitset_row = 1.62,
    .bitset_word = 0.209,
    .alone_y = 138,
    .alone_row = 0.915,
    .alone_cell = 0.651,
    .table = 0.0959,
    .few_table = 1.12,
    .cell = 2.78,
};

inline constexpr CostConstants kAvx2Constants{
    .split_planes = 1590,
    .split_columns = 0,
    .sorted_columns = 444,
    .planes = 1350,
    .columns = 164,
    .keys = 1240,
    .alone = 596,
    .load_word = 1.48,
    .split_word = 0.525,
    .split_set = 9.74,
    .group_word = 1.63,
    .group_set = 7.32,
    .list_word = 1.24,
    .list_row = 1.84,
    .sorted_row = 0,
    .strung_row = 0,
    .list_set = 46.6,
    .column_row = 2.2,
    .far_row = 5.26,
    .column_set = 250,
    .column_digit = 40.7,
    .key_digit = 0.098,
    .key_row = 1.33,
    .key_set = 10.9,
    .whole_set = 8.81,
    .lane_row = 1.25,
    .lane_set = 4.24,
    .table_row = 0.46,
    .table_cell = 0.0106,
    .strata = 634,
    .strata_row = 0.994,
    .strata_set = 9.35,
    .listed_row = 2.81,
    .bitset_row = 1.62,
    .bitset_word = 0.209,
    .alone_y = 138,
    .alone_row = 0.915,
    .alone_cell = 0.651,
    .table = 0.0532,
    .few_table = 2.26,
    .cell = 2.78,
};

inline constexpr CostConstants kPortableConstants{
    .split_planes = 1310,
    .split_columns = 0,
    .sorted_columns = 315,
    .planes = 1130,
    .columns = 27.1,
    .keys = 1080,
    .alone = 596,
    .load_word = 1.83,
    .split_word = 1.2,
    .split_set = 13.6,
    .group_word = 10.1,
    .group_set = 8.35,
    .list_word = 1.97,
    .list_row = 1.88,
    .sorted_row = 0,
    .strung_row = 0,
    .list_set = 24.1,
    .column_row = 4.81,
    .far_row = 5.51,
    .column_set = 384,
    .column_digit = 57.8,
    .key_digit = 0.0988,
    .key_row = 1.33,
    .key_set = 10.9,
    .whole_set = 7.2,
    .lane_row = 1.6,
    .lane_set = 6.77,
    .table_row = 0.501,
    .table_cell = 1.95,
    .strata = 634,
    .strata_row = 0.994,
    .strata_set = 9.35,
    .listed_row = 2.81,
    .bitset_row = 1.62,
    .bitset_word = 0.209,
    .alone_y = 138,
    .alone_row = 0.915,
    .alone_cell = 0.651,
    .table = 0.232,
    .few_table = 1.68,
    .cell = 2.78,
};

// Only emulated so far, which counts instructions and tells no times: these are the portable constants, less where a
// kernel takes fewer instructions under qemu. The other parts run the same code.
inline constexpr CostConstants neon_constants() {
    CostConstants costs = kPortableConstants;
    costs.group_word /= 4.6;
    costs.column_row /= 1.5;  // three steps an adder instead of five
    costs.column_digit /= 4.0;
    return costs;
}
inline constexpr CostConstants kNeonConstants = neon_constants();

}  // namespace mnlearn
