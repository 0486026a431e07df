"""Readers under test: sound files of each, changes that keep checksums right, and how a user would read them."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import mnlearn as mn
from fuzz.mutations import ODD_NUMBERS, Mutations
from fuzz.packs import PackParts, take_apart
from mnlearn import checkpoint as checkpoints
from mnlearn.data import Dataset, pack, read
from mnlearn.errors import MnlearnError
from mnlearn.graphs.formats import FORMATS, read_graph, write_graph
from mnlearn.graphs.graph import Graph
from mnlearn.graphs.named import NamedGraph
from mnlearn.model import fit
from mnlearn.model.files import load_model
from mnlearn.results import targets as screened
from mnlearn.simulate import read_bif
from mnlearn.statistics import Counts, kernels

Case: TypeAlias = Mapping[str, bytes]  # files of a folder by name
METHODS = ("mpl", "sep", "gsmn", "pc", "ib", "mbs")


class Reader(NamedTuple):
    """A reader and its files."""

    cases: Callable[[], list[Case]]
    change: Callable[[Mutations, Case], Case]
    read: Callable[[Path], object]  # of the folder with the files


def files_of(write: Callable[[Path], object]) -> Case:
    """Return the files that a function writes to a folder."""
    with TemporaryDirectory() as name:
        write(Path(name))
        return {file.name: file.read_bytes() for file in Path(name).iterdir()}


@cache
def _rows(n_rows: int = 70) -> Dataset:
    rng = np.random.default_rng(1)
    first = rng.integers(0, 2, n_rows)
    columns = [np.where(rng.random(n_rows) < 0.7, first % card, rng.integers(0, card, n_rows)) for card in (2, 3, 2, 4)]
    return Dataset.from_codes(columns, cards=(2, 3, 2, 4), names=["a", "b", "c", "d"])


# Packed files


def _pack_cases() -> list[Case]:
    rng = np.random.default_rng(2)
    words = {"w": ["x", "y", None] * 20, "n": [1, 2, 2] * 20, "t": [True, False, True] * 20}
    numbers = {"u": rng.normal(size=40), "v": rng.normal(size=40)}
    holes = {"w": [1, 2, None, 3] * 20, "k": [0, 4, None, 1] * 20, "r": [0.5, 1.5, None, 2.5] * 20, "n": [1, 2] * 40}
    return [
        files_of(lambda folder: pack(_rows(), folder / "f.mnpack")),
        files_of(lambda folder: pack(_rows().compact(), folder / "f.mnpack")),
        files_of(lambda folder: pack(words, folder / "f.mnpack", missing="category")),
        files_of(lambda folder: pack(numbers, folder / "f.mnpack")),
        files_of(
            lambda folder: pack(holes, folder / "f.mnpack", missing="testwise", types={"w": "ordinal", "k": "count"})
        ),
        files_of(lambda folder: pack(mn.discretize(read(numbers)), folder / "f.mnpack")),
    ]


@cache
def _taken_apart(content: bytes) -> PackParts:
    with TemporaryDirectory() as name:
        path = Path(name) / "f.mnpack"
        path.write_bytes(content)
        return take_apart(path)


def _change_pack(change: Mutations, case: Case) -> Case:
    (name, content), rng = next(iter(case.items())), change.rng
    parts, kind = _taken_apart(content).copy(), rng.random()
    if kind < 0.05:
        return {name: change.times(change.data, content)}
    if kind < 0.5:
        parts.described = change.times(change.json, parts.described)
    elif kind < 0.75:
        for part in rng.sample(list(parts.content), rng.randint(1, 2)):
            parts.content[part] = _patched(change, parts.content[part])
    elif kind < 0.85:
        part = rng.choice(list(parts.content))
        right = [4096 * rng.randrange(8), len(parts.content[part]), zlib.crc32(parts.content[part])]
        parts.changed[part] = change.json(right)
    elif kind < 0.9:
        place = rng.randrange(1, 7)
        parts.preamble[place] = rng.choice(ODD_NUMBERS) % 2 ** (32 if place in (1, 2, 6) else 64)
    else:
        _resize(change, parts)
    return {name: bytes(parts)}


def _patched(change: Mutations, content: bytes) -> bytes:
    """Return a part of the same length with other bytes, small ones most of the time."""
    data = bytearray(content)
    for _ in range(change.rng.choice((1, 1, 2, 8))):
        data[change.rng.randrange(len(data))] = change.rng.choice((0, 1, 2, 3, 4, 8, 127, 128, 255))
    return bytes(data)


def _resize(change: Mutations, parts: PackParts) -> None:
    """Give all columns another number of rows; planes become too long, too short, or are left out."""
    old, new = parts.described["n_records"], change.rng.choice((1, 2, 63, 64, 65, 128, 129))
    parts.described["n_records"] = new
    without_planes = change.rng.random() < 0.5
    for name, content in list(parts.content.items()):
        if not name.startswith("planes"):
            width = len(content) // old
            parts.content[name] = (content * (new // old + 1))[: new * width]
        elif without_planes:
            del parts.content[name]
        else:
            parts.content[name] = (content * 4)[: -(-new // 64) * 64]
    if change.rng.random() < 0.5:
        parts.described["plane_totals"] = [min(total, new) for total in parts.described["plane_totals"]]


def _read_pack(folder: Path) -> None:
    """Read a pack and learn from it; what it holds must be a valid data set with the counts of a copy in memory."""
    data = read(folder / "f.mnpack")
    data.verify()
    mn.overview(data)
    copied = tuple(np.array(column) for column in data.columns)
    if data.gaps:
        kinds: Any = {"ordinal": data.ordinal, "counted": data.counted, "gaps": data.gaps}
        Dataset(data.names, data.cards, copied, data.levels, None, **kinds)
        return
    repeats = None if data.repeats is None else np.array(data.repeats)
    copy = Dataset(data.names, data.cards, copied, data.levels, repeats)
    if 0 not in data.cards and data.n_variables > 1:
        one, other = (Counts(rows).reduce_all(kernels.entropy()) for rows in (data, copy))
        assert np.array_equal(one, other), "a pack is counted in another way than its rows"
    digest = zlib.crc32((folder / "f.mnpack").read_bytes())
    mn.learn(data, method=METHODS[digest % len(METHODS)] if 0 not in data.cards else "glasso")


# Models


def _model_cases() -> list[Case]:
    numbers = {name: np.random.default_rng(k).normal(size=40) for k, name in enumerate("uvw")}
    graph = Graph(4, [(0, 1), (1, 2), (2, 3)])
    return [
        files_of(lambda folder: fit(graph, _rows()).save(folder)),
        files_of(lambda folder: fit(graph, _rows(), "canonical").save(folder)),
        files_of(lambda folder: fit(Graph(3, [(0, 1)]), read(numbers)).save(folder)),
    ]


def _change_model(change: Mutations, case: Case) -> Case:
    files = dict(case)
    array = next(name for name in files if name.endswith(".npy"))
    if change.rng.random() < 0.05:
        name = change.rng.choice(list(files))
        files[name] = change.times(change.data, files[name])
        return files
    document = json.loads(files["model.json"])
    if change.rng.random() < 0.3:
        files[array] = change.times(change.data, files[array])
        document["parameters"]["sha256"] = hashlib.sha256(files[array]).hexdigest()
    else:
        document = change.times(change.json, document)
    files["model.json"] = _with_digest(document)
    return files


def _with_digest(document: Any) -> bytes:
    if not isinstance(document, dict):
        return json.dumps(document).encode()
    document.pop("sha256", None)
    right = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    return json.dumps({**document, "sha256": right}).encode()


def _read_model(folder: Path) -> None:
    model = load_model(folder)
    repr(model)
    model.to_dict()
    model.strengths()
    drawn = model.sample_dataset(5, seed=1)
    model.log_pseudolikelihood(drawn)
    model.predict(drawn, model.names[0])
    with TemporaryDirectory() as name:
        model.save(name)
        load_model(name)


# Saved results


def _result_cases() -> list[Case]:
    def saved(folder: Path, method: str, **settings: Any) -> None:
        mn.learn(_rows(), method=method, **settings).save(folder / "f.json")

    return [
        files_of(lambda folder: saved(folder, "gsmn", keep_trace=True)),
        files_of(lambda folder: saved(folder, "mpl")),
        files_of(lambda folder: saved(folder, "pc")),
        files_of(lambda folder: saved(folder, "ib")),
        files_of(lambda folder: mn.learn(_rows(), method="mpl").bootstrap(3, seed=1).save(folder / "f.json")),
    ]


def _change_result(change: Mutations, case: Case) -> Case:
    if change.rng.random() < 0.05:
        return {"f.json": change.times(change.data, case["f.json"])}
    document = change.times(change.json, json.loads(case["f.json"]))
    if isinstance(document, dict) and isinstance(document.get("result"), dict):
        document["result"].pop("digest", None)
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        document["result"]["digest"] = hashlib.sha256(text.encode()).hexdigest()
    return {"f.json": json.dumps(document).encode()}


def _read_result(folder: Path) -> None:
    learned = mn.load(folder / "f.json")
    str(learned)
    repr(learned)
    learned._repr_html_()
    learned.summary()
    learned.edge_list()
    learned.to_dict()
    if learned.result.log_odds is not None or learned.result.edge_probabilities is not None:
        learned.pair_list()
    if learned.frequencies is not None:
        learned.stable()
    learned.save(folder / "again.json")
    mn.load(folder / "again.json")


# Screens


def _screen_cases() -> list[Case]:
    def saved(folder: Path, **rule: Any) -> None:
        mn.screen(_rows(), **rule).save(folder / "f.mns")

    return [files_of(partial(saved, k=1)), files_of(partial(saved, k=None, threshold=1.0, statistic="x2"))]


def _change_screen(change: Mutations, case: Case) -> Case:
    (name, content), rng = next(iter(case.items())), change.rng
    if rng.random() < 0.1:
        return {name: change.times(change.data, content)}
    start, sizes = len(screened.MARK), screened._SIZES
    _, length = sizes.unpack_from(content, start)
    header, arrays = content[start + sizes.size :][:length], content[start + sizes.size + length : -4]
    if rng.random() < 0.5:
        header = json.dumps(change.times(change.json, json.loads(header))).encode()
    else:
        arrays = _patched(change, arrays)
    changed = screened.MARK + sizes.pack(screened.VERSION, len(header)) + header + arrays
    return {name: changed + struct.pack("<I", zlib.crc32(changed))}


def _read_screen(folder: Path) -> None:
    """Read a screen, look at it and learn among its pairs; its lists must be those of a screen."""
    found = mn.load_screen(folder / "f.mns")
    str(found)
    found.graph(threshold=1.0)
    table = found.to_scipy().toarray()
    assert np.array_equal(table, table.T), "the lists are not symmetric"
    assert not table.diagonal().any(), "a variable is its own partner"
    mn.learn(_rows(), method="pc", candidates=found)


# Checkpoints of samples and of screens


def _draw(folder: Path, method: str = "mpl", *, resume: bool = False) -> None:
    """Resample with a checkpoint, and use the frequencies."""
    found = mn.learn(_rows(), method).bootstrap(3, n_jobs=1, checkpoint=folder, resume=resume)
    found.stable(0.5).to_dict()


def _scan(folder: Path, k: int = 2, *, resume: bool = False) -> None:
    """Screen with a checkpoint, and use the pairs."""
    mn.screen(_rows(), k, n_jobs=1, checkpoint=folder, resume=resume).pairs("pyarrow")


_RUNS = (_draw, partial(_draw, method="gsmn"), _scan, partial(_scan, k=1))


def _checkpoint_cases() -> list[Case]:
    return [files_of(run) for run in _RUNS]


def _change_checkpoint(change: Mutations, case: Case) -> Case:
    (name, content), rng = next(iter(case.items())), change.rng
    if rng.random() < 0.1:
        return {name: change.times(change.data, content)}
    payloads, _ = checkpoints._records(content)
    at = rng.randrange(len(payloads))
    if at == 0 or rng.random() < 0.2:
        payloads[at] = change.times(change.data, payloads[at])
    else:
        entries = list(checkpoints._entries(payloads[at]).items())
        place = rng.randrange(len(entries))
        entries[place] = (entries[place][0], _change_answer(change, entries[place][1]))
        payloads[at] = b"".join(checkpoints._ENTRY.pack(key, len(answer)) + answer for key, answer in entries)
    seed = zlib.crc32(payloads[0])
    records = [checkpoints._record(payload, seed if k else 0) for k, payload in enumerate(payloads)]
    return {name: checkpoints.MARK + b"".join(records)}


def _change_answer(change: Mutations, answer: bytes) -> bytes:
    """Return an answer with another form, or with other bytes behind it."""
    (length,) = struct.unpack_from("<I", answer)
    form, rest = answer[4 : 4 + length], answer[4 + length :]
    if change.rng.random() < 0.7:
        form = json.dumps(change.times(change.json, json.loads(form))).encode()
    else:
        rest = change.times(change.data, rest)
    return struct.pack("<I", len(form)) + form + rest


def _read_checkpoint(folder: Path) -> None:
    """Resume each of the runs; all but the right one refuse the settings."""
    for run in _RUNS:
        try:
            run(folder, resume=True)
        except MnlearnError as error:
            if "same data and settings" not in str(error):
                raise
        else:
            return


# Text: graphs, networks, options


def text_reader(cases: Callable[[], list[Case]], read_text: Callable[[Path], object]) -> Reader:
    """Return the reader of one text file."""

    def change_text(change: Mutations, case: Case) -> Case:
        (name, content) = next(iter(case.items()))
        if change.rng.random() < 0.3:
            return {name: change.times(change.data, content)}
        return {name: change.times(change.text, content.decode()).encode("utf-8", "surrogatepass")}

    return Reader(cases, change_text, lambda folder: read_text(next(folder.iterdir())))


_NAMES = ("a", "b c", "é", "x_1", "5")


def _graph_cases(format: str) -> list[Case]:
    graph, numbers = Graph(5, [(0, 1), (1, 2), (3, 4)]), {(0, 1): {"weight": 0.5}, (3, 4): {"weight": -1e300}}
    plain = format == "csv"
    return [
        files_of(
            lambda folder: write_graph(
                folder / "f", graph, _NAMES, format=format, attributes=None if plain else numbers
            )
        ),
        files_of(lambda folder: write_graph(folder / "f", Graph(2, []), format=format)),
    ]


def _change_document(change: Mutations, case: Case) -> Case:
    """Return a JSON file with other values, or with other bytes."""
    (name, content) = next(iter(case.items()))
    if change.rng.random() < 0.2:
        return {name: change.times(change.data, content)}
    return {name: json.dumps(change.times(change.json, json.loads(content))).encode()}


def _graph_reader(format: str) -> Reader:
    def read_one(path: Path) -> None:
        named = read_graph(path, format)
        assert isinstance(named, NamedGraph)
        write_graph(path.parent / "again.json", named.graph, named.names)
        assert read_graph(path.parent / "again.json").graph == named.graph

    reader = text_reader(lambda: _graph_cases(format), read_one)
    return reader._replace(change=_change_document) if format == "json" else reader


_BIF = """network small { }
variable a { type discrete [ 2 ] { yes, no }; }
variable b { type discrete [ 3 ] { <5, 5-10, >10 }; property p = x; }
probability ( a ) { table 0.2, 0.8; }
probability ( b | a ) { (yes) 0.5, 0.25, 0.25; (no) 0.1, 0.2, 0.7; }
"""


READERS: dict[str, Reader] = {
    "pack": Reader(_pack_cases, _change_pack, _read_pack),
    "model": Reader(_model_cases, _change_model, _read_model),
    "result": Reader(_result_cases, _change_result, _read_result),
    "screen": Reader(_screen_cases, _change_screen, _read_screen),
    "checkpoint": Reader(_checkpoint_cases, _change_checkpoint, _read_checkpoint),
    **{f"graph-{format}": _graph_reader(format) for format in FORMATS if format != "dot"},
    "bif": text_reader(lambda: [{"f.bif": _BIF.encode()}], read_bif),
}
