// Runs one kernel of one code path, for benchmarks/neon_instructions.py, which counts the instructions.
// usage: neon_instructions portable|neon KERNEL REPETITIONS
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/kernel_table.hpp"

namespace {

using namespace mnlearn;

constexpr std::size_t kRows = 10'000, kWords = (kRows / 64 + 8) / 8 * 8, kVariables = 32;

template <class T> T* aligned(std::size_t count) {
    void* memory = std::aligned_alloc(64, (count * sizeof(T) + 127) / 64 * 64);
    std::memset(memory, 0, (count * sizeof(T) + 127) / 64 * 64);
    return static_cast<T*>(memory);
}

std::uint64_t random_word() {
    static std::uint64_t state = 1;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

template <class T> T* random_numbers(std::size_t count, std::uint64_t below) {
    T* numbers = aligned<T>(count);
    for (std::size_t k = 0; k < count; ++k) numbers[k] = static_cast<T>(below ? random_word() % below : random_word());
    return numbers;
}

struct Case {
    double units;  // what the instructions are divided by
    std::function<void()> run;
};

std::uint32_t* const counts = aligned<std::uint32_t>(1 << 20);
std::uint64_t* const bits = random_numbers<std::uint64_t>(kWords * kVariables, 0);
std::uint64_t* const more_bits = random_numbers<std::uint64_t>(kWords * kVariables, 0);

Case planes(const KernelTable& kernels) {
    static const std::uint32_t groups[] = {0, 1, 2, 3};
    return {8.0 * kWords * kVariables,
            [&kernels] { kernels.count_planes({more_bits, 8, kWords, bits, groups, kVariables / 8, counts}); }};
}

Case make_plane(const KernelTable& kernels) {
    static const auto* codes = random_numbers<std::uint8_t>(64 * kWords, 3);
    static auto* out = aligned<std::uint64_t>(kWords * kLanes);
    return {kWords, [&kernels] { kernels.make_plane({codes, kWords, 1, out}); }};
}

Case count_bits(const KernelTable& kernels) {
    return {kWords, [&kernels] { kernels.count_bits(bits, kWords); }};
}

Case list_bits(const KernelTable& kernels) {
    return {kWords, [&kernels] { kernels.list_bits(bits, kWords, kRows / 2, counts); }};
}

Case split_set(const KernelTable& kernels) {
    static auto *inside = aligned<std::uint64_t>(kWords), *outside = aligned<std::uint64_t>(kWords);
    return {kWords, [&kernels] { kernels.split_set({bits, more_bits, kWords, inside, outside}); }};
}

Case intersections(const KernelTable& kernels) {
    static const std::uint64_t* others[8];
    for (std::size_t k = 0; k < 8; ++k) others[k] = bits + k * kWords;
    return {8.0 * 4 * kWords, [&kernels] {
                kernels.count_intersections({more_bits, 4, kWords, more_bits + 8 * kWords, others, 8, counts});
            }};
}

// Three binary variables divide the rows; eight states are counted in each of the eight parts.
Case tree(const KernelTable& kernels) {
    static const TreeLevel levels[] = {{0, 2}, {1, 2}, {2, 2}};
    static const std::uint32_t states[] = {8, 9, 10, 11, 12, 13, 14, 15};
    static auto* sizes = aligned<std::uint32_t>(8);
    return {8.0 * 8 * kWords,
            [&kernels] { kernels.count_tree({bits, kWords, 64 * kWords, levels, 3, states, 8, sizes, counts}); }};
}

Case screen(const KernelTable& kernels) {
    static const auto* sixteen = aligned<float>(64);
    static auto* least = aligned<float>(64);
    ScreenStrip strip{};
    strip.words = kWords;
    strip.planes = bits;
    strip.counts[0] = strip.bars = strip.slopes = strip.offsets = sixteen;
    strip.n_xs = kVariables;
    strip.y.planes = more_bits;
    strip.y.means[0] = strip.y.weights[0] = sixteen;
    strip.lows = sixteen;
    strip.n_columns = kVariables / 16;
    strip.least = least;
    return {kWords * kVariables * kVariables, [&kernels, strip] { kernels.screen->probe[0][0](strip); }};
}

// The rest of the screen: a pair that does not pass, without its counts.
Case screen_filter(const KernelTable& kernels) {
    static auto *sixteen = aligned<float>(64), *offsets = aligned<float>(64), *least = aligned<float>(64);
    for (std::size_t k = 0; k < 64; ++k) offsets[k] = -1e30f;
    ScreenStrip strip{};
    strip.words = 0;
    strip.planes = bits;
    strip.counts[0] = strip.bars = strip.slopes = sixteen;
    strip.offsets = offsets;
    strip.n_xs = kVariables;
    strip.y.planes = more_bits;
    strip.y.means[0] = strip.y.weights[0] = sixteen;
    strip.lows = sixteen;
    strip.n_columns = kVariables / 16;
    strip.least = least;
    static auto* found = aligned<ScreenSurvivor>(kVariables * kVariables);
    return {kVariables * kVariables, [&kernels, strip] { kernels.screen->pairs[0][0](strip, found); }};
}

Case vertical_of(const KernelTable& kernels, std::uint32_t rows) {
    static const auto* block = random_numbers<std::uint64_t>(1024 * kRowWords, 0);
    static const auto* list = random_numbers<std::uint16_t>(1024, 1024);
    static const std::uint32_t begin[] = {0};
    static std::uint32_t padded[1];
    padded[0] = rows;
    VerticalQuery query{};
    query.bits = block;
    query.short_rows = list;
    query.begin = begin;
    query.padded = padded;
    query.n_sets = 1;
    query.counts = counts;
    query.stride = kBlockColumns;
    return {static_cast<double>(rows), [&kernels, query] { kernels.count_vertical(query); }};
}
Case vertical(const KernelTable& kernels) { return vertical_of(kernels, 1024); }
Case vertical_short(const KernelTable& kernels) { return vertical_of(kernels, 16); }

Case lanes(const KernelTable& kernels) {
    static const auto* codes = random_numbers<std::uint8_t>(kRows, 2);
    static const auto* sets = random_numbers<std::uint32_t>(kRows, 16);
    LaneQuery query{};
    for (Lane& lane : query.lanes) lane = {codes, 1, false};
    query.sets = sets;
    query.n_rows = kRows;
    query.n_sets = 16;
    query.counts = counts;
    return {kRows, [&kernels, query] { kernels.count_lanes(query); }};
}

Case binary_of(const KernelTable& kernels, BinaryForm form) {
    constexpr std::size_t kYs = 512;
    static const auto *zero = random_numbers<std::uint32_t>(kYs, 40), *one = random_numbers<std::uint32_t>(kYs, 40);
    static double *table = aligned<double>(256), *folded = aligned<double>(kMaxFolded), *values = aligned<double>(kYs),
                  *first = aligned<double>(kYs), *second = aligned<double>(kYs);
    for (std::size_t k = 0; k < 256; ++k) table[k] = 1.0 / (1.0 + static_cast<double>(k));
    const BinaryRow row{form, zero, one, kYs, 40, 40, table, table, 0.5, folded, values, first, second};
    return {kYs, [&kernels, row] { kernels.score_binary(row); }};
}
Case binary_plain(const KernelTable& kernels) { return binary_of(kernels, BinaryForm::plain); }
Case binary_odds(const KernelTable& kernels) { return binary_of(kernels, BinaryForm::odds); }
Case binary_pearson(const KernelTable& kernels) { return binary_of(kernels, BinaryForm::pearson); }

Case pack(const KernelTable& kernels) {
    static auto* rows = aligned<std::uint8_t>(64 * kWords + kSiftSpare);
    PackQuery query{};
    for (std::size_t k = 0; k < kSiftLanes; ++k) query.sets[k] = bits + k * kWords;
    query.n_sets = kSiftLanes;
    query.n_rows = 64 * kWords;
    query.stride = 1;
    query.to = rows;
    return {64 * kWords, [&kernels, query] {
                if (kernels.pack) kernels.pack(query);
            }};
}

Case partition(const KernelTable& kernels) {
    static auto *from = random_numbers<std::uint8_t>(64 * kWords + kSiftSpare, 256),
                *to = aligned<std::uint8_t>(64 * kWords + kSiftSpare);
    std::size_t ones = 0;
    for (std::size_t w = 0; w < kWords; ++w) ones += static_cast<std::size_t>(__builtin_popcountll(bits[w]));
    return {64 * kWords, [&kernels, ones] {
                if (kernels.stable_partition)
                    kernels.stable_partition({bits, 64 * kWords, 64 * kWords - ones, from, to});
            }};
}

const std::map<std::string, Case (*)(const KernelTable&)> kCases{
    {"planes", planes},
    {"make_plane", make_plane},
    {"count_bits", count_bits},
    {"list_bits", list_bits},
    {"split_set", split_set},
    {"intersections", intersections},
    {"tree", tree},
    {"screen", screen},
    {"screen_filter", screen_filter},
    {"vertical", vertical},
    {"vertical_short", vertical_short},
    {"lanes", lanes},
    {"binary_plain", binary_plain},
    {"binary_odds", binary_odds},
    {"binary_pearson", binary_pearson},
    {"pack", pack},
    {"partition", partition},
};

}  // namespace

int main(int, char** arguments) {
    const KernelTable& kernels = std::string(arguments[1]) == "neon" ? kNeonKernels : kPortableKernels;
    const Case one = kCases.at(arguments[2])(kernels);
    for (int k = std::atoi(arguments[3]); k > 0; --k) one.run();
    std::printf("units %.17g\n", one.units);
}
