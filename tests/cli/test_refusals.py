"""Bad input at the command line: exit 2, one line with a solution, nothing on standard output."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

GOOD = "a,b\n0,0\n1,1\n0,1\n"

FILES: dict[str, tuple[bytes, str]] = {
    "empty file": (b"", "is empty"),
    "header only": (b"a,b\n", "must have rows below its header"),
    "one row": (b"a,b\n0,1\n", "at least 2 rows"),
    "ragged": (b"a,b\n0,1\n0,1,2\n0,0\n", "line 3 has 3"),
    "duplicate names": (b"a,b,a\n0,1,0\n1,0,1\n", "'a' occurs more than once"),
    "all missing": (b"a,b\n0,\n1,\n0,\n", "'b' is missing in all 3 rows"),
    "some missing": (b"a,b\n0,\n1,0\n0,1\n", "or --missing drop_rows to leave out 1 of 3 rows; or --missing category"),
    "NaN": (b"a,b\n0,0.5\n1,nan\n0,1.5\n", "'b' 1"),
    "infinity": (b"a,b\n0.1,0.5\n1.2,inf\n0.3,1.5\n", "finite numbers; data row 2 holds inf"),
    "doubtful": (b"a,b\n0,NA\n1,x\n0,y\n", "Use --missing-value NA if so, or --categorical b if it is a label"),
    "mixed types": (b"a,b\n0,1\n1,2\n0,red\n1,7\n", "'b'"),
    "not UTF-8": (b"a,b\n0,caf\xe9\n1,tea\n", "UTF-8"),
    "one column": (b"a\n0\n1\n", ""),
    "gzipped": (gzip.compress(b"a,b\n0,1\n"), "looks gzipped. Name it data.csv.gz."),
    "quote never closed": (b'a,b\n0,1\n1,"0\n0,1\n', "never closed in the row that begins on line 3"),
    "other delimiter": (b"a;b\n0;1\n1;0\n", "pass --delimiter ';'"),
}
PYTHON = re.compile(r"\b(missing|missing_values|types|columns|delimiter|discretize|format)=")


@pytest.mark.parametrize("fault", FILES)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_bad_files_are_refused_by_test(run: Any, tmp_path: Path, fault: str, as_json: bool) -> None:
    content, message = FILES[fault]
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    refusal = run("test", path, "a", "b", *(["--json"] if as_json else [])).refusal()
    assert message in refusal
    assert not PYTHON.search(refusal), "the solution must be an option"


@pytest.mark.parametrize("fault", ["empty file", "header only", "one row", "one column", "ragged", "duplicate names"])
def test_bad_files_are_refused_by_info(run: Any, tmp_path: Path, fault: str) -> None:
    content, message = FILES[fault]
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    assert message in run("info", path).refusal()


@pytest.mark.parametrize("command", [("test", "a", "b"), ("info",)], ids=["test", "info"])
def test_paths_that_are_not_files_are_refused(run: Any, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "survey.csv").write_text(GOOD)
    first, *others = command
    assert "is a directory" in run(first, tmp_path, *others).refusal()
    assert "Did you mean 'survey.csv'?" in run(first, tmp_path / "survy.csv", *others).refusal()
    assert "must end in one of" in run(first, __file__, *others).refusal()
    os.mkfifo(tmp_path / "pipe.csv")
    assert "Save it to disk first" in run(first, tmp_path / "pipe.csv", *others).refusal()


def test_truncated_parquet_is_refused(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": [0, 1] * 500, "b": [0, 1] * 500}), path)
    assert run("test", path, "a", "b", "--json").document()["independent"] is False
    path.write_bytes(path.read_bytes()[:-20])
    assert "damaged, cut short or of another format" in run("test", path, "a", "b").refusal()
    assert "damaged" in run("info", path).refusal()


def test_too_many_categories_are_refused(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("id,b\n" + "".join(f"u{i},{i % 2}\n" for i in range(66_000)))
    assert "65,535" in run("test", path, "id", "b").refusal()


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (("aa", "c"), "column 'aa' does not exist. Did you mean 'a'? Known: 'a', 'b'"),
        (("a", "coim"), "column 'coim' does not exist. Did you mean 'coin'?"),
        (("a", "c", "--given", "hight"), "column 'hight' does not exist. Did you mean 'height'"),
        (("a", "a"), "x and y must be two different columns; got 'a' twice"),
        (("a", "c", "--given", "a"), "given must not contain x or y; got 'a' in both"),
        (("a", "c", "--given", "b", "--given", "b"), "given must name each column once; got 'b' twice"),
        (("a", "height", "--test", "g2"), "or use a test for several kinds: mixed"),
        (("a", "height", "--test", "pcor"), "pcor needs continuous variables; 'a' is categorical"),
        (("a", "coin", "--test", "pcor"), "(--continuous a)"),
        (("a", "c", "--test", "chi"), "test 'chi' does not exist. Did you mean 'chi2'?"),
        (("a", "c", "--alpha", "0"), "alpha must be between 0 and 1"),
        (("a", "c", "--dof", "every"), "dof rule 'every' does not exist"),
        (("a", "c", "--prior", "0.5"), "chi2 has no setting 'prior'; it accepts alpha, dof"),
        (("a", "c", "--test", "bayes", "--alpha", "0.1"), "bayes has no setting 'alpha'; it accepts prior"),
        (("a", "c", "--test", "mi", "--permutations", "0"), "permutations must be a whole number, at least 1"),
        (
            ("a", "c", "--missing", "ignore"),
            "--missing must be one of 'error', 'drop_rows', 'category', ",
        ),
        (("a", "height", "--discretize", "w"), "--discretize must be width or frequency; got 'w'."),
        (("a", "c", "--bins", "3"), "bins is for --discretize width or --discretize frequency"),
        (("a", "c", "--categorical", "a", "--continuous", "a"), "a column must have one type; got 'a'"),
        (
            ("a", "c", "--categorical", "zz"),
            "--nominal, --ordinal, --count or --continuous: column 'zz' does not exist",
        ),
        (("a", "c", "--repeats", "zz"), "--repeats: column 'zz' does not exist"),
        (("a", "c", "--repeats", "a"), "repeats must name a column that is not tested"),
        (("a", "c", "--delimiter", "ab"), "delimiter must be one ASCII character"),
        (("a", "c", "--delimiter", "é"), "delimiter must be one ASCII character, not a quote"),
        (("a", "coin", "--continuous", "coin"), "'coin'"),
    ],
)
def test_impossible_questions_are_refused(run: Any, survey: Path, question: tuple[str, ...], message: str) -> None:
    assert message in run("test", survey, *question).refusal()
