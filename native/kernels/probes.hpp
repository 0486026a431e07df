// What the processor can do at best, with nothing else to do: the ceilings that `mnlearn bench` measures against.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mnlearn {

// ANDs, counts and adds 16 * 512 bits a round, all in registers. Returns a number nobody needs.
using ProbePopcount = std::uint64_t (*)(std::size_t rounds);

// Loads n_rows rows of 512 bits, one after the other.
using ProbeLoads = std::uint64_t (*)(const std::uint64_t* rows, std::size_t n_rows);

std::uint64_t probe_popcount_portable(std::size_t rounds);
std::uint64_t probe_popcount_avx2(std::size_t rounds);
std::uint64_t probe_popcount_avx512(std::size_t rounds);
std::uint64_t probe_loads_portable(const std::uint64_t* rows, std::size_t n_rows);
std::uint64_t probe_loads_avx2(const std::uint64_t* rows, std::size_t n_rows);
std::uint64_t probe_loads_avx512(const std::uint64_t* rows, std::size_t n_rows);

}  // namespace mnlearn
