"""BIF files: written here with all that occurs in the wild, broken here, and the real ones where they are at hand."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnlearn.errors import FileError
from mnlearn.simulate import BayesianNetwork, read_bif
from networks import DATA, needs_data, network_file

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


# Every rule of the format: what to replace in SPRINKLER, by what, the line of the error and its message.
BROKEN = [
    (
        "( sprinkler | rain )",
        "( sprinkler ? rain-fall )",
        9,
        r"variable '\?' does not exist.* Known: 'rain', 'sprinkler'",
    ),
    ('network "a garden" {', "garden {", 1, r"must begin with a block 'network NAME \{ \}'"),
    ("property version 1.0 ;", "version 1.0 ;", 2, "'}' must end the network block here; got 'version 1.0 ;'"),
    ("variable rain {", "variabel rain {", 5, "a block must begin here, with 'variable' or 'probability'"),
    ("variable rain {", "variable rain fall {", 5, "must have one name; got 'rain fall'"),
    ("variable sprinkler", "variable rain", 6, "'rain' is declared again"),
    ("type discrete [ 3 ]", "type continuous", 5, r"'rain' needs 'type discrete \[ NUMBER \] .*got 'type continuous"),
    ("type discrete [ 3 ]", "type discrete [ 4 ]", 5, "must list the number of states that it announces; got 3"),
    ("<5, 5-12, 12+ }", "<5, <5, 12+ }", 5, "the states of 'rain' must differ"),
    ("<5, 5-12, 12+ }", "}", 5, "the states of 'rain' must be words, at least one; got '}'"),
    ("position = (1, 2) ; }", "position = (1, 2) ; more; }", 5, "'}' must end the variable block here; got 'more ;'"),
    ("probability ( rain )", "probability rain", 8, r"must begin with '\( NAME \| PARENTS \)'; got 'rain'"),
    ("probability ( rain )", "probability ( )", 8, r"must begin with '\( NAME \| PARENTS \)'"),
    ("probability ( rain )", "probability ( rain | rain )", 8, "the variable and its parents must differ"),
    ("( sprinkler | rain )", "( rain )", 9, "'rain' has another. Remove one"),
    ("(5-12) 0.1, 0.9;", "{ }", 11, "';' must end a row of the table of 'sprinkler'; got '{'"),
    ("(5-12) 0.1, 0.9;", "5-12: 0.1, 0.9;", 11, "the table of 'sprinkler' must have rows"),
    ("(5-12) 0.1, 0.9;", "default 1 0; default 1 0;", 11, "or one 'default NUMBERS;'"),
    ("(5-12) 0.1, 0.9;", "(5-12) 0.1 0.8 0.1;", 11, "this row of 'sprinkler' must have 2 numbers; got 3"),
    ("(5-12) 0.1, 0.9;", "(5-13) 0.1, 0.9;", 11, "state '5-13' does not exist. Did you mean '5-12'"),
    ("(5-12) 0.1, 0.9;", "(5-12, never) 0.1, 0.9;", 11, "one state for each of 1 parents; got '5-12 never'"),
    ("(5-12) 0.1, 0.9;", "(<5) 0.1, 0.9;", 11, "one row for each configuration; got two"),
    ("(5-12) 0.1, 0.9;", "(5-12) 0.1, nan;", 11, "must hold numbers such as 0.25 or 1e-3; got '0.1 nan'"),
    ("(5-12) 0.1, 0.9;", "(5-12) 0.1, 0_9;", 11, "must hold numbers such as"),
    ("(5-12) 0.1, 0.9;", "(5-12) 0.1, 0.9.1;", 11, "must hold numbers such as"),
    ("(5-12) 0.1, 0.9;", '(5-12) 0.1, "0.9";', 11, "must hold numbers such as"),
    ("(5-12) 0.1, 0.9;", "", 13, r"the table of 'sprinkler' must have a row for \(5-12\). Add it, or a default"),
    ("  (5-12, never) 0.8, 0.2;\n", "", 20, r"the table of 'grass-wet' must have a row for \(5-12, never\)"),
    ("table 0.5, 0.3, 0.2;", "", 8, "the table of 'rain' must have a row for its only distribution"),
    ("( rain ) {", '( "rain ) {', 8, "a quotation mark is not closed. Close it."),
    ("// a comment", "/* a comment", 4, "a comment is not closed. Close it."),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), BROKEN)
def test_errors_name_the_line_the_rule_and_a_remedy(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    assert old in SPRINKLER
    path = written(tmp_path, SPRINKLER.replace(old, new, 1))
    with pytest.raises(FileError, match=rf"^path must hold a complete network in BIF; .*bif, line {line}: .*{message}"):
        read_bif(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("table 0.5, 0.3, 0.2", "table 0.5, 0.3, 0.1", r"that of 'rain' sums to 0.9"),
        ("(12+) 0.01, 0.99", "(12+) -0.01, 1.01", r"that of 'sprinkler' holds -0.01"),
        ("(5-12) 0.1, 0.9", "(5-12) 0.1, 1e999", "that of 'sprinkler' holds inf"),
        ("probability ( rain ) { table 0.5, 0.3, 0.2; }", "", "every variable must .* block; 'rain' has none. Add it."),
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


def test_all_forms_of_the_format_give_the_same_network(tmp_path: Path) -> None:
    """As JavaBayes and other programs write: quotes, blanks for commas, no bar, tables, defaults and comments."""
    other = """
network "Garden; {spring}" { //3 variables
    property "author = a; b" ;
    property url = http://x/y* ; property note = 5" tall ;
}
/* all of { these */ variable "rain"//3 values
{
    property "position = (1, 2)" ;
    type discrete[3] { "<5"  "5-12"\t"12+" } ;;
}
variable sprinkler { type discrete[2] { on/off never }; property x = { y ; }
variable grass-wet { type discrete { yes no }; }
probability("rain") { table +.5 3E-1 0.2e+00; }
probability ( sprinkler rain ) { property p = 1 ; table 0.4 0.1 1e-2 /* never: */ 0.6 0.9 0.99; }
probability ( "grass-wet" | "rain" sprinkler ) {
    (*, on/off) 1, 0.0;
    ("<5", on/off) 0.9 0.1;  // one of the three above
    (5-12 "on/off") 95E-2 .05;
    default 0.8, 0.2;
    (<5 never) 0.01, 0.99; (12+, never) 9e-1, 0.10;
}
// the end"""
    expected, network = (read_bif(written(tmp_path, text)) for text in (SPRINKLER, "\ufeff" + other))
    assert (network.names, network.states, network.parents) == (expected.names, expected.states, expected.parents)
    for table, wanted in zip(network.tables, expected.tables, strict=True):
        assert np.array_equal(table, wanted)


def test_words_of_the_format_may_be_names_and_states(tmp_path: Path) -> None:
    text = """network network { }
variable property { type discrete [4] { property, table, default, * }; }
variable probability { type discrete [2] { "a b, c; {d}", "(e) // \'f\'" }; }
probability ( property ) { default 0.25, 0.25, 0.25, 0.25; }
probability ( probability | property ) { (property) 0, 1; (table) 1 0; (*) 0.5 0.5; (default) 1, 0; }
"""
    network = read_bif(written(tmp_path, text))
    assert network.names == ("property", "probability")
    assert network.states == (("property", "table", "default", "*"), ("a b, c; {d}", "(e) // 'f'"))
    assert network.tables[1].tolist() == [[0, 1], [1, 0], [1, 0], [0.5, 0.5]]


def test_reading_needs_no_other_package(tmp_path: Path) -> None:
    path = written(tmp_path, SPRINKLER)
    code = f"import sys; from mnlearn.simulate import read_bif; read_bif({str(path)!r}); print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "pyagrum" not in found.stdout.split()


# The same networks read by pyAgrum, and networks that it wrote. It reads numbers in single precision.

SINGLE = 2.0**-23


def pyagrum_reads(path: Path) -> BayesianNetwork:
    with warnings.catch_warnings():  # its import warns of types that SWIG made
        warnings.simplefilter("ignore", DeprecationWarning)
        import pyagrum
    return from_pyagrum(pyagrum.loadBN(str(path)))


def from_pyagrum(network: Any) -> BayesianNetwork:
    names = tuple(network.variable(x).name() for x in sorted(network.nodes()))
    tables = [network.cpt(name) for name in names]
    return BayesianNetwork(
        names=names,
        states=tuple(tuple(network.variable(name).labels()) for name in names),
        parents=tuple(tuple(names.index(parent) for parent in table.names[1:]) for table in tables),
        # Its arrays have the last parent first and the variable last.
        tables=tuple(t.toarray().transpose(*reversed(range(len(t.names) - 1)), len(t.names) - 1) for t in tables),
    )


def assert_same(one: BayesianNetwork, other: BayesianNetwork, error: float) -> None:
    assert (one.names, one.states, one.parents) == (other.names, other.states, other.parents)
    for table, wanted in zip(one.tables, other.tables, strict=True):
        assert np.abs(table - wanted).max() <= error


def as_plain(word: str) -> str:
    """Return a word that pyAgrum reads, in place of a state such as `<5` or `Asy/Patch`."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*|[0-9.]+(?:[eE][+-]?[0-9]+)?", word):
        return word
    return f"odd_{word.encode().hex()}"


@needs_data
@pytest.mark.parametrize("file", sorted((DATA / "networks").glob("*.bif*")), ids=lambda file: file.name.split(".")[0])
def test_every_network_is_the_one_that_pyagrum_reads(tmp_path: Path, file: Path) -> None:
    text = (gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()).decode()
    plain = re.sub(r"[^\s{}()\[\],;|]+", lambda found: as_plain(found.group()), text)
    assert_same(read_bif(written(tmp_path, plain)), pyagrum_reads(written(tmp_path, plain)), SINGLE)


@st.composite
def networks(draw: st.DrawFn, names: st.SearchStrategy[str], states: st.SearchStrategy[str]) -> BayesianNetwork:
    n = draw(st.integers(1, 6))
    found = draw(st.lists(names, min_size=n, max_size=n, unique=True))
    labels = [draw(st.lists(states, min_size=2, max_size=4, unique=True)) for _ in range(n)]
    parents = [draw(st.lists(st.sampled_from(range(x)), max_size=3, unique=True)) if x else [] for x in range(n)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = [rng.dirichlet([0.5] * len(labels[x]), [len(labels[y]) for y in parents[x]]) for x in range(n)]
    return BayesianNetwork(tuple(found), tuple(map(tuple, labels)), tuple(map(tuple, parents)), tuple(tables))


PLAIN = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True).filter(
    lambda word: word not in ("network", "variable", "probability", "type", "discrete", "table", "default", "property")
)
ODD = st.text(st.characters(exclude_characters='"\n', exclude_categories=["Cs"]), min_size=1, max_size=6)


def as_pyagrum(network: BayesianNetwork) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import pyagrum
    gum: Any = pyagrum
    found = gum.BayesNet()
    for name, labels in zip(network.names, network.states, strict=True):
        found.add(gum.LabelizedVariable(name, name, list(labels)))
    for x, name in enumerate(network.names):
        for y in network.parents[x]:
            found.addArc(network.names[y], name)
        for states in product(*(range(network.cards[y]) for y in network.parents[x])):
            given = {network.names[y]: state for y, state in zip(network.parents[x], states, strict=True)}
            found.cpt(name)[given] = network.tables[x][states].tolist()
    return found


@given(network=networks(PLAIN, PLAIN))
def test_networks_of_pyagrum_are_read_to_the_last_digit(
    tmp_path_factory: pytest.TempPathFactory, network: BayesianNetwork
) -> None:
    path = tmp_path_factory.mktemp("networks") / "n.bif"
    as_pyagrum(network).saveBIF(str(path))
    assert_same(read_bif(path), network, 1e-15)
    assert_same(pyagrum_reads(path), network, SINGLE)


SEPARATORS = st.sampled_from([" ", ", ", ",", "\n", "\t /* a, ( comment */ ", ' // "a comment" }\n'])


@given(network=networks(ODD, ODD), between=SEPARATORS, whole=st.booleans())
def test_any_name_in_quotes_is_read(
    tmp_path_factory: pytest.TempPathFactory, network: BayesianNetwork, between: str, whole: bool
) -> None:
    def listed(words: Any) -> str:
        return between.join(words)

    quoted = [f'"{name}"' for name in network.names]
    text = "network n { }\n"
    for name, labels in zip(quoted, network.states, strict=True):
        text += f"variable{between.replace(',', ' ')}{name} {{ type discrete [{len(labels)}] {{ "
        text += listed(f'"{label}"' for label in labels) + " }; }\n"
    for x, name in enumerate(quoted):
        parents, table = network.parents[x], network.tables[x]
        text += f"probability ( {listed([name, *(quoted[y] for y in parents)])} ) {{\n"
        if whole:
            text += f"table {listed(map(repr, np.moveaxis(table, -1, 0).ravel().tolist()))};"
        else:
            for states in product(*(range(network.cards[y]) for y in parents)):
                given_states = (f'"{network.states[y][state]}"' for y, state in zip(parents, states, strict=True))
                row = f"( {listed(given_states)} )" if parents else "table"
                text += f"  {row} {listed(map(repr, table[states].tolist()))};\n"
        text += "}\n"
    path = tmp_path_factory.mktemp("networks") / "n.bif"
    path.write_bytes(text.encode())
    assert_same(read_bif(path), network, 1e-15)


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
        (crowded(32), "must have 8,589,934,592 numbers; got 2"),
        (crowded(70), "must have 2,361,183,241,434,822,606,848 numbers; got 2"),
        (crowded(32).replace("{ table 0.5, 0.5; }\n", "{ default 0.5, 0.5; }"), "must hold the numbers of its tables"),
        (
            crowded(32).replace("v31, v32 ) { table", f"v31, v32 ) {{ ({'*,' * 32}) 0.5, 0.5; table"),
            "must hold the numbers of its tables",
        ),
        ("network n { } probability " + "(" * 200_000, "the file ends inside a block"),
        ("network n { } }", "a block must begin here, with 'variable' or 'probability'; got '}'"),
        ("property " * 200_000, "complete network"),
        ("network n { " + "property " * 200_000, "complete network"),
        ("/*" * 200_000, "complete network"),
        ("network n { } " + "//" * 200_000 + "\n" + '"' * 200_001, "complete network"),
        ("network n { } variable a { type discrete [2] { " + "/" * 200_000, "complete network"),
    ],
    ids=[
        *("parents", "more parents", "a default", "stars", "brackets", "a brace"),
        *("properties", "properties in a block", "comments", "quotes", "slashes"),
    ],
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
