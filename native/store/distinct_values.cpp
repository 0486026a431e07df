#include "store/distinct_values.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include "store/coding.hpp"

namespace mnlearn {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
constexpr std::size_t kFewSlots = 256;
constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio: multiples are spread evenly

bool bit_of(const std::uint8_t* bits, std::size_t k) { return bits[k / 8] >> (k % 8) & 1; }

std::uint64_t load(const char* from) {
    std::uint64_t word;
    std::memcpy(&word, from, kWordBytes);
    return word;
}

// Up to eight bytes as a number. `readable`: the eight bytes from here on may be read, whether they belong or not.
std::uint64_t short_key(const char* from, std::size_t length, bool readable) {
    if (!length) return 0;
    if (std::endian::native == std::endian::little && readable)
        return load(from) & ~std::uint64_t{0} >> (64 - 8 * length);
    std::uint64_t word = 0;
    std::memcpy(&word, from, length);
    return word;
}

std::uint64_t long_key(std::string_view text) {
    std::uint64_t key = 0;
    for (std::size_t k = 0; k + kWordBytes < text.size(); k += kWordBytes)
        key = std::rotl((key ^ load(text.data() + k)) * kMix, 29);
    return (key ^ load(text.data() + text.size() - kWordBytes)) * kMix;
}

std::uint64_t string_key(std::string_view text, bool readable) {
    return text.size() <= kWordBytes ? short_key(text.data(), text.size(), readable) : long_key(text);
}

std::uint32_t slot_length(std::string_view text) {
    return static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), ~std::uint32_t{0}));
}

std::size_t first_place(std::uint64_t key, std::uint32_t length, int shift) {
    return (key + length * kMix) * kMix >> shift;
}

template <class Number> std::uint64_t wide_bits(Number value) {
    if constexpr (std::is_signed_v<Number>) return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    return static_cast<std::uint64_t>(value);
}

// A view is 16 bytes: the length, then up to 12 bytes of the string, or four of them, a buffer and a place in it.
std::string_view viewed(const Cells& cells, std::size_t row) {
    constexpr std::size_t kView = 16, kInside = 12;
    const char* view = static_cast<const char*>(cells.values) + (cells.offset + row) * kView;
    std::int32_t words[4];  // length, beginning, buffer, place
    std::memcpy(words, view, kView);
    const auto length = static_cast<std::size_t>(words[0]);
    return {length <= kInside ? view + 4 : static_cast<const char*>(cells.bytes[words[2]]) + words[3], length};
}

template <class Offset> std::string_view stored(const Cells& cells, std::size_t row) {
    const auto* ends = static_cast<const Offset*>(cells.values) + cells.offset + row;
    return {static_cast<const char*>(cells.bytes[0]) + ends[0], static_cast<std::size_t>(ends[1] - ends[0])};
}

// Some rows at a time, so that what is read column by column stays in cache.
template <class Item>
void gather(const char* from, std::ptrdiff_t row_step, std::ptrdiff_t column_step, std::size_t n_rows,
            std::size_t n_columns, Item* to) {
    constexpr std::size_t kRows = 64;
    for (std::size_t begin = 0; begin < n_rows; begin += kRows)
        for (std::size_t column = 0; column < n_columns; ++column) {
            const char* at = from + static_cast<std::ptrdiff_t>(begin) * row_step +
                             static_cast<std::ptrdiff_t>(column) * column_step;
            Item* out = to + column * n_rows;
            for (std::size_t row = begin; row < std::min(begin + kRows, n_rows); ++row, at += row_step)
                std::memcpy(out + row, at, sizeof(Item));
        }
}

}  // namespace

void gather_columns(const NumberBlock& block, std::size_t first, std::size_t n, void* to) {
    const char* from = static_cast<const char*>(block.values) + static_cast<std::ptrdiff_t>(first) * block.column_step;
    const auto items = [&]<class Item>(Item) {
        gather(from, block.row_step, block.column_step, block.n_rows, n, static_cast<Item*>(to));
    };
    switch (block.item_bytes) {
        case 1:
            return items(std::uint8_t{});
        case 2:
            return items(std::uint16_t{});
        case 4:
            return items(std::uint32_t{});
        default:
            return items(std::uint64_t{});
    }
}

std::optional<std::string_view> string_at(const Cells& cells, std::size_t row) {
    if (cells.valid && !bit_of(cells.valid, cells.offset + row)) return std::nullopt;
    switch (cells.type) {
        case CellType::string:
            return stored<std::int32_t>(cells, row);
        case CellType::large_string:
            return stored<std::int64_t>(cells, row);
        case CellType::view:
            return viewed(cells, row);
        default:
            return std::nullopt;
    }
}

// Gives a row the code of its value.
inline bool ValueCoder::add(std::size_t row, std::uint64_t key, std::string_view text) {
    const std::uint32_t length = slot_length(text);
    for (std::size_t place = first_place(key, length, shift_); slots_[place].code;
         place = (place + 1) & (slots_.size() - 1)) {
        const Slot& slot = slots_[place];
        if (slot.key == key && slot.length == length && (length <= kWordBytes || strings_[slot.code - 1] == text)) {
            first_codes_[row] = static_cast<std::uint16_t>(slot.code);
            return true;
        }
    }
    return add_new(row, key, text);
}

bool ValueCoder::code(const Cells& cells, std::uint8_t* codes) {
    start(cells.n_rows);
    if (!cells.n_rows) return true;
    const auto numbers = [&]<class Number>(Number) {
        return code_numbers(cells, static_cast<const Number*>(cells.values) + cells.offset, codes);
    };
    switch (cells.type) {
        case CellType::int8:
            return numbers(std::int8_t{});
        case CellType::int16:
            return numbers(std::int16_t{});
        case CellType::int32:
            return numbers(std::int32_t{});
        case CellType::int64:
            return numbers(std::int64_t{});
        case CellType::uint8:
            return numbers(std::uint8_t{});
        case CellType::uint16:
            return numbers(std::uint16_t{});
        case CellType::uint32:
            return numbers(std::uint32_t{});
        case CellType::uint64:
            return numbers(std::uint64_t{});
        case CellType::bits: {
            flags_.resize(cells.n_rows);
            const auto* bits = static_cast<const std::uint8_t*>(cells.values);
            for (std::size_t row = 0; row < cells.n_rows; ++row) flags_[row] = bit_of(bits, cells.offset + row);
            return code_numbers(cells, flags_.data(), codes);
        }
        case CellType::string:
            if (!code_strings<std::int32_t>(cells)) return false;
            break;
        case CellType::large_string:
            if (!code_strings<std::int64_t>(cells)) return false;
            break;
        case CellType::view:
            if (!code_views(cells)) return false;
            break;
    }
    finish_strings(codes);
    return true;
}

void ValueCoder::start(std::size_t n_rows) {
    found_.any_missing = false;
    found_.numbers.clear();
    found_.strings.clear();
    found_.wide.clear();
    first_codes_.resize(n_rows);
    keys_.clear();
    strings_.clear();
    slots_.assign(kFewSlots, {});
    shift_ = 64 - std::bit_width(kFewSlots - 1);
}

template <class Number> bool ValueCoder::code_numbers(const Cells& cells, const Number* values, std::uint8_t* codes) {
    Number low = std::numeric_limits<Number>::max(), high = std::numeric_limits<Number>::min();
    const auto widen = [&](Number value) {
        low = std::min(low, value);
        high = std::max(high, value);
    };
    if (!cells.valid) {
        const Number guess = *std::min_element(values, values + std::min<std::size_t>(cells.n_rows, 256));
        if (code_near(cells, values, guess, codes)) return true;  // in one pass
        for (std::size_t row = 0; row < cells.n_rows; ++row) widen(values[row]);
    } else {
        for (std::size_t row = 0; row < cells.n_rows; ++row)
            if (bit_of(cells.valid, cells.offset + row))
                widen(values[row]);
            else
                found_.any_missing = true;
    }
    if (low > high) {
        std::fill_n(codes, cells.n_rows, std::uint8_t{0});
        return true;
    }
    if (wide_bits(high) - wide_bits(low) < 256 - std::size_t{found_.any_missing})
        return code_near(cells, values, low, codes);
    for (std::size_t row = 0; row < cells.n_rows; ++row) {
        if (found_.any_missing && !bit_of(cells.valid, cells.offset + row))
            first_codes_[row] = 0;
        else if (!add(row, wide_bits(values[row]), {}))
            return false;
    }
    finish(
        [this](std::size_t a, std::size_t b) {
            return std::is_signed_v<Number> ? static_cast<std::int64_t>(keys_[a]) < static_cast<std::int64_t>(keys_[b])
                                            : keys_[a] < keys_[b];
        },
        codes);
    for (const std::uint32_t place : order_) found_.numbers.push_back(keys_[place]);
    return true;
}

// Numbers in the range of a byte: their distance from the lowest, which is their code unless one between is not there.
// Returns whether all are in this range. Which of them occur is looked up only where it can matter: once all up to the
// largest were seen, no other is possible.
template <class Number>
bool ValueCoder::code_near(const Cells& cells, const Number* values, Number low, std::uint8_t* codes) {
    constexpr std::size_t kRows = 4096;
    const std::uint64_t first = wide_bits(low) - found_.any_missing;
    std::uint8_t seen[256] = {};
    std::size_t n_seen = 0;  // so many from the beginning
    for (std::size_t begin = 0; begin < cells.n_rows; begin += kRows) {
        const std::size_t end = std::min(begin + kRows, cells.n_rows);
        std::uint64_t any = 0;
        for (std::size_t row = begin; row < end; ++row) {
            const std::uint64_t distance = wide_bits(values[row]) - first;
            any |= distance;
            codes[row] = static_cast<std::uint8_t>(distance);
        }
        if (found_.any_missing) {  // what is below a missing value can be any number
            for (std::size_t row = begin; row < end; ++row)
                if (!bit_of(cells.valid, cells.offset + row)) codes[row] = 0;
        } else if (any > 255) {
            return false;
        }
        if (*std::max_element(codes + begin, codes + end) < n_seen) continue;
        for (std::size_t row = begin; row < end; ++row) seen[codes[row]] = 1;
        while (n_seen < 256 && seen[n_seen]) ++n_seen;
    }
    std::uint8_t ranks[256] = {}, n_codes = 0;
    bool gaps = false;
    for (std::size_t code = 0; code < 256; ++code) {
        if (!seen[code]) continue;
        gaps = gaps || n_codes != code;
        ranks[code] = n_codes++;
        if (code || !found_.any_missing) found_.numbers.push_back(first + code);
    }
    if (gaps) recode({codes, cells.n_rows}, ranks);
    return true;
}

bool ValueCoder::add_string(std::size_t row, std::string_view text) { return add(row, string_key(text, false), text); }

template <class Offset> bool ValueCoder::code_strings(const Cells& cells) {
    const auto* ends = static_cast<const Offset*>(cells.values) + cells.offset;
    const char* bytes = static_cast<const char*>(cells.bytes[0]);
    const Offset last = ends[cells.n_rows];
    for (std::size_t row = 0; row < cells.n_rows; ++row) {
        if (cells.valid && !bit_of(cells.valid, cells.offset + row)) {
            add_missing(row);
            continue;
        }
        const bool readable = ends[row] + static_cast<Offset>(kWordBytes) <= last;
        const std::string_view text(bytes + ends[row], static_cast<std::size_t>(ends[row + 1] - ends[row]));
        if (!add(row, string_key(text, readable), text)) return false;
    }
    return true;
}

bool ValueCoder::code_views(const Cells& cells) {
    for (std::size_t row = 0; row < cells.n_rows; ++row) {
        if (cells.valid && !bit_of(cells.valid, cells.offset + row)) {
            add_missing(row);
            continue;
        }
        const std::string_view text = viewed(cells, row);
        if (!add(row, string_key(text, true), text)) return false;  // eight bytes can be read inside a view
    }
    return true;
}

bool ValueCoder::add_new(std::size_t row, std::uint64_t key, std::string_view text) {
    if (keys_.size() == kMostValues) return false;
    if (2 * (keys_.size() + 1) > slots_.size()) enlarge();
    keys_.push_back(key);
    strings_.push_back(text);
    const std::uint32_t length = slot_length(text), code = static_cast<std::uint32_t>(keys_.size());
    std::size_t place = first_place(key, length, shift_);
    while (slots_[place].code) place = (place + 1) & (slots_.size() - 1);
    slots_[place] = {key, length, code};
    first_codes_[row] = static_cast<std::uint16_t>(code);
    return true;
}

void ValueCoder::enlarge() {
    std::vector<Slot> old(4 * slots_.size());
    old.swap(slots_);
    shift_ -= 2;
    for (const Slot& slot : old) {
        if (!slot.code) continue;
        std::size_t place = first_place(slot.key, slot.length, shift_);
        while (slots_[place].code) place = (place + 1) & (slots_.size() - 1);
        slots_[place] = slot;
    }
}

void ValueCoder::finish_strings(std::uint8_t* codes) {
    finish([this](std::size_t a, std::size_t b) { return strings_[a] < strings_[b]; }, codes);
    for (const std::uint32_t place : order_) found_.strings.push_back(strings_[place]);
}

// Codes in order of first occurrence become places in the order of the values.
template <class Less> void ValueCoder::finish(Less less, std::uint8_t* codes) {
    order_.resize(keys_.size());
    std::iota(order_.begin(), order_.end(), 0u);
    std::sort(order_.begin(), order_.end(), less);
    ranks_.assign(order_.size() + 1, 0);
    for (std::size_t k = 0; k < order_.size(); ++k)
        ranks_[order_[k] + 1] = static_cast<std::uint16_t>(k + found_.any_missing);
    const std::size_t n_rows = first_codes_.size();
    if (order_.size() + found_.any_missing <= 256) {
        for (std::size_t row = 0; row < n_rows; ++row)
            codes[row] = static_cast<std::uint8_t>(ranks_[first_codes_[row]]);
    } else {
        found_.wide.resize(n_rows);
        for (std::size_t row = 0; row < n_rows; ++row) found_.wide[row] = ranks_[first_codes_[row]];
    }
}

}  // namespace mnlearn
