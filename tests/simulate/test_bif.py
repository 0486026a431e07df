"""BIF files: written here with all that occurs in the wild, broken here, and the real ones where they are at hand."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from mnlearn.errors import FileError, MissingDependencyError
from mnlearn.simulate import read_bif
from networks import needs_data, network_file

SPRINKLER = """network "a garden" {
  property version 1.0 ;
}
// a comment, with <signs> in it
variable rain { type discrete [ 3 ] { <5, 5-12, 12+ }; property position = (1, 2) ; }
variable sprinkler { type discrete [ 2 ] { on/off, never }; }
variable grass-wet { type discrete [ 2 ] { yes, no }; }
probability ( rain ) { table 0.5, 0.3, 0.2; }
probability ( sprinkler | rain ) {
  (<5) 0.4, 0.6;
  (5-12) 0.1, 0.9;
  (12+) 0.01, 0.99;
}
probability ( grass-wet | rain, sprinkler ) {
  (<5, on/off) 0.9, 0.1;
  (5-12, on/off) 0.95, 0.05;
  (12+, on/off) 1.0, 0.0;
  (<5, never) 0.01, 0.99;
  (5-12, never) 0.8, 0.2;
  (12+, never) 0.9, 0.1;
}
"""


def written(folder: Path, text: str, name: str = "garden.bif") -> Path:
    file = folder / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return file


@pytest.mark.parametrize("name", ["garden.bif", "garden.bif.gz"])
def test_every_part_is_read(tmp_path: Path, name: str) -> None:
    network = read_bif(written(tmp_path, SPRINKLER, name))
    assert network.names == ("rain", "sprinkler", "grass-wet")
    assert network.states == (("<5", "5-12", "12+"), ("on/off", "never"), ("yes", "no"))
    assert network.parents == ((), (0,), (0, 1))
    assert network.tables[1].tolist() == [[0.4, 0.6], [0.1, 0.9], [0.01, 0.99]]
    # Axes: rain, sprinkler, wet. The decimals are those of the file, not their single-precision neighbours.
    wet = np.array([[[0.9, 0.1], [0.01, 0.99]], [[0.95, 0.05], [0.8, 0.2]], [[1.0, 0.0], [0.9, 0.1]]])
    assert network.tables[2] == pytest.approx(wet, rel=0, abs=1e-15)


def test_a_file_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    for length in range(0, len(SPRINKLER) - 2, 7):
        with pytest.raises(FileError, match=r"path must hold a complete network.*garden\.bif"):
            read_bif(written(tmp_path, SPRINKLER[:length]))


def test_the_error_tells_the_line_and_no_stand_in(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"garden\.bif, line 9: .*cut off") as caught:
        read_bif(written(tmp_path, SPRINKLER.replace("( sprinkler | rain )", "( sprinkler ? rain-fall )")))
    assert "mnlearn_word" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("table 0.5, 0.3, 0.2", "table 0.5, 0.3, 0.1", r"that of 'rain' sums to 0.9"),
        ("(12+) 0.01, 0.99", "(12+) -0.01, 1.01", r"that of 'sprinkler' holds -0.01"),
        ("  (5-12, never) 0.8, 0.2;\n", "", r"'grass-wet' given the parents' states \(1, 1\) sums to 0"),
        ("probability ( rain ) { table 0.5, 0.3, 0.2; }", "", "that of 'rain' sums to 0. .* was often never given"),
    ],
)
def test_tables_that_are_none_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in SPRINKLER
    with pytest.raises(FileError, match=message):
        read_bif(written(tmp_path, SPRINKLER.replace(old, new)))


def test_files_that_are_no_bif_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"path must be an existing file; there is no .*none\.bif"):
        read_bif(tmp_path / "none.bif")
    (tmp_path / "x.bif").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="path must be text in UTF-8"):
        read_bif(tmp_path / "x.bif")
    whole = gzip.compress(SPRINKLER.encode())
    (tmp_path / "x.bif.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=r"sound gzip file; .*x\.bif\.gz.*Fetch it again"):
        read_bif(tmp_path / "x.bif.gz")


def test_without_the_parser_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyagrum", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'mnlearn\[inference\]'"):
        read_bif(written(tmp_path, SPRINKLER))


# Nodes, arcs, free parameters and edges of the moral graph, as the repository and MPL17 (Table 2) list them.
# For Insurance MPL17 has 984 parameters, the repository (and the file) 1008.
PUBLISHED = {
    "alarm": (37, 46, 509, 65),
    "andes": (223, 338, 1157, 626),
    "asia": (8, 8, 18, 10),
    "barley": (48, 84, 114005, 126),
    "child": (20, 25, 230, 30),
    "hailfinder": (56, 66, 2656, 99),
    "insurance": (27, 52, 1008, 70),
    "win95pts": (76, 112, 574, 225),
}


@needs_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_networks_have_their_published_sizes(name: str) -> None:
    network = read_bif(network_file(name))
    assert (network.n_variables, network.n_arcs, network.n_parameters) == PUBLISHED[name][:3]
    assert network.moral_graph().n_edges == PUBLISHED[name][3]


@needs_data
def test_samples_of_a_published_network_match_its_tables() -> None:
    network = read_bif(network_file("alarm"))
    data, rows = network.sample(50_000, seed=1), 50_000
    for x, table in enumerate(network.tables):
        seen = np.zeros(table.shape)
        np.add.at(seen, tuple(data.columns[j].astype(np.intp) for j in (*network.parents[x], x)), 1)
        given = seen.sum(axis=-1, keepdims=True)
        # 752 frequencies; a deviation of more than 5 standard errors (and one count) has probability below 1e-6 each.
        assert (np.abs(seen - given * table) <= 5 * np.sqrt(given * table * (1 - table)) + 1).all()
        assert seen.sum() == rows


def crowded(n_parents: int) -> str:
    """Return a network of binary variables in which one has many parents."""
    names = [f"v{k}" for k in range(n_parents + 1)]
    variables = "".join(f"variable {name} {{ type discrete [2] {{ a, b }}; }}\n" for name in names)
    alone = "".join(f"probability ( {name} ) {{ table 0.5, 0.5; }}\n" for name in names[1:])
    return f"network n {{ }}\n{variables}{alone}probability ( v0 | {', '.join(names[1:])} ) {{ table 0.5, 0.5; }}\n"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (crowded(32), "must hold the numbers of its tables"),
        (crowded(70), "must hold the numbers of its tables"),
        ("network n { } probability " + "(" * 200_000, r"has a '\(' too many"),
        ("network n { } }", "has a '}' too many"),
        ("property " * 200_000, "complete network"),
        ("/*" * 200_000, "complete network"),
    ],
    ids=["parents", "more parents", "brackets", "a brace", "properties", "comments"],
)
def test_text_on_which_the_parser_would_hang_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    path = tmp_path / "crafted.bif"
    path.write_text(text)
    with pytest.raises(FileError, match=rule):
        read_bif(path)


def test_a_small_archive_of_much_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "crafted.bif.gz"
    path.write_bytes(gzip.compress(bytes(65 << 20), 1))
    with pytest.raises(FileError, match="at most 64 MB of text"):
        read_bif(path)
