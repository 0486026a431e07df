"""Outputs of every command: never one of its inputs, refused before any work if they cannot be written.

The commands and their options are those of the program, so a new one is tested as soon as it is there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import combinations, cycle
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

import mnlearn
from mnlearn.cli.app import make_app

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(mnlearn.__file__).parents[1])}
FILE_WORDS = ("FILE", "DIR", "FOLDER", "DATA", "GRAPH", "MODEL", "SOURCE", "TARGET", "TRUTH", "LEARNED", "NETWORK")


class Command(NamedTuple):
    """A command of the program and the files of its options, by the names of the parameters."""

    words: tuple[str, ...]
    click: Any
    uses: dict[str, tuple[str, Any]]

    def called(self, files: dict[str, str]) -> list[str]:
        """Return the words that run it with these files; what else it needs is "x"."""
        options, arguments = [], []
        for parameter in self.click.params:
            value = files.get(parameter.name, "x" if parameter.required else None)
            if value is not None and parameter.param_type_name == "argument":
                arguments.append(value)
            elif value is not None:
                options += [max(parameter.opts, key=len), value]
        return [*self.words, *options, *arguments]


def commands(program: typer.Typer) -> Iterator[Command]:
    def walk(group: Any, words: tuple[str, ...]) -> Iterator[Command]:
        for name, inside in getattr(group, "commands", {}).items():
            yield from walk(inside, (*words, name))
        uses = getattr(getattr(group.callback, "__wrapped__", group.callback), "file_uses", None)
        if uses is not None:
            yield Command(words, group, uses)

    yield from walk(typer.main.get_command(program), ())


COMMANDS = list(commands(make_app()))


def writers_among(found: list[Command]) -> list[tuple[Command, str]]:
    """Return the options that are written, each with its command."""
    return [(one, key) for one in found for key, (_, use) in one.uses.items() if use.written]


WRITERS = writers_among(COMMANDS)
PAIRS = [
    (one, out, key)
    for one, out in WRITERS
    for key, (_, use) in one.uses.items()
    if key != out and not use.folder and not one.uses[out][1].folder
]


def named(value: Any) -> str:
    return "-".join(value.words) if isinstance(value, Command) else str(value)


def check_files_are_marked(commands_to_check: list[Command]) -> None:
    """Fail for an option whose metavariable is a file, and that does not say whether it is read or written."""
    for command in commands_to_check:
        for parameter in command.click.params:
            if any(word in str(parameter.metavar).upper() for word in FILE_WORDS):
                assert parameter.name in command.uses, f"{command.words}: mark {parameter.name} by reads or writes"


def test_every_option_that_is_a_file_is_marked() -> None:
    assert len(COMMANDS) >= 20
    check_files_are_marked(COMMANDS)


def linked(name: str) -> Callable[[Path], Path]:
    def make(file: Path) -> Path:
        other = file.with_name(f"other{file.suffix}")
        (other.symlink_to if name == "symbolic" else other.hardlink_to)(file)
        return other

    return make


SPELLINGS: dict[str, Callable[[Path], Any]] = {
    "as it is": lambda file: file,
    "relative": lambda file: Path(os.path.relpath(file)),
    "by the folder": lambda file: f"{file.parent}/./../{file.parent.name}/{file.name}",
    "by a symbolic link": linked("symbolic"),
    "by a hard link": linked("hard"),
}


@pytest.mark.parametrize(
    ("command", "out", "key", "spelling"),
    [(*pair, spelling) for pair, spelling in zip(PAIRS, cycle(SPELLINGS), strict=False)],  # in turn: five times as fast
    ids=named,
)
def test_no_output_is_an_input_or_another_output(
    run: Any, tmp_path: Path, command: Command, out: str, key: str, spelling: str
) -> None:
    file = tmp_path / "file.json"
    file.write_text("a,b\n0,1\n")
    other = str(SPELLINGS[spelling](file))
    before = file.read_bytes()
    refusal = run(*command.called({key: str(file), out: other})).refusal()
    assert "must be another file than" in refusal
    assert {command.uses[out][0], command.uses[key][0]} <= set(refusal.replace(",", " ").split())
    assert file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) in (["file.json"], ["file.json", "other.json"])


PLACES = {
    "below a file": ("file/out", "must be (in an existing folder|a folder)"),
    "in a folder of the system": ("/proc/self/out", "must be (a file|a folder|in a writable folder)"),
    "with a long name": ("x" * 300, "File name too long"),
    "by a link to itself": ("loop", "must be a (file|folder)"),
}


@pytest.mark.parametrize(
    ("command", "out", "place"),
    [(*writer, place) for writer, place in zip(WRITERS * 2, cycle([*PLACES, "below a file"]), strict=False)],
    ids=named,
)
def test_an_output_that_cannot_be_written_is_refused_before_any_work(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command, out: str, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("here")
    Path("loop").symlink_to("loop")
    path, message = PLACES[place]
    refusal = run(*command.called({out: path})).refusal()
    assert command.uses[out][0] in refusal
    assert any(words in refusal for words in expanded(message)), refusal
    assert sorted(os.listdir()) == ["file", "loop"]


def expanded(pattern: str) -> list[str]:
    before, _, rest = pattern.partition("(")
    choices, _, after = rest.partition(")")
    return [before + choice + after for choice in choices.split("|")]


@pytest.mark.parametrize(
    ("command", "out", "path"),
    [
        (command, out, path)
        for (command, out), path in zip(WRITERS, cycle([".", "-", "/dev/null"]), strict=False)
        if not command.uses[out][1].folder
    ],
    ids=named,
)
def test_a_directory_a_dash_and_a_device_are_no_files(run: Any, command: Command, out: str, path: str) -> None:
    refusal = run(*command.called({out: path})).refusal()
    assert refusal.startswith(f"{command.uses[out][0]} must be a file")
    assert not Path("/dev/null").is_file()


def test_data_are_not_written_over(run: Any, data: Path, truth: Path, tmp_path: Path) -> None:
    before = data.read_bytes()
    model, mine = tmp_path / "model", tmp_path / "mine.truth.edges.csv"
    assert run("fit", truth, data, "--out", model).code == 0
    shutil.copy(truth, mine)
    for words in (
        ("learn", data, "--out", data),
        ("predict", model, data, "stress", "--out", data),
        ("report", data, "--out", data),
        ("simulate", mine, "--out", tmp_path / "mine.csv"),  # the default of --truth
    ):
        assert "must be another file than" in run(*words).refusal()
    assert data.read_bytes() == before
    assert mine.read_bytes() == truth.read_bytes()


def test_a_pack_is_not_written_over_its_sources(run: Any, data: Path, tmp_path: Path) -> None:
    target = tmp_path / "data.mnpack"
    mnlearn.pack(data, target)
    os.link(data, tmp_path / "years.csv")
    with pytest.raises(mnlearn.errors.FileError, match="out must be another file than source"):
        mnlearn.pack(str(target), target)
    with pytest.raises(mnlearn.errors.FileError, match="out must be another file than source"):
        mnlearn.pack([str(target), str(data)], os.path.relpath(target))
    (tmp_path / "link.mnpack").symlink_to(data)
    assert "must be another file than" in run("pack", tmp_path / "years*", "-o", tmp_path / "link.mnpack").refusal()
    assert "must be another file than" in run("pack", tmp_path, "-o", tmp_path / "link.mnpack").refusal()
    assert mnlearn.read(target).n_rows == 1000


def mnlearn_into(out: Path, *words: object) -> subprocess.CompletedProcess[str]:
    with out.open("a") as file:
        command = [sys.executable, "-m", "mnlearn", *map(str, words)]
        return subprocess.run(
            command, stdout=file, stderr=subprocess.PIPE, text=True, check=False, env=ENVIRONMENT, timeout=60
        )


def test_standard_output_is_not_sent_to_an_input_or_a_written_file(data: Path, tmp_path: Path) -> None:
    before = data.read_bytes()
    for out in (data, tmp_path / "net.json"):
        done = mnlearn_into(out, "learn", data, "--out", tmp_path / "net.json")
        assert (done.returncode, done.stderr.count("standard output")) == (2, 1)
    assert data.read_bytes() == before


def test_a_file_that_is_replaced_keeps_its_permissions(run: Any, data: Path, tmp_path: Path) -> None:
    target = tmp_path / "net.json"
    target.write_text("")
    target.chmod(0o600)
    assert run("learn", data, "--method", "mpl", "--out", target).code == 0
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_read_only_is_kept(
    run: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "net.json"
    target.write_text("mine")
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != target)  # root may write everything
    assert "the file is read-only" in run("learn", data, "--out", target).refusal()
    assert target.read_text() == "mine"


def test_two_outputs_of_one_command_are_two_files() -> None:
    """The pairs above hold every two outputs of every command."""
    for command in COMMANDS:
        outputs = [key for key, (_, use) in command.uses.items() if use.written and not use.folder]
        assert all((command, *pair) in PAIRS for pair in combinations(outputs, 2))


def test_a_file_is_no_folder_and_nothing_is_no_name(run: Any, data: Path) -> None:
    below = run("learn", data, "--out", data / "x.json")
    assert (below.code, "is a file. Name another folder." in below.err) == (2, True)
    empty = run("learn", data, "--out", "")
    assert (empty.code, "--out must be the name of a file; got ''." in empty.err) == (2, True)
