"""Entropies after an exchange of members, by rank-one updates, against regressions on the new sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.distributions.gaussian import continuous_dataset
from mnlearn.errors import InputError
from mnlearn.statistics import Moments

from references import mbs as reference_mbs


def rows(seed: int, n: int = 8, n_rows: int = 40) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_rows, n)) @ (np.eye(n) + rng.uniform(-0.6, 0.6, (n, n)))


@given(seed=st.integers(0, 2**32), size=st.integers(0, 5))
@settings(max_examples=40)
def test_exchanges_are_the_regressions_on_the_new_sets(seed: int, size: int) -> None:
    data = rows(seed)
    z = frozenset(int(v) for v in np.random.default_rng([seed, 1]).choice(range(1, 8), size, replace=False))
    ys = [y for y in range(1, 8) if y not in z]
    moments, entropy = Moments(continuous_dataset(data, None)), reference_mbs.gaussian_entropy(data)
    without, instead = moments.exchanged_entropies(0, ys, z)
    assert instead.shape == (size, len(ys))
    assert without == pytest.approx([entropy(0, z - {m}) for m in sorted(z)], abs=1e-9)
    for m, row in zip(sorted(z), instead, strict=True):
        assert row == pytest.approx([entropy(0, z - {m} | {y}) for y in ys], abs=1e-9)


@pytest.mark.parametrize("x", [0, 1, 6, 7])
def test_sets_that_explain_themselves_are_asked_member_by_member(x: int) -> None:
    """Columns 5 to 7: a copy, a constant, and a sum; an update of one rank would divide by nothing."""
    data = rows(3)
    data[:, 5], data[:, 6], data[:, 7] = data[:, 4], 2.0, data[:, 2] + data[:, 3]
    moments = Moments(continuous_dataset(data, None))
    for z in ({4, 5}, {2, 3, 7}, {4, 6}, {2, 3, 4, 5, 6, 7}):
        given_z = frozenset(z) - {x}
        ys = [y for y in range(8) if y not in given_z | {x}]
        without, instead = moments.exchanged_entropies(x, ys, given_z)
        for k, m in enumerate(sorted(given_z)):
            rest = given_z - {m}
            assert without[k] == pytest.approx(moments.conditional_entropy(x, rest), abs=1e-6)
            assert instead[k] == pytest.approx(moments.conditional_entropies(x, ys, rest), abs=1e-6)
        assert np.isfinite(without).all()
        assert np.isfinite(instead).all()


def test_nearly_collinear_members_keep_their_digits() -> None:
    data = rows(5, n_rows=400)
    data[:, 2] = data[:, 1] + 1e-4 * data[:, 2]
    moments, entropy = Moments(continuous_dataset(data, None)), reference_mbs.gaussian_entropy(data)
    without, instead = moments.exchanged_entropies(0, [4, 5], frozenset({1, 2, 3}))
    assert without == pytest.approx([entropy(0, frozenset({1, 2, 3} - {m})) for m in (1, 2, 3)], abs=1e-6)
    assert instead[2] == pytest.approx([entropy(0, frozenset({1, 2, y})) for y in (4, 5)], abs=1e-6)


def test_bad_questions_are_refused_like_any_other() -> None:
    moments = Moments(continuous_dataset(rows(1), None))
    with pytest.raises(InputError, match="z must not contain x or y"):
        moments.exchanged_entropies(0, [1], frozenset({0}))
    with pytest.raises(InputError, match="ys must not contain x or a member of z"):
        moments.exchanged_entropies(0, [1], frozenset({1}))
