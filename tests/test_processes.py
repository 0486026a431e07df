"""Child processes: limits, errors that pass through, and nothing of the current folder in them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import mnlearn
from mnlearn.errors import DataError
from mnlearn.processes import ChildError, LimitError, environment, run_child

HERE = f"{Path(__file__).stem}:"


def says(text: str) -> bytes:
    print("noise")
    return text.encode()


def refuses(text: str) -> bytes:
    raise DataError(text)


def fails() -> bytes:
    raise KeyError("lost")


def crashes() -> bytes:
    os.abort()


def sleeps() -> bytes:
    time.sleep(60)
    return b""


def eats() -> bytes:
    return bytes(2**40)


def panics() -> bytes:
    class PanicException(BaseException):
        """What Rust raises."""

    raise PanicException("index out of bounds\nin line 3")


@pytest.fixture(autouse=True)
def _found_by_children(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [str(Path(__file__).parent), str(Path(mnlearn.__file__).parents[1])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(folders))


def test_answer_is_what_the_function_returns() -> None:
    assert run_child(HERE + "says", "-ä\n\t") == "-ä\n\t".encode()


def test_errors_of_the_library_pass_through() -> None:
    with pytest.raises(DataError, match=r"^a must be b\nor c$"):
        run_child(HERE + "refuses", "a must be b\nor c")


@pytest.mark.parametrize(
    ("function", "reason"),
    [("fails", "'lost'"), ("crashes", "it crashes its reader"), ("panics", "index out of bounds")],
)
def test_other_ends_are_reasons(function: str, reason: str) -> None:
    with pytest.raises(ChildError) as caught:
        run_child(HERE + function)
    assert str(caught.value) == reason


def test_time_is_limited() -> None:
    with pytest.raises(LimitError, match="busy for more than 1 s"):
        run_child(HERE + "sleeps", seconds=1.0)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold the limit")
def test_memory_is_limited() -> None:
    with pytest.raises(LimitError, match="more than 1 GiB"):
        run_child(HERE + "eats", memory=2**30)


def test_environment_is_that_of_before_after_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    before = dict(os.environ)
    with environment():
        assert (os.environ["OMP_NUM_THREADS"], os.environ["PYTHONSAFEPATH"]) == ("1", "1")
    assert dict(os.environ) == before


# Modules of the current folder

PLANT = "open({!r}, 'a').write(__name__ + '\\n')\nraise ImportError('planted')\n"
CSV = "a,b,c\n" + "0,0,1\n0,1,1\n1,1,0\n1,0,0\n0,0,0\n1,1,1\n" * 5


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A folder with a module of the name of each that is installed, which notes that it was executed."""
    folder = tmp_path / "unpacked"
    folder.mkdir()
    names = {name for name in (*sys.stdlib_module_names, *packages_distributions(), "mnlearn") if name.isidentifier()}
    assert {"joblib", "struct", "pyreadstat", "pickle", "numpy", "distributed"} <= names
    for name in names:
        (folder / f"{name}.py").write_text(PLANT.format(str(tmp_path / "executed")))
    return folder


def survey(folder: Path, kind: str) -> Path:
    path = folder / f"survey.{kind}"
    rows = [[int(cell) for cell in line.split(",")] for line in CSV.split()[1:]]
    if kind == "csv":
        path.write_text(CSV)
    elif kind == "xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in [["a", "b", "c"], *rows]:
            book.active.append(row)
        book.save(path)
    else:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(rows, columns=["a", "b", "c"])
        getattr(pytest.importorskip("pyreadstat"), f"write_{kind}")(frame, path)
    return path


def run_in(folder: Path, words: Sequence[str], start: Path) -> subprocess.CompletedProcess[str]:
    """Run the program in a folder as its console script does: the folder of that script is on the path."""
    start.parent.mkdir()
    start.write_text("import sys\nfrom mnlearn.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n")
    return subprocess.run(
        [sys.executable, str(start), *words], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("sav", "info survey.sav"),
        ("dta", "info survey.dta"),
        ("xlsx", "info survey.xlsx"),
        ("csv", "learn survey.csv --bootstrap 4 --jobs 2"),
        ("csv", "blanket survey.csv a --jobs 2"),
        ("csv", "screen survey.csv --jobs 2"),
        ("csv", "report survey.csv --bootstrap 4 --jobs 2 --out report.html"),
        ("csv", "stability survey.csv --samples 14 --jobs 2"),
        ("csv", "predictability survey.csv --jobs 2"),
        ("csv", "compare-groups survey.csv --by c --permutations 4 --jobs 2"),
    ],
)
def test_no_module_of_the_current_folder_is_executed(kind: str, words: str, planted: Path, tmp_path: Path) -> None:
    survey(planted, kind)
    done = run_in(planted, words.split(), tmp_path / "bin" / "start.py")
    executed = tmp_path / "executed"
    assert (done.returncode, executed.exists() and executed.read_text()) == (0, False), done.stderr


def test_no_module_of_the_current_folder_is_executed_in_a_pool(planted: Path, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(
        "import os, sys\n"
        "from mnlearn.parallel import run\n"
        "def look(item):\n"
        "    return os.getpid(), sys.flags.safe_path, os.environ['OMP_NUM_THREADS']\n"
        "if __name__ == '__main__':\n"
        "    seen = set(run(look, range(8), n_jobs=2, backend='processes'))\n"
        "    print(os.getpid() in {pid for pid, *_ in seen}, {(safe, threads) for _, safe, threads in seen})\n"
    )
    words = [sys.executable, str(tmp_path / "work.py")]
    done = subprocess.run(words, cwd=planted, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "False {(True, '1')}\n", done.stderr
    assert not (tmp_path / "executed").exists()
