"""Kill commands that write at random times: no half-written file, no changed input, and the repeated run is the same.

    python tests/soak.py --kills 500 --seed 1

Each kill is repeated by its own number: `--seed 1 --only 37`. Commands run in forks of this process, which has loaded
everything already, so that the kills fall into the work of the command and not into the start of Python.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import random
import re
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from default_signals import restore_signals
from mnlearn.cli import main

Files: TypeAlias = dict[str, bytes]

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
LONGEST = 120.0  # seconds of a run
TIMES = re.compile(rb'"(seconds|digest)": [^\n,}]+|[\d.,]+ (s|ms|min)\b')  # what two equal runs may differ in


@dataclass(frozen=True)
class Case:
    """A command that writes.

    Attributes
    ----------
    words
        The command.
    outputs
        Files and folders that it writes.
    resume
        Words that continue a stopped run, if its first output is there.
    replaces
        Whether it replaces files that are there.
    loose
        Outputs that hold times of the run, or a journal whose order and times differ: they must be whole only.
    """

    words: str
    outputs: tuple[str, ...]
    resume: str = ""
    replaces: bool = True
    loose: tuple[str, ...] = ()

    def exact(self, path: str) -> bool:
        """Return whether all runs write the same bytes to a file, but for times."""
        return path not in self.loose and path.split("/", maxsplit=1)[0] not in self.loose


CASES = (
    Case(
        "learn survey.csv --method mpl --out net.graphml --report net.html --plot net.svg",
        ("net.graphml", "net.html", "net.svg"),
        loose=("net.html",),
    ),
    Case(
        "screen survey.csv -k 3 --checkpoint kept --out found.mns", ("kept", "found.mns"), "--resume", False, ("kept",)
    ),
    Case("learn survey.csv --method mpl --bootstrap 12 --jobs 1 --out net.json", ("net.json",)),
    Case(
        "learn survey.csv --method gsimn --bootstrap 8 --jobs 1 --checkpoint kept --out net.edges.csv",
        ("kept", "net.edges.csv"),
        "--resume",
        False,
        ("kept",),
    ),
    Case("report result.json --data survey.csv --out net.html", ("net.html",), loose=("net.html",)),
    Case("plot result.json --data survey.csv --out net.png", ("net.png",)),
    Case("fit truth.edges.csv survey.csv --out fitted", ("fitted",)),
    Case("sample model --rows 3000 --seed 1 --out drawn.csv", ("drawn.csv",)),
    Case("impute model gaps.csv --out complete.parquet", ("complete.parquet",)),
    Case(
        "stability survey.csv --method mpl --part intervals --fixed --samples 20 --jobs 1 --plot intervals.svg",
        ("intervals.svg",),
    ),
    Case(
        "compare-groups survey.csv --by night_shifts --method mpl --permutations 3 --jobs 1 --plot groups.svg",
        ("groups.svg",),
    ),
    Case("predict model survey.csv fatigue --out guesses.parquet", ("guesses.parquet",)),
    Case(
        "simulate grid:rows=4,columns=4 --rows 3000 --seed 1 --out drawn.csv --truth drawn.edges.csv",
        ("drawn.csv", "drawn.edges.csv"),
    ),
    Case(
        "optimize royal-road:n=16,group=4 --population 60 --seed 1 --generations 6 --checkpoint kept --history run.csv "
        "--plot run.svg",
        ("kept", "run.csv", "run.svg"),
        replaces=False,
        loose=("kept", "run.csv"),
    ),
    Case("convert truth.edges.csv net.dot", ("net.dot",)),
    Case("pack survey.csv --out rows.mnpack", ("rows.mnpack",)),
    Case("pack packed.mnpack survey.csv --out longer.mnpack", ("longer.mnpack",)),
    Case(
        "reproduce mpl-table1 --source d=64 --method mpl --reps 2 --sizes 250 --jobs 1 --out runs",
        ("runs",),
        replaces=False,
        loose=("runs",),
    ),
    Case("demo --out made --rows 100", ("made",), loose=("made/report.html",)),
    Case(
        "bench accuracy --quick --learner mpl --against mpl --sizes 100 --draws 1 --jobs 1 --out bench",
        ("bench",),
        replaces=False,
        loose=("bench",),
    ),
    Case(
        "bench learners --kind example --learner mpl --rows 200 --out bench",
        ("bench",),
        replaces=False,
        loose=("bench",),
    ),
)


def contents(folder: Path) -> Files:
    """Return the bytes of all files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def below(files: Files, names: tuple[str, ...]) -> Files:
    """Return the files that are, or are below, one of the names."""
    return {path: held for path, held in files.items() if path.split("/")[0] in names}


def equal(one: bytes, other: bytes) -> bool:
    """Return whether two files are the same but for the times in them."""
    return one == other or TIMES.sub(b"", one) == TIMES.sub(b"", other)


def start(words: str, folder: Path) -> int:
    """Start a command in a fork and return its process id; what it prints goes to the file beside the folder."""
    child = os.fork()
    if child:
        return child
    try:
        restore_signals()
        os.chdir(folder)
        printed = os.open(f"{folder}.log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        sys.stdout, sys.stderr = io.TextIOWrapper(io.FileIO(1, "w")), io.TextIOWrapper(io.FileIO(2, "w"))
        code = main(words.split())
        sys.stdout.flush()
        sys.stderr.flush()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException as error:  # a fork never returns
        os.write(2, f"Traceback: {error!r}".encode())
        code = 1
    os._exit(code)


def finish(child: int, seconds: float = LONGEST) -> int | None:
    """Wait for a process; return its exit code, negative for a signal, or None if it is still running."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return None


def whole_run(words: str, folder: Path) -> tuple[int | None, float]:
    """Run a command to its end; return the exit code and the seconds."""
    began = time.monotonic()
    child = start(words, folder)
    code = finish(child)
    if code is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return code, time.monotonic() - began


def is_whole(path: Path) -> bool:
    """Return whether a file can be read to its end by whatever reads such files."""
    held = path.read_bytes()
    match path.suffix:
        case ".json":
            json.loads(held)
        case ".html" | ".svg" | ".graphml":
            return held.rstrip().endswith((b"</html>", b"</svg>", b"</graphml>"))
        case ".png":
            return held.endswith(b"IEND\xaeB`\x82")
        case ".jsonl":
            for line in held.splitlines()[:-1]:  # the last one may be torn: the next run drops it
                json.loads(line)
        case ".csv" | ".dot":
            return held.endswith(b"\n") or not held
    return True


@dataclass(frozen=True)
class Reference:
    """Files that a case writes, and its seconds."""

    files: Files
    seconds: float


def reference(case: Case, inputs: Path, folder: Path) -> Reference:
    """Run a case twice without a kill; both must write the same."""
    found = []
    for turn in ("first", "second"):
        place = folder / turn
        shutil.copytree(inputs, place)
        code, seconds = whole_run(case.words, place)
        assert code == 0, f"{case.words}: {code}\n{Path(f'{place}.log').read_text()}"
        found.append(Reference(below(contents(place), case.outputs), seconds))
    for path, held in found[0].files.items():
        if case.exact(path):
            assert equal(held, found[1].files[path]), f"{case.words}: two runs differ in {path}"
    assert found[0].files, f"{case.words} writes nothing"
    return found[1]


def faults(case: Case, inputs: Path, known: Reference, place: Path, chance: random.Random) -> Iterator[str]:
    """Kill a case once, and yield what is wrong then and after the repeated run."""
    old = case.replaces and chance.random() < 0.5
    shutil.copytree(inputs, place)
    if old:  # files of an earlier run, which differ
        for path in known.files:
            target = place / path
            target.parent.mkdir(exist_ok=True)
            if target.parent == place:
                target.write_bytes(b"old\n")
    before = contents(place)
    sent = chance.choice(SIGNALS)
    moment = chance.random() * known.seconds * 1.05
    child = start(case.words, place)
    code = finish(child, moment)
    if code is None:
        os.kill(child, sent)
        code = finish(child)
    yield from after_kill(case, known, place, before, code, sent)
    yield from after_repeat(case, known, place)


def after_kill(
    case: Case, known: Reference, place: Path, before: Files, code: int | None, sent: signal.Signals
) -> Iterator[str]:
    """Yield what is wrong after the kill."""
    printed = Path(f"{place}.log").read_text(errors="replace")
    if code not in (0, -sent, 128 + sent):
        yield f"exit code {code} after {sent.name}: {printed[-300:]}"
    if "Traceback" in printed or "This is a bug" in printed:
        yield f"a traceback after {sent.name}: {printed[-300:]}"
    found = contents(place)
    outputs = below(known.files, case.outputs)
    for path, held in before.items():
        if path not in outputs and found.get(path) != held:
            yield f"{path} has changed"
    for path, held in below(found, case.outputs).items():
        if held in (before.get(path), outputs.get(path)) or Path(path).name.startswith("."):
            continue
        exact = case.exact(path) and sent != signal.SIGINT  # Ctrl-C writes what there is so far
        if exact and not (path in outputs and equal(held, outputs[path])):
            yield f"{path} is neither the old nor the new file after {sent.name}: {len(held)} bytes"
        elif not is_whole(place / path):
            yield f"{path} is torn after {sent.name}"
    if sent != signal.SIGKILL and (left := [path for path in found if Path(path).name.startswith(".mnlearn-")]):
        yield f"temporary files stay after {sent.name}: {left}"


def after_repeat(case: Case, known: Reference, place: Path) -> Iterator[str]:
    """Yield what is wrong after the command was run again, or resumed."""
    first = place / case.outputs[0]
    words = f"{case.words} {case.resume}" if first.exists() else case.words
    code, _ = whole_run(words, place)
    if code != 0 and case.resume:
        code, _ = whole_run(case.words, place)  # killed before there was anything to resume
    if code != 0:
        yield f"the repeated run ends with {code}: {Path(f'{place}.log').read_text()[-300:]}"
        return
    found = contents(place)
    for path, held in known.files.items():
        if path not in found or (case.exact(path) and not equal(found[path], held)):
            yield f"{path} of the repeated run differs from the uninterrupted one"


def prepare(inputs: Path) -> None:
    """Write the inputs of all cases."""
    inputs.mkdir()
    for words in (
        "demo --out shown --rows 300",
        "learn shown/survey.csv --method mpl --bootstrap 3 --jobs 1 --out result.json",
        "fit shown/truth.edges.csv shown/survey.csv --out model",
        "pack shown/survey.csv --out packed.mnpack",
    ):
        code, _ = whole_run(words, inputs)
        assert code == 0, f"{words}: {code}\n{Path(f'{inputs}.log').read_text()}"
    for name in ("survey.csv", "truth.edges.csv"):
        shutil.copy(inputs / "shown" / name, inputs / name)
    gaps = (inputs / "survey.csv").read_text(encoding="utf-8").replace("yes", "", 1)
    (inputs / "gaps.csv").write_text(gaps, encoding="utf-8")
    shutil.rmtree(inputs / "shown")


def warm_up() -> None:
    """Load what the commands use, before the first fork."""

    import mnlearn.learning
    import mnlearn.visual.report  # noqa: F401
    import mnlearn_papers.optimize  # noqa: F401

    gc.freeze()


def soak(kills: int, seed: int, only: int | None = None, cases: tuple[Case, ...] = CASES) -> int:
    """Kill as many times, print every fault, and return their number."""
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with TemporaryDirectory(prefix="soak-") as name:
        top = Path(name)
        prepare(top / "inputs")
        known: dict[int, Reference] = {}
        failures = 0
        numbers = range(kills) if only is None else [only]
        for number in numbers:
            which = number % len(cases)
            case, place = cases[which], top / f"kill-{number}"
            if which not in known:
                (top / f"reference-{which}").mkdir()
                known[which] = reference(case, top / "inputs", top / f"reference-{which}")
            chance = random.Random(f"{seed} {number}")
            found = list(faults(case, top / "inputs", known[which], place, chance))
            for fault in found:
                print(f"kill {number} (--seed {seed} --only {number}): {case.words}: {fault}", flush=True)
            failures += bool(found)
            shutil.rmtree(place)
            if number % 20 == 19:
                print(f"{number + 1} kills, {failures} with faults", flush=True)
    print(f"{len(numbers)} kills of {len(cases)} commands, seed {seed}: {failures} with faults", flush=True)
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", type=int, default=None, help="number of the one kill to repeat")
    given = parser.parse_args()
    warm_up()
    sys.exit(soak(given.kills, random.randrange(10**6) if given.seed is None else given.seed, given.only) > 0)
