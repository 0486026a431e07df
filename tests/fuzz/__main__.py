"""Read randomly changed files: each must be refused by an error of the library, or be read.

    PYTHONPATH=tests python -m fuzz --seconds 60             all readers, each in a process of its own
    PYTHONPATH=tests python -m fuzz --reader pack --runs 100000 --seed 7
    PYTHONPATH=tests python -m fuzz --reader pack --seed 7 --first 4711 --runs 1   one change again

A crash, another exception, ten seconds without an end, and memory of many times the file's size are findings. The first
of each kind is written to --save as a small JSON file; tests/fuzz/corpus holds those of earlier runs.
"""

from __future__ import annotations

import argparse
import base64
import faulthandler
import json
import logging
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from fuzz.mutations import Mutations
from fuzz.readers import READERS, Case
from mnlearn.errors import MnlearnError

LONGEST = 10  # seconds
MOST_MEMORY = 512 << 20  # bytes beside a hundred times the files; AddressSanitizer keeps 256 MB of what was freed
FOUND = 3  # exit status


def main() -> int:
    """Run all readers, each in a process of its own, or one of them here."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--reader", action="append", choices=list(READERS))
    words.add_argument("--seconds", type=float, default=60.0, help="for each reader, unless --runs is given")
    words.add_argument("--runs", type=int, help="changes for each reader")
    words.add_argument("--first", type=int, default=0, help="number of the first change")
    words.add_argument("--seed", type=int, default=None)
    words.add_argument("--save", type=Path, default=Path("build/fuzz"), help="folder for findings")
    words.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    options = words.parse_args()
    if options.seed is None:
        options.seed = int(time.time())
    options.save.mkdir(parents=True, exist_ok=True)
    if options.here is not None:
        return _run(options.reader[0], options)
    print(f"seed {options.seed}", flush=True)
    wrong = [reader for reader in options.reader or READERS if _in_process(reader, options)]
    if wrong:
        print(f"findings of {', '.join(wrong)} are in {options.save}; repeat with --seed {options.seed}")
    return FOUND if wrong else 0


def _in_process(reader: str, options: argparse.Namespace) -> bool:
    """Fuzz a reader in a child process; return whether there were findings."""
    with TemporaryDirectory(prefix="mnlearn-fuzz-") as folder:
        how = ["--runs", str(options.runs)] if options.runs is not None else ["--seconds", str(options.seconds)]
        words = ["--seed", str(options.seed), "--first", str(options.first), "--save", str(options.save)]
        spec = sys.modules["__main__"].__spec__
        program = ["-m", "fuzz" if spec is None else spec.name]  # or a program with further readers
        python = [sys.executable, *(["-S"] if sys.flags.no_site else [])]
        child = subprocess.run([*python, *program, "--reader", reader, *how, *words, "--here", folder], check=False)
        if child.returncode not in (0, FOUND):
            files = {file.name: file.read_bytes() for file in Path(folder).glob("case/*")}
            _save(options, reader, files, f"ended with status {child.returncode}")
        return child.returncode != 0


def _run(reader: str, options: argparse.Namespace) -> int:
    """Fuzz one reader in this process."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    logging.disable()
    cases, folder = READERS[reader].cases(), options.here / "case"
    begin, counts, kinds = time.monotonic(), Counter[str](), dict[str, int]()
    number, armed = options.first, 0.0
    while number < options.first + options.runs if options.runs is not None else _left(begin, options):
        rng = Random(f"{options.seed} {reader} {number}")
        files = READERS[reader].change(Mutations(rng), rng.choice(cases))
        outcome = outcome_of(reader, files, folder)
        known = outcome in ("accepted", "refused")
        counts[outcome if known else "finding"] += 1
        if not known and kinds.setdefault(outcome.split(":")[0], number) == number:
            print(f"{reader} {number}: {outcome}", flush=True)
            _save(options, reader, files, outcome)
        number += 1
        if time.monotonic() > armed + LONGEST:
            faulthandler.dump_traceback_later(12 * LONGEST, exit=True)  # a loop that never returns to the interpreter
            armed = time.monotonic()
    took = time.monotonic() - begin
    counted = ", ".join(f"{counts[kind]} {kind}" for kind in ("accepted", "refused", "finding"))
    print(f"{reader:14} {number - options.first:8} changes, {counted}, {took:.0f} s", flush=True)
    return FOUND if kinds else 0


def _left(begin: float, options: argparse.Namespace) -> bool:
    return bool(time.monotonic() - begin < options.seconds)


def outcome_of(reader: str, files: Case, folder: Path) -> str:
    """Return accepted, refused, or what went wrong and where."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with _limited(LONGEST):
            READERS[reader].read(folder)
        outcome = "accepted"
    except MnlearnError as error:
        outcome = "refused" if str(error).strip() else "an error without a message"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in place if "mnlearn" in frame.filename and "fuzz" not in frame.filename] or place
        where = f"{os.path.basename(ours[-1].filename)}, {ours[-1].name}"
        outcome = f"{type(error).__name__} in {where}: {str(error)[:200]}"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    if grown > MOST_MEMORY + 100 * sum(map(len, files.values())):
        outcome = f"{grown >> 20} MB of memory, {outcome}"
    return outcome


@contextmanager
def _limited(seconds: int) -> Iterator[None]:
    """Raise TimeoutError when the time is over, if the code returns to the interpreter by then."""

    def over(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _save(options: argparse.Namespace, reader: str, files: Case, outcome: str) -> None:
    """Write a finding as text."""
    content = json.dumps({"reader": reader, "found": outcome, "files": as_text(files)}, indent=1)
    path = options.save / f"{reader}-{zlib.crc32(content.encode()):08x}.json"
    path.write_text(content + "\n", encoding="utf-8")
    print(f"{reader}: {outcome}; written to {path}", flush=True)


def as_text(files: Case) -> dict[str, str]:
    """Return files for JSON: compressed, in base 64."""
    return {name: base64.b64encode(zlib.compress(content, 9)).decode() for name, content in files.items()}


def from_text(written: Mapping[str, str]) -> Case:
    """Return the files that `as_text` wrote."""
    return {name: zlib.decompress(base64.b64decode(content)) for name, content in written.items()}


if __name__ == "__main__":
    sys.exit(main())
