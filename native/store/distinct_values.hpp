// The distinct values of a column and the code of each row: the pass over the cells of a table in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mnlearn {

enum class CellType { int8, int16, int32, int64, uint8, uint16, uint32, uint64, bits, string, large_string, view };

// A column as Arrow or NumPy holds it. Row k is value offset + k of the buffers.
struct Cells {
    CellType type = CellType::int64;
    const void* values = nullptr;         // numbers, bits, ends of strings, or views
    const void* const* bytes = nullptr;   // the bytes of strings; for views, of those that are not in the view itself
    const std::uint8_t* valid = nullptr;  // a bit for each value, 0 where it is missing; null if none is
    std::size_t offset = 0;
    std::size_t n_rows = 0;
};

// A string of a column; none where it is missing.
std::optional<std::string_view> string_at(const Cells& cells, std::size_t row);

// The distinct values, ascending; strings in the order of their bytes, which is that of their code points.
struct DistinctValues {
    bool any_missing = false;
    std::vector<std::uint64_t> numbers;     // signed ones as two's complement; false and true as 0 and 1
    std::vector<std::string_view> strings;  // views of the column
    std::vector<std::uint16_t> wide;        // the codes, where a byte does not hold them

    std::size_t n_codes() const { return numbers.size() + strings.size() + any_missing; }
};

// Finds the distinct values of one column after another; scratch memory is kept between them.
class ValueCoder {
public:
    static constexpr std::size_t kMostValues = 65'535;

    // Writes the code of each row: its place among the distinct values; after a 0 for missing, if any value is. Codes
    // above 255 go to `wide` instead. Returns whether there are at most `kMostValues` distinct values.
    bool code(const Cells& cells, std::uint8_t* codes);

    const DistinctValues& found() const { return found_; }

    // For strings that come one by one: start, each row, finish.
    void start(std::size_t n_rows);
    bool add_string(std::size_t row, std::string_view text);
    void add_missing(std::size_t row) {
        found_.any_missing = true;
        first_codes_[row] = 0;
    }
    void add_again(std::size_t row, std::size_t earlier) { first_codes_[row] = first_codes_[earlier]; }
    void finish_strings(std::uint8_t* codes);

private:
    struct Slot {
        std::uint64_t key;
        std::uint32_t length, code;  // no code is 0: an empty slot
    };

    template <class Number> bool code_numbers(const Cells& cells, const Number* values, std::uint8_t* codes);
    template <class Number> bool code_near(const Cells& cells, const Number* values, Number low, std::uint8_t* codes);
    template <class Offset> bool code_strings(const Cells& cells);
    bool code_views(const Cells& cells);
    bool add(std::size_t row, std::uint64_t key, std::string_view text);
    bool add_new(std::size_t row, std::uint64_t key, std::string_view text);
    void enlarge();
    template <class Less> void finish(Less less, std::uint8_t* codes);

    DistinctValues found_;
    std::vector<std::uint8_t> flags_;         // bits, a byte each
    std::vector<std::uint16_t> first_codes_;  // of the rows, in order of first occurrence; 0 is missing
    std::vector<Slot> slots_;
    std::vector<std::uint64_t> keys_;        // of the distinct values, in order of first occurrence
    std::vector<std::string_view> strings_;  // likewise
    std::vector<std::uint32_t> order_;       // their places, ascending by value
    std::vector<std::uint16_t> ranks_;       // codes of the values by those in order of first occurrence
    int shift_ = 0;
};

// Numbers of 1, 2, 4 or 8 bytes in rows and columns, with any steps between them (in bytes).
struct NumberBlock {
    const void* values;
    std::size_t item_bytes, n_rows, n_columns;
    std::ptrdiff_t row_step, column_step;
};

// Copies some columns of a block one after the other.
void gather_columns(const NumberBlock& block, std::size_t first, std::size_t n, void* to);

}  // namespace mnlearn
