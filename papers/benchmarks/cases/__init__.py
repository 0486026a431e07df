"""The benchmarks, by theme."""
