"""Randomly changed formulas and checkpoints of the optimiser, as `fuzz` does it for the files of the library.

PYTHONPATH=tests:papers/tests python -m fuzz_papers --seconds 60 --reader optimize --reader cnf
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np

from fuzz.__main__ import main
from fuzz.mutations import Mutations
from fuzz.readers import READERS, Case, Reader, files_of, text_reader
from mnlearn_papers.optimize import maximize
from mnlearn_papers.optimize.problems import max_sat

_CNF = ("c two\np cnf 4 3\n1 -2 0\n2 3 -4 0\n-1 4\n0\n", "p wcnf 3 2 10\n10 1 2 0\n2.5 -3 0\n%\n")


def _optimize(path: Path) -> object:
    return maximize(lambda x: float(x.sum()), 8, seed=1, max_generations=2, checkpoint=path)


def _change_archive(change: Mutations, case: Case) -> Case:
    (name, content), rng = next(iter(case.items())), change.rng
    if rng.random() < 0.2:
        return {name: change.times(change.data, content)}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {member: archive.read(member) for member in archive.namelist()}
    member = rng.choice(list(files))
    if member == "told.npy" and rng.random() < 0.7:
        told = json.loads(str(np.load(io.BytesIO(files[member]))))
        buffer = io.BytesIO()
        np.save(buffer, np.array(json.dumps(change.times(change.json, told))))
        files[member] = buffer.getvalue()
    else:
        files[member] = change.times(change.data, files[member])
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for member, data in files.items():
            archive.writestr(member, data)
    return {name: written.getvalue()}


def _read_formula(path: Path) -> None:
    problem = max_sat(path)
    problem(np.zeros((2, problem.n_variables), dtype=np.int64))
    assert problem.total >= 0
    _ = problem.optimum


OF_PAPERS = {
    "optimize": Reader(
        lambda: [files_of(lambda folder: _optimize(folder / "f"))],
        _change_archive,
        lambda folder: _optimize(folder / "f"),
    ),
    "cnf": text_reader(lambda: [{"f.cnf": text.encode()} for text in _CNF], _read_formula),
}
READERS.update(OF_PAPERS)

if __name__ == "__main__":
    sys.exit(main())
