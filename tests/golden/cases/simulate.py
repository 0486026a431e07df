"""Simulated rows and samplers."""

from __future__ import annotations

from typing import Any

from golden.engine import cases_of, jobs
from golden.records import contents
from golden.tables import declared
from mnlearn import graphs, simulate

case = cases_of(__name__)

NAMED = ("uniform", "odds:signs=mixed,fields=0.3", "ising:law=normal", "potts:states=4", "tables:fields=0.2")
NAMED_CONTINUOUS = ("gaussian", "partial:correlation=0.2")


def simulated(network: str, distribution: str | None, **settings: Any) -> object:
    """Simulate rows by name."""
    made = simulate.simulate(network, distribution, n_rows=120, seed=11, n_jobs=jobs(), **settings)
    return {**contents(made.data), "truth": made.truth.graph, "names": made.truth.names, "converged": made.converged}


for _law in NAMED:
    case(f"simulate {_law}", "random:n=9,degree=2", _law)(simulated)
for _law in NAMED_CONTINUOUS:
    case(f"simulate {_law}", "cycle:n=7", _law, close=True)(simulated)
case(
    "simulate gibbs",
    "grid:rows=4,columns=4",
    "odds",
    method="gibbs",
    plan=simulate.GibbsPlan(chains=2, burn_in=50, thin=2),
)(simulated)
for _how in ("enumerate", "eliminate"):
    case(f"simulate {_how}", "grid:rows=3,columns=3", "odds", method=_how)(simulated)


@case("samplers")
def samplers() -> object:
    """Sample by Gibbs, exactly, and by the Markovian sampler."""
    network = simulate.random_pairwise_factors(graphs.grid(3, 3), 1.0, 2, cards=3)
    pairwise = simulate.ising(graphs.cycle(8), 0.5, 3)
    codes = simulate.sample_exact(pairwise, 100, 4)
    plan = simulate.GibbsPlan(chains=2, burn_in=40, thin=2)
    settings: dict[str, Any] = {"cards": (2,) * 8, "n_updates": 16, "n_threads": 1}
    return {
        "gibbs": simulate.sample_gibbs(network, 80, 5, plan, n_jobs=jobs()),
        "gibbs in two threads": simulate.sample_gibbs(network, 80, 5, plan, n_jobs=2),
        "exact": codes,
        "conditional": simulate.sample_markovian(graphs.cycle(8), codes, 60, 6, **settings),
        "joint": simulate.sample_markovian(graphs.cycle(8), codes, 60, 6, weighing="joint", **settings),
        "cooled": simulate.sample_markovian(graphs.cycle(8), codes, 60, 6, inverse_temperature=2.0, **settings),
        "example": simulate.example(200, seed=3).codes,
        "forward": list(simulate.as_bayesian_network(network).sample(50, 7).columns),
    }


@case("samplers probabilities", close=True)
def probabilities() -> object:
    """Compute partition functions and state probabilities, and sample Gaussian rows."""
    network = simulate.uniform_factors(graphs.cycle(5), 2, cards=2)
    gaussian = simulate.sparse_gaussian(graphs.cycle(5), 3)
    return {
        "log partition": simulate.log_partition(network),
        "component": simulate.component_probabilities(network, range(5)),
        "states": simulate.state_probabilities(simulate.ising(graphs.cycle(4), 0.5, 3), range(4)),
        "precision": gaussian.precision,
        "rows": gaussian.sample(6, 4),
    }


# --- Several kinds and gaps -----------------------------------------------------------------------------------------


@case("simulate gaps")
def gaps() -> object:
    """Remove values at random and by the values of other columns."""
    data = declared("clinic")
    random, dependent = simulate.random_gaps(data, 0.1, 3), simulate.dependent_gaps(data, 4)
    return {
        "random": [random.observed(name) for name in data.names],
        "dependent": [dependent.observed(name) for name in data.names],
    }


for _law in ("ordinal", "latent", "mixed"):
    case(f"simulate {_law}", "cycle:n=6", _law)(simulated)
