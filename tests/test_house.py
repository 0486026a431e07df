"""`.ci/house` holds the figures of shape: a larger one fails, a smaller one is written."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).resolve().parent.parent
LEARN = """
def learn(data, method=None):
    return lambda x: x


def load(path):
    return path


class Learned:
    graph: object
"""


def house(top: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the script with the standard library alone."""
    command = [sys.executable, "-I", "-S", str(top / ".ci" / "house"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")


def held(top: Path) -> dict[str, dict[str, Any]]:
    return tomllib.loads((top / ".ci" / "house.toml").read_text(encoding="utf-8"))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a folder with a small package whose figures the file holds."""
    shutil.copytree(TOP / ".ci", tmp_path / ".ci")
    words = {word for entry in held(TOP).values() for names in entry.get("probes", ()) for word in names}
    words |= {entry["beside"][0] for entry in held(TOP).values() if "beside" in entry}
    files = {
        "__init__": '__all__ = ["Learned", "learn"]\n',
        "learning": "import mnlearn.words\n" + LEARN,
        "words": f"WORDS = {tuple(sorted(words))}\n",
    }
    (tmp_path / "src" / "mnlearn").mkdir(parents=True)
    for name, text in files.items():
        write(tmp_path, name, text)
    raised = (tmp_path / ".ci" / "house.toml").read_text(encoding="utf-8").replace("now = ", "now = 90")
    (tmp_path / ".ci" / "house.toml").write_text(raised, encoding="utf-8")
    assert house(tmp_path).returncode == 0
    return tmp_path


def write(top: Path, module: str, text: str) -> None:
    (top / "src" / "mnlearn" / f"{module}.py").write_text(text, encoding="utf-8")


def test_no_figure_of_the_library_is_above_the_one_that_is_held() -> None:
    done = house(TOP, "--check")
    assert done.returncode == 0, done.stderr


def test_figures_of_a_small_package(small: Path) -> None:
    expected = {
        "import depth": 2,
        "eager cycles": 0,
        "modules in a package, most": 3,
        "parameters of learn": 2,
        "parameters of others, most": 1,
        "lines of a function, most": 2,
        "names exported by mnlearn": 2,
        "public members of Learned": 1,
        "files of a score": 1,
    }
    assert {name: held(small)[name]["now"] for name in expected} == expected


@pytest.mark.parametrize(
    ("module", "text", "larger"),
    [
        ("more", "X = 1\n", {"modules in a package, most"}),
        ("words", "import mnlearn.learning\n" + "{words}", {"eager cycles", "lazy cycles"}),
        ("words", "{words}" + "def f():\n    import mnlearn.learning\n", {"lazy cycles"}),
        ("words", "from . import learn\n" + "{words}", {"import depth"}),
        ("learning", "import mnlearn.words\n" + LEARN.replace("data,", "data, k,"), {"parameters of learn"}),
        ("words", "{words}" + "class C:\n    def f(self, x, y, *z): return x\n", {"parameters of others, most"}),
        ("words", "{words}" + "from typing import Any\n", set()),
        ("words", "{words}" + "import typing\nA: typing.Any\n", {"Any"}),
        (
            "words",
            "{words}" + "def f():\n    '''One.\n\n    Two.'''\n    x = 1\n    return x\n",
            {"lines of a function, most"},
        ),
        ("words", "{words}" + "def f(): return [x for x in () if x or 1]\n", {"cyclomatic complexity, most"}),
        ("words", "{words}" + "class Learned: a = b = 1\n", {"public names that stand in two places"}),
        ("__init__", '__all__ = ["learn"]\n__all__ += ["Learned", "score"]\n', {"names exported by mnlearn"}),
        ("learning", "import mnlearn.words\nPIC = 1\n" + LEARN, {"files of a score"}),
    ],
)
def test_a_larger_figure_fails(small: Path, module: str, text: str, larger: set[str]) -> None:
    words = (small / "src" / "mnlearn" / "words.py").read_text(encoding="utf-8")
    write(small, module, text.replace("{words}", words))
    done = house(small)
    failures = {line.partition(":")[0] for line in done.stderr.splitlines() if " is above " in line}
    assert (failures - {"public members of Learned"}, done.returncode) == (larger, int(bool(larger)))


def test_imports_for_type_checkers_do_not_count(small: Path) -> None:
    words = (small / "src" / "mnlearn" / "words.py").read_text(encoding="utf-8")
    guarded = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import mnlearn.learning\n"
    write(small, "words", guarded + words)
    assert house(small).returncode == 0
    write(small, "words", guarded.replace("if ", "if not ") + words)
    assert "eager cycles: 1 is above 0: mnlearn.learning and mnlearn.words" in house(small).stderr


def test_a_smaller_figure_is_written_without_its_reason(small: Path) -> None:
    path = small / ".ci" / "house.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("now = 2, limit = 14", 'now = 5, raised = "for a; b", limit = 14'), encoding="utf-8")
    checked = house(small, "--check")
    assert (checked.returncode, held(small)["import depth"]["now"]) == (0, 5)
    assert "import depth: 2 instead of 5" in checked.stdout
    assert house(small).returncode == 0
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"import depth"', '"import deep"', "'import depth' is missing"),
        ("now = 2, limit = 14", "limit = 14", "'import depth' must have a number `now`"),
        ("now = 2, limit = 14", 'now = 3, raised = " "', "'import depth' has an empty `raised`"),
        ('"missing_values"', '"nothing"', "the probe nothing of .ci/house.toml stands in no file"),
    ],
)
def test_a_wrong_file_is_refused(small: Path, old: str, new: str, words: str) -> None:
    path = small / ".ci" / "house.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    done = house(small)
    assert done.returncode == 1
    assert words in done.stderr
