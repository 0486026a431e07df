"""Instructions of the kernels on 64-bit ARM, portable against NEON, counted under qemu.

An emulator cannot time, but it executes exact numbers of instructions. The kernels are compiled alone with the cross
compiler. One instruction at a time, qemu writes a line for each; what one more call adds is what a call takes.

    python benchmarks/neon_instructions.py [kernel ...]

Debian has what it needs: qemu-user and g++-aarch64-linux-gnu.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "neon_instructions"
COMPILER = "aarch64-linux-gnu-g++"
SOURCES = (
    "benchmarks/neon_instructions.cpp",
    "native/kernels/isa_portable.cpp",
    "native/kernels/isa_neon.cpp",
    "native/kernels/log_table_kernel.cpp",
)
KERNELS = {  # name: what is counted
    "planes": "planes: 64 rows of a set and a plane",
    "make_plane": "a new plane: 64 rows",
    "count_bits": "size of a set: 64 rows",
    "list_bits": "rows of a set listed: 64 rows",
    "split_set": "a set split in two: 64 rows",
    "intersections": "three sets intersected: 64 rows",
    "tree": "tree: 64 rows of a part and a state",
    "screen": "screen: 64 rows of a pair of binary variables",
    "screen_filter": "screen: bound of a pair of binary variables",
    "vertical": "512 columns: a row of a list of 1,024",
    "vertical_short": "512 columns: a row of a list of 16",
    "lanes": "eight lanes: a row",
    "binary_plain": "score of a binary pair, looked up",
    "binary_odds": "posterior of a binary pair",
    "binary_pearson": "chi-square of a binary pair",
    "pack": "eight sets as bytes: a row",
    "partition": "stable partition: a row of eight sets",
}


def build() -> Path:
    """Compile the program that runs one kernel."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    program = FOLDER / "kernels"
    flags = ["-std=c++20", "-O3", "-ffp-contract=off", "-Wno-psabi", "-static", "-pthread", f"-I{ROOT / 'native'}"]
    subprocess.run([COMPILER, *flags, *(ROOT / source for source in SOURCES), "-o", program], check=True)
    return program


def executed(emulator: str, program: Path, path: str, kernel: str, calls: int) -> tuple[int, float]:
    """Count the instructions of the whole program, and read how many units a call has."""
    command = [emulator, "-singlestep", "-d", "exec,nochain", str(program), path, kernel, str(calls)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        count = sum(line.startswith(b"Trace") for line in process.stderr)
        units = float(process.stdout.read().split()[1])
    return count, units


def main() -> None:
    """Print a table of instructions per unit."""
    emulator = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if emulator is None or shutil.which(COMPILER) is None:
        sys.exit(f"neon_instructions needs qemu-aarch64 and {COMPILER} (Debian: qemu-user, g++-aarch64-linux-gnu)")
    program = build()
    print("| instructions per | portable | NEON | ratio |")
    print("|---|---|---|---|")
    for kernel in sys.argv[1:] or KERNELS:
        per_unit = []
        for path in ("portable", "neon"):
            once, units = executed(emulator, program, path, kernel, 1)
            twice, _ = executed(emulator, program, path, kernel, 2)
            per_unit.append((twice - once) / units)
        portable, neon = per_unit
        # A path without a kernel takes another way of counting.
        old = f"{portable:.2f}" if portable > 0.01 else "none"
        ratio = f"{portable / neon:.1f}" if portable > 0.01 else ""
        print(f"| {KERNELS[kernel]} | {old} | {neon:.2f} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
