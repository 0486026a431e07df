"""Fitted Markov networks: the interface that all models share.

`DiscreteModel` (a product of factors), `GaussianModel` (a precision matrix) and `MixedModel` (pairwise interactions of
variables of any kind) are the three kinds. Variables are named
here, as a model is used on other data than it was fitted to: columns are matched by name, states by label.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.writers import FrameKind, frame_of_dataset
from mnlearn.errors import InputError, check_mapping, check_room, tuple_of, unknown_name, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import Seed, fresh, rng_from
from mnlearn.protocols import FloatArray


@dataclass(frozen=True)
class FitReport:
    """How the parameters were found.

    Attributes
    ----------
    method
        "canonical", "pseudolikelihood", "gaussian" or "mixed".
    n_rows
        How many rows they were fitted to.
    converged
        Whether the fit came to its end; the closed form of "canonical" always does.
    iterations
        How many steps it took; 0 for a closed form.
    settings
        Enough to fit again.
    notes
        What a reader of the parameters should know, such as a column that never changes.
    """

    method: str
    n_rows: int
    converged: bool = True
    iterations: int = 0
    settings: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class EdgeStrength(NamedTuple):
    """How strongly two variables depend on each other given all others; a list of them makes a data frame.

    The strength is at least 0: of a discrete model a log odds ratio, of a Gaussian one a partial correlation, of a
    mixed one a standardised interaction. The sign is 1 or −1, and None where there is none: more than two states
    without an order, or a dependence that others may turn round.
    """

    u: str
    v: str
    strength: float
    sign: int | None


class MostProbable(NamedTuple):
    """Values by name, and the log of their probability, or density, given the evidence."""

    values: dict[str, Any]
    log_probability: float


class Imputed(NamedTuple):
    """Rows without gaps, and the number of cells that were filled."""

    rows: Dataset
    filled: int


class MarkovModel(ABC):
    """A Markov network with parameters."""

    names: tuple[str, ...]
    report: FitReport
    frame: FrameKind | None

    @property
    @abstractmethod
    def kind(self) -> str:
        """ "discrete", "gaussian" or "mixed"."""

    @property
    @abstractmethod
    def graph(self) -> Graph:
        """The structure, by index."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """How many free parameters there are."""

    @abstractmethod
    def log_conditionals(self, data: object) -> FloatArray:
        """log p(x_j | all others) of every row and variable: rows in the order of the data, columns of `names`.

        Parameters
        ----------
        data
            Whatever `mnlearn.read` accepts, with a column for every variable of the model; others are ignored.
        """

    @abstractmethod
    def log_likelihood(self, data: object) -> float:
        """Σ_rows log p(x), exactly.

        Parameters
        ----------
        data
            As for `log_conditionals`.

        Raises
        ------
        InputError
            If the tree-width of a discrete model is too large.
        """

    @abstractmethod
    def sample_dataset(self, n_rows: int, seed: Seed | None = None) -> Dataset:
        """Draw rows as a `Dataset`, with the names and all labels of the data that the model was fitted to.

        Parameters
        ----------
        n_rows
            How many, at least 1.
        seed
            An integer, or a generator to draw from; the same seed gives the same rows. None draws fresh ones.
        """

    def sample(self, n_rows: int, seed: Seed | None = None, *, frame: FrameKind | None = None, **settings: Any) -> Any:
        """Draw rows as a data frame or an Arrow table, with the names and labels of the data of the fit.

        Parameters
        ----------
        n_rows
            How many, at least 1.
        seed
            An integer, or a generator to draw from; the same seed gives the same rows. None draws fresh ones.
        frame
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``; by default the library of the data that the model was fitted
            to, else the first of these that is installed. pyarrow always is.
        **settings
            Others of `sample_dataset`, which draws the same rows as a `Dataset`.

        Raises
        ------
        MissingDependencyError
            If that library is not installed.
        """
        return frame_of_dataset(self.sample_dataset(n_rows, seed, **settings), self.frame if frame is None else frame)

    @abstractmethod
    def conditional(self, x: str, evidence: Mapping[str, Any] | None = None) -> Any:
        """The distribution of one variable given values of some others; given nothing, its marginal."""

    @abstractmethod
    def joint(self, variables: Sequence[str], evidence: Mapping[str, Any] | None = None) -> Any:
        """The joint distribution of some variables given values of others; given nothing, their marginal.

        Parameters
        ----------
        variables
            Names, each once.
        evidence
            As for `conditional`.
        """

    @abstractmethod
    def most_probable(
        self, evidence: Mapping[str, Any] | None = None, variables: Sequence[str] | None = None
    ) -> MostProbable:
        """The most probable values of some variables given values of others.

        Parameters
        ----------
        evidence
            As for `conditional`.
        variables
            Names, each once; by default all variables without evidence. The others are summed out.
        """

    @abstractmethod
    def predict(self, data: object, column: str) -> NDArray[Any]:
        """The best guess of one column from the others, row by row: the most probable state, or the mean.

        Parameters
        ----------
        data
            Whatever `mnlearn.read` accepts, also a single row. It needs the neighbours of the variable; the column
            itself is ignored. An empty cell is unknown: the guess is then from what is known of the row.
        column
            The name of the variable.
        """

    def impute(self, data: object, *, frame: FrameKind | None = None) -> Any:
        """Return the rows with every empty cell filled: by the values that are most probable together.

        Parameters
        ----------
        data
            Whatever `mnlearn.read` accepts, also a single row; columns that the model does not have are left out. A
            variable that was cut into states has its intervals in every row.
        frame
            As for `sample`; by default the library of the model.

        Raises
        ------
        InputError
            If the unknown variables of a row are of too large a tree-width.

        Notes
        -----
        Given what is known of a row, the filled values are those of `most_probable`, for continuous variables the
        means. They are best guesses, not draws: the completed table varies less than complete data would. Use
        `impute_draws` for standard errors.
        """
        return frame_of_dataset(self.impute_dataset(data).rows, self.frame if frame is None else frame)

    def impute_draws(
        self, data: object, n_copies: int = 5, seed: Seed | None = None, *, frame: FrameKind | None = None
    ) -> list[Any]:
        """Return several copies of the rows, every empty cell filled with a draw given the rest of its row.

        Parameters
        ----------
        data
            As for `impute`.
        n_copies
            Number of copies: multiple imputations.
        seed
            An integer, or a generator to draw from; the same seed gives the same copies. None draws fresh ones.
        frame
            As for `sample`.

        Notes
        -----
        The parameters are the same in all copies. So the copies differ by what is unknown of the values, not by what is
        unknown of the model.
        """
        chosen = self.frame if frame is None else frame
        return [frame_of_dataset(copy.rows, chosen) for copy in self.imputed_datasets(data, n_copies, seed)]

    def imputed_datasets(self, data: object, n_copies: int = 5, seed: Seed | None = None) -> list[Imputed]:
        """Return the copies of `impute_draws` as data sets, each with the number of cells that were filled."""
        count = whole_number("n_copies", n_copies, least=1, most=10**6, hint="5 are usual.")
        rng = rng_from(fresh(seed))
        first = self.impute_dataset(data, rng)
        size = sum(column.nbytes for column in first.rows.columns)
        check_room("n_copies", float(count * size), f"{count:,} copies", "5 are usual.")
        return [first, *(self.impute_dataset(data, rng) for _ in range(count - 1))]

    @abstractmethod
    def impute_dataset(self, data: object, rng: np.random.Generator | None = None) -> Imputed:
        """Return the rows of `impute` as a `Dataset`, and the number of cells that were filled.

        Parameters
        ----------
        data
            As for `impute`.
        rng
            Generator to draw the values from, given what is known of each row; by default the most probable ones.
        """

    @abstractmethod
    def strengths(self) -> list[EdgeStrength]:
        """Every edge with its strength, the strongest first; ties in the order of the variables."""

    def log_pseudolikelihood(self, data: object) -> float:
        """Σ_rows Σ_j log p(x_j | all others): what can be computed for any graph.

        Parameters
        ----------
        data
            As for `log_conditionals`.
        """
        rows = self._rows(data)
        per_row = self.log_conditionals(rows).sum(1)
        return float(per_row.sum() if rows.repeats is None else per_row @ rows.repeats)

    @abstractmethod
    def _rows(self, data: object, wanted: Sequence[int] | None = None) -> Dataset:
        """The data with the model's variables (or those wanted) as columns, coded as the model codes them."""

    def _places(self, variables: Sequence[str], evidence: Mapping[str, Any] | None) -> tuple[int, ...]:
        """The indices of variables by name, each once and none of them with evidence."""
        check_mapping("evidence", evidence, "{'rain': 'yes'}")
        listed = tuple_of("variables", variables, "names")
        found = tuple(self.place("variables", name) for name in listed)
        if not found or len(set(found)) < len(found):
            raise InputError(f"variables must be at least one name, each once; got {list(listed)}. Correct them.")
        for name in listed:
            if name in (evidence or {}):
                raise InputError(f"evidence must not hold a variable asked about; got {name!r}. Drop it from one.")
        return found

    def _asked(self, evidence: Mapping[str, Any] | None, variables: Sequence[str] | None) -> tuple[int, ...]:
        """The indices of the variables of `most_probable`."""
        check_mapping("evidence", evidence, "{'rain': 'yes'}")
        if variables is not None:
            return self._places(variables, evidence)
        asked = tuple(x for x, name in enumerate(self.names) if name not in (evidence or {}))
        if not asked:
            raise InputError("evidence must leave a variable open; got values of all of them. Drop some.")
        return asked

    def _check_neighbors(self, x: int, present: Collection[int]) -> None:
        """Raise UnknownNameError unless the data have a column for each neighbour of a variable."""
        for y in sorted(self.graph.neighbors(x)):
            if y not in present:
                known = [self.names[z] for z in sorted(present)]
                raise unknown_name(
                    "data must have a column for each neighbour, empty cells allowed: column", self.names[y], known
                )

    def blanket(self, name: str) -> tuple[str, ...]:
        """The neighbours of a variable: given them it is independent of all others."""
        return tuple(self.names[y] for y in sorted(self.graph.neighbors(self.place("x", name))))

    def place(self, argument: str, name: object) -> int:
        """The index of a variable by name; an unknown name is an error that lists the nearest ones."""
        if not isinstance(name, str) or name not in self.names:
            raise unknown_name(f"{argument}: variable", name, self.names)
        return self.names.index(name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a folder that `mnlearn.load_model` reads; see `mnlearn.model.files` for what is in it.

        Parameters
        ----------
        path
            The folder. It is made if it is not there; a model that is there already is replaced as a whole.
        """
        from mnlearn.model.files import save_model

        save_model(self, path)

    def to_pyagrum(self) -> Any:
        """The model as a pyAgrum `MarkovRandomField`, for exact inference; needs the extra `inference`."""
        from mnlearn.model.bridges import to_pyagrum

        return to_pyagrum(self)

    def to_pgmpy(self) -> Any:
        """The model as a pgmpy `DiscreteMarkovNetwork`; pgmpy must be installed."""
        from mnlearn.model.bridges import to_pgmpy

        return to_pgmpy(self)

    def to_dict(self) -> dict[str, object]:
        """The document that `mnlearn fit --json` prints."""
        strengths = self.strengths()
        report = self.report
        return {
            "kind": self.kind,
            "method": report.method,
            "variables": list(self.names),
            "rows": report.n_rows,
            "edges": [[edge.u, edge.v] for edge in strengths],
            "strength": [edge.strength for edge in strengths],
            "sign": [edge.sign for edge in strengths],
            "parameters": self.n_parameters,
            "converged": report.converged,
            "iterations": report.iterations,
            "settings": dict(report.settings),
            "notes": list(report.notes),
        }

    def __repr__(self) -> str:
        n, m = len(self.names), self.graph.n_edges
        return (
            f"<{type(self).__name__}: {n} variable{'s' * (n != 1)}, {m} edge{'s' * (m != 1)}, "
            f"{self.n_parameters} parameters, fitted by {self.report.method} to {self.report.n_rows} rows>"
        )


Label = Hashable
Levels = tuple[tuple[Label, ...], ...]


def by_strength(edges: Sequence[EdgeStrength]) -> list[EdgeStrength]:
    """The strongest first; ties stay in the order of the variables."""
    return sorted(edges, key=lambda edge: -edge.strength)


def labelled(labels: Sequence[Label], codes: NDArray[np.intp]) -> NDArray[Any]:
    """Return the label of every code: an array of strings or numbers if all labels are of one type, else of objects."""
    plain = len({type(label) for label in labels}) == 1 and isinstance(labels[0], str | bool | int | float)
    table = np.array(labels) if plain else np.empty(len(labels), dtype=object)
    if not plain or not _are_same(table.tolist(), labels):  # NumPy rounds large integers and cuts off null characters
        table = np.empty(len(labels), dtype=object)
        table[:] = labels
    return np.asarray(table[codes])


def _are_same(found: Sequence[Label], labels: Sequence[Label]) -> bool:
    """Return whether two lists hold the same values of the same types."""
    return all(one == other and type(one) is type(other) for one, other in zip(found, labels, strict=True))
