from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class Store:
    def __init__(
        self,
        columns: Sequence[NDArray[Any]],
        cards: Sequence[int],
        repeats: NDArray[np.int64] | None,
        n_records: int,
        level: str = "",
        planes: NDArray[np.uint64] | None = None,
        first_planes: Sequence[int] = [],
        plane_totals: Sequence[int] = [],
        max_bytes: int = 18446744073709551615,
        share: Store | None = None,
        gaps: Sequence[bool] = [],
    ) -> None: ...
    @property
    def n_variables(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def without_rows(self) -> int: ...
    @property
    def level(self) -> str: ...
    @property
    def extra_bytes(self) -> int: ...

def force(store: Store, way: str) -> None: ...
def way_of(store: Store, x: int, ys: Iterable[int], z: Iterable[int]) -> str: ...
def probe_choice(store: Store, x: int, ys: Iterable[int], z: Iterable[int], rounds: int) -> str: ...
def cost_constants(level: str) -> dict[str, float]: ...
def costs_of(
    store: Store, x: int, ys: Iterable[int], z: Iterable[int], constants: Mapping[str, float]
) -> dict[str, float]: ...
def code_block(
    values: NDArray[Any], codes: NDArray[np.uint8]
) -> tuple[list[tuple[Any, ...] | None], dict[int, NDArray[np.uint16]], dict[int, tuple[Any, ...]]]: ...
def code_lists(
    columns: list[Any], codes: NDArray[np.uint8]
) -> tuple[list[tuple[Any, ...] | None], dict[int, NDArray[np.uint16]], dict[int, tuple[Any, ...]]]: ...
def code_arrow(
    batch: tuple[object, object], columns: Sequence[int], codes: NDArray[np.uint8]
) -> tuple[list[tuple[Any, ...] | None], dict[int, NDArray[np.uint16]], dict[int, tuple[Any, ...]]]: ...
def code_stream(
    stream: object, columns: Sequence[int], codes: NDArray[np.uint8]
) -> tuple[list[tuple[Any, ...] | None], dict[int, NDArray[np.uint16]], dict[int, tuple[Any, ...]]] | None: ...
def recode(codes: NDArray[np.uint8], table: NDArray[np.uint8]) -> None: ...
def add_planes(
    codes: NDArray[np.uint8],
    first: int,
    n: int,
    words: NDArray[np.uint64],
    lane: int,
    totals: NDArray[np.int64],
) -> None: ...
def levels() -> list[str]: ...
def probe_popcount(level: str, rounds: int, n_threads: int) -> int: ...
def probe_loads(level: str, rows: NDArray[np.uint64]) -> int: ...
def reduce(
    store: Store, kernel: str, settings: Sequence[float], x: int, ys: Iterable[int], z: Iterable[int], n_threads: int
) -> NDArray[np.float64]: ...
def local(store: Store, kernel: str, settings: Sequence[float], x: int, z: Iterable[int]) -> NDArray[np.float64]: ...
def reduce_many(
    store: Store,
    kernel: str,
    settings: Sequence[float],
    xs: Iterable[int],
    yss: Sequence[Iterable[int]],
    zs: Sequence[Iterable[int]],
    n_threads: int,
) -> list[NDArray[np.float64]]: ...
def members(
    store: Store, kernel: str, settings: Sequence[float], xs: Iterable[int], zs: Sequence[Iterable[int]], n_threads: int
) -> list[NDArray[np.float64]]: ...
def without(
    store: Store, kernel: str, settings: Sequence[float], xs: Iterable[int], zs: Sequence[Iterable[int]], n_threads: int
) -> list[NDArray[np.float64]]: ...

class LocalScore:
    def __init__(
        self,
        store: Store,
        kernel: str,
        settings: Sequence[float],
        scale: float,
        weights: Sequence[float],
        cards: Sequence[float],
        log_prior: Sequence[float],
        n_threads: int,
    ) -> None: ...
    def locals(
        self, xs: NDArray[np.int32], starts: NDArray[np.int64], members: NDArray[np.int32]
    ) -> NDArray[np.float64]: ...
    def climb(
        self,
        xs: NDArray[np.int32],
        starts: NDArray[np.int64],
        members: NDArray[np.int32],
        scores: NDArray[np.float64],
        leaving: NDArray[np.int8],
        list_starts: NDArray[np.int64],
        partners: NDArray[np.int32],
        required: NDArray[np.int64],
        limit: int,
        rounding: float,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int8], NDArray[np.int32], int]: ...
    def strongest(
        self,
        xs: NDArray[np.int32],
        starts: NDArray[np.int64],
        members: NDArray[np.int32],
        now: NDArray[np.float64],
        k: int,
        list_starts: NDArray[np.int64] | None = None,
        ys: NDArray[np.int32] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...
    def removal_gains(
        self, us: NDArray[np.int32], vs: NDArray[np.int32], local: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...

class EdgeFlips:
    def __init__(
        self,
        score: LocalScore,
        us: NDArray[np.int32],
        vs: NDArray[np.int32],
        eligible_us: NDArray[np.int32],
        eligible_vs: NDArray[np.int32],
        limit: int,
        rounding: float,
    ) -> None: ...
    @property
    def done(self) -> bool: ...
    @property
    def made(self) -> int: ...
    @property
    def scored(self) -> int: ...
    def run(self, most: int) -> NDArray[np.int32]: ...
    def flip(self, place: int) -> None: ...
    def present(self, place: int) -> bool: ...
    def degree(self, x: int) -> int: ...
    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    def scores(self) -> NDArray[np.float64]: ...

class SubsetTests:
    @property
    def n_variables(self) -> int: ...

class Knowledge:
    def __init__(self, n_variables: int, mirrored: bool) -> None: ...
    @property
    def n_variables(self) -> int: ...
    def implied(self, x: int, y: int, z: Iterable[int]) -> int: ...
    def infer(self, x: int, y: int, z: Iterable[int]) -> int: ...
    def learn(self, x: int, y: int, z: Iterable[int], independent: bool) -> None: ...
    def replay(
        self, xs: NDArray[np.int32], ys: NDArray[np.int32], zs: NDArray[np.uint64], independent: NDArray[np.bool]
    ) -> bytes: ...

class SeparatingSets:
    def __init__(self, n_variables: int, us: NDArray[np.int32], vs: NDArray[np.int32]) -> None: ...
    @property
    def n_variables(self) -> int: ...
    def numbers(self, xs: NDArray[np.int32], ys: NDArray[np.int32]) -> NDArray[np.int32]: ...
    def set(self, number: int) -> list[int]: ...
    def flip(self, u: int, v: int) -> tuple[NDArray[np.int32], NDArray[np.int32], bool]: ...

class StrongestPartners:
    def __init__(self, n_variables: int, k: int) -> None: ...
    def add(self, x: int, row: NDArray[np.float64]) -> None: ...
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    def varies(self) -> bytes: ...
    def against(self) -> tuple[int, float]: ...

def grow(
    store: Store,
    kernel: str,
    settings: Sequence[float],
    level: float,
    x: int,
    ys: Iterable[int],
    z: Iterable[int],
    to_first: bool,
    in_a_row: int,
    ahead: int,
    n_threads: int,
    known: Knowledge | None,
) -> tuple[list[bool], list[float | None], list[int], int, int, int, int]: ...
def shrink(
    store: Store,
    kernel: str,
    settings: Sequence[float],
    level: float,
    x: int,
    ys: Iterable[int],
    z: Iterable[int],
    known: Knowledge | None,
) -> tuple[list[bool], list[float | None], list[int], int, int, int, int]: ...
def count_tests(store: Store, kernel: str, settings: Sequence[float], level: float) -> SubsetTests: ...
def correlation_tests(
    correlation: NDArray[np.float64],
    n_rows: float,
    level: float,
    from_rows: Callable[[int, list[int], list[int]], NDArray[np.float64]],
) -> SubsetTests: ...
def testwise_tests(
    columns: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    first: NDArray[np.int64],
    missing: NDArray[np.int64],
    level: float,
    from_rows: Callable[[int, list[int], list[int]], NDArray[np.float64]],
) -> SubsetTests: ...
def separate(
    tests: SubsetTests,
    first_x: int,
    last_x: int,
    n_threads: int,
    size: int,
    around: NDArray[np.bool_],
    left: NDArray[np.bool_],
    weakest: NDArray[np.float64],
    go_on: Callable[[int], bool],
) -> tuple[NDArray[np.int32], NDArray[np.float64], int, bool] | None: ...
def separate_listed(
    tests: SubsetTests,
    first_x: int,
    last_x: int,
    n_threads: int,
    size: int,
    around: NDArray[np.bool_],
    left: NDArray[np.bool_],
    weakest: NDArray[np.float64],
    starts: NDArray[np.int64],
    partners: NDArray[np.int32],
    go_on: Callable[[int], bool],
) -> tuple[NDArray[np.int32], NDArray[np.float64], int, bool] | None: ...
def explain_away(
    tests: SubsetTests, x: int, candidates: Iterable[int], limit: int, go_on: Callable[[int], bool]
) -> tuple[list[int], list[float], list[int], bool] | None: ...
def count_separating(
    tests: SubsetTests,
    x: int,
    ys: Iterable[int],
    around: NDArray[np.bool_],
    limit: int,
    go_on: Callable[[int], bool],
) -> tuple[NDArray[np.int64], list[int], bool] | None: ...
def count_separating_listed(
    tests: SubsetTests,
    x: int,
    ys: Iterable[int],
    starts: NDArray[np.int64],
    partners: NDArray[np.int32],
    limit: int,
    go_on: Callable[[int], bool],
) -> tuple[NDArray[np.int64], list[int], bool] | None: ...
def partial_correlations(
    correlation: NDArray[np.float64], x: int, ys: Iterable[int], z: Iterable[int]
) -> NDArray[np.float64]: ...
def testwise_correlations(
    columns: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    first: NDArray[np.int64],
    missing: NDArray[np.int64],
    x: int,
    ys: Iterable[int],
    z: Iterable[int],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def member_correlations(correlation: NDArray[np.float64], x: int, z: Iterable[int]) -> NDArray[np.float64]: ...
def residual_shares(
    correlation: NDArray[np.float64], x: int, ys: Iterable[int], z: Iterable[int], explained: float
) -> NDArray[np.float64]: ...
def exchanged_shares(
    correlation: NDArray[np.float64], x: int, ys: Iterable[int], z: Iterable[int], explained: float
) -> NDArray[np.float64]: ...
def best_pair(
    correlation: NDArray[np.float64], x: int, ys: Iterable[int], z: Iterable[int], explained: float, rounding: float
) -> tuple[int, int, float]: ...
def lasso_path(
    gram: NDArray[np.float64], shared: NDArray[np.float64], allowed: Iterable[int], smallest: float, max_steps: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def lasso_by_criterion(
    correlation: NDArray[np.float64],
    xs: Iterable[int],
    alloweds: Iterable[Iterable[int]],
    n_rows: float,
    price: float,
    most: int,
    patience: int,
    explained: float,
    n_threads: int,
) -> list[tuple[list[int], int]]: ...
def fisher_tails(r: NDArray[np.float64], dof: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def reduce_pairs(
    store: Store,
    kernel: str,
    settings: Sequence[float],
    first_x: int,
    last_x: int,
    n_threads: int,
    counted: NDArray[np.uint32] | None = None,
) -> NDArray[np.float64]: ...
def binary_planes(store: Store) -> NDArray[np.uint64] | None: ...
def tables(
    store: Store, x: int, ys: NDArray[np.int32], z: NDArray[np.int32], max_cells: float, n_threads: int
) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]: ...
def flat_tables(
    store: Store, x: int, ys: NDArray[np.int32], z: NDArray[np.int32], max_cells: float, n_threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def cells(store: Store, x: int, z: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def score_tables(
    store: Store,
    kernel: str,
    settings: Sequence[float],
    counts: NDArray[np.int64],
    rx: int,
    rys: NDArray[np.int32],
    n_configurations: float,
    log_n_configurations: float,
) -> NDArray[np.float64]: ...
def score_gap_tables(
    store: Store,
    kernel: str,
    settings: Sequence[float],
    counts: NDArray[np.int64],
    complete: NDArray[np.uint8],
    rx: int,
    gaps_x: bool,
    rys: Sequence[int],
    gaps_y: Sequence[bool],
    n_configurations: float,
    log_n_configurations: float,
) -> NDArray[np.float64]: ...
def log_chi2_tails(statistic: NDArray[np.float64], dof: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]: ...
def fit_logistic(
    design: NDArray[np.float64],
    total: NDArray[np.float64],
    ones: NDArray[np.float64],
    penalty: NDArray[np.float64],
    ridge: float,
    tolerance: float,
    start: NDArray[np.float64],
    level: str = "",
) -> tuple[NDArray[np.float64], float]: ...

class LogisticPath:
    def __init__(
        self,
        planes: NDArray[np.uint64],
        weights: NDArray[np.float64],
        target: NDArray[np.uint64],
        barred: NDArray[np.bool_],
        free: NDArray[np.bool_],
        ridge: float,
        level: str = "",
    ) -> None: ...
    def first_penalty(self) -> float: ...
    def step(self, penalty: float) -> int: ...
    def active(self) -> list[int]: ...
    def refit(self, columns: Sequence[int]) -> float: ...

def score_table(
    kernel: str,
    settings: Sequence[float],
    counts: NDArray[np.int64],
    n_rows: int,
    n_configurations: float,
    log_n_configurations: float,
) -> list[float]: ...
def gibbs(
    cards: NDArray[np.int32],
    term_start: NDArray[np.int64],
    tabled: NDArray[np.uint8],
    table_start: NDArray[np.int64],
    other_start: NDArray[np.int64],
    others: NDArray[np.int32],
    strides: NDArray[np.int64],
    tables: NDArray[np.float64],
    key: int,
    n_chains: int,
    n_draws: int,
    burn_in: int,
    thin: int,
    n_threads: int,
) -> NDArray[np.uint8]: ...
def markovian(
    columns: NDArray[np.uint8],
    cards: NDArray[np.int32],
    starts: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    weighing: str,
    inverse_temperature: float,
    n_updates: int,
    n_new: int,
    key: int,
    n_threads: int,
    level: str = "",
) -> NDArray[np.uint8]: ...
def evidence_facts(store: Store, n_threads: int) -> NDArray[np.float64]: ...
def evidence(
    store: Store,
    n_states: NDArray[np.float64],
    offset: NDArray[np.float64],
    gift: NDArray[np.float64],
    kind: str,
    xs: NDArray[np.int32],
    z_starts: NDArray[np.int64],
    zs: NDArray[np.int32],
    y_starts: NDArray[np.int64],
    ys: NDArray[np.int32],
    three_way: bool,
    thresholds: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def has_promising(store: Store) -> bool: ...
def most_promising(
    store: Store,
    xs: NDArray[np.int32],
    z_starts: NDArray[np.int64],
    zs: NDArray[np.int32],
    k: int,
    above: float,
    n_threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...

class MixedData:
    def __init__(
        self,
        columns: Sequence[NDArray[Any]],
        kinds: Sequence[str],
        cards: Sequence[int],
        scores: Sequence[NDArray[np.float64]],
        repeats: NDArray[np.int64] | None,
        level: str = "",
    ) -> None: ...
    @property
    def n_variables(self) -> int: ...

def mixed_evidence(
    data: MixedData,
    question: str,
    xs: NDArray[np.int32],
    z_starts: NDArray[np.int64],
    zs: NDArray[np.int32],
    y_starts: NDArray[np.int64],
    ys: NDArray[np.int32],
    three_way: bool,
    thresholds: NDArray[np.float64],
    relative: bool,
    n_threads: int,
) -> NDArray[np.float64]: ...
def mixed_likelihoods(
    data: MixedData,
    question: str,
    xs: NDArray[np.int32],
    z_starts: NDArray[np.int64],
    zs: NDArray[np.int32],
    y_starts: NDArray[np.int64],
    ys: NDArray[np.int32],
    n_threads: int,
) -> NDArray[np.float64]: ...

class PartnerLists:
    def __init__(self, n_variables: int, k: int, floor: float, most: int) -> None: ...
    def push(self, xs: NDArray[np.int32], ys: NDArray[np.int32], values: NDArray[np.float32]) -> None: ...
    def bars(self) -> NDArray[np.float32]: ...
    def lists(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]: ...

class PairScreen:
    def __init__(self, store: Store, lists: PartnerLists, statistic: str, n_threads: int) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def n_scored(self) -> int: ...
    def scan(self, first: int, last: int, n_threads: int) -> None: ...
    def probe(self, first: int, last: int, n_threads: int) -> int: ...
    def push_binary(self, xs: NDArray[np.int32], ys: NDArray[np.int32], both: NDArray[np.int32]) -> None: ...
    def push_pairs(self, xs: NDArray[np.int32], ys: NDArray[np.int32], n_threads: int) -> None: ...

def one_dof_equivalents(statistic: NDArray[np.float64], dof: NDArray[np.float64]) -> NDArray[np.float64]: ...
def row_dots(
    a: NDArray[np.float64], is_: NDArray[np.int32], b: NDArray[np.float64], js: NDArray[np.int32]
) -> NDArray[np.float64]: ...
def elementary(function: str, numbers: NDArray[np.float64]) -> NDArray[np.float64]: ...
def elementary_of_one(function: str, number: float) -> float: ...
def products(a: NDArray[np.float64], b: NDArray[np.float64], level: str, n_threads: int) -> NDArray[np.float64]: ...
def pivoted_cholesky(
    matrix: NDArray[np.float64], least: float
) -> tuple[NDArray[np.float64], NDArray[np.int64], int]: ...
def solve_lower(lower: NDArray[np.float64], block: NDArray[np.float64]) -> NDArray[np.float64]: ...
def invert_positive(matrices: NDArray[np.float64]) -> NDArray[np.float64]: ...
