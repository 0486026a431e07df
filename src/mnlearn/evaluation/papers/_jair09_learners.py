"""The learners that [JAIR09] compares on data, as its published counts ask for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mnlearn.algorithms.gsimn import GSIMN
from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.protocols import IndependenceTest, Result

LEARNERS: Mapping[str, Callable[[IndependenceTest], Result]] = {
    "gsmn*-without-propagation": GSMNStar(propagation=False, skip_marginal=False).learn,
    "gsmn*": GSMNStar(skip_marginal=False).learn,
    "gsimn": GSIMN(skip_marginal=False).learn,
    "gsimn-line22": GSIMN().learn,
    "gsimn-seeded": GSIMN(seed_dependences=True).learn,
}
"""By name; line 22 of Algorithm 3 is off in the first three, and the last knows the initial dependences as well."""
