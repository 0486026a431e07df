"""
Write your own score and test
=============================

Learn by a score or a conditional independence test of your own: derive a class, write one method, and pass the class to
``mn.learn``.
"""

# %%
# A score is a sum over variables. ``local`` returns the term of a variable with its neighbours: ``x`` is an index,
# ``blanket`` a set of indices. ``table`` counts the states of ``x`` in every configuration of the blanket that occurs.
# Here is the marginal pseudo-likelihood, which the library has as ``"mpl"``.

import numpy as np
from scipy.special import gammaln

import mnlearn as mn
from mnlearn.simulate import example

data = example(1000, seed=1).columns()


class OwnMPL(mn.CustomScore):
    def local(self, x, blanket):
        counts, prior = self.table(x, blanket), 0.5
        total = self.cards[x] * prior
        rows = gammaln(total) - gammaln(counts.sum(axis=1) + total)
        cells = gammaln(counts + prior) - gammaln(prior)
        return rows.sum() + cells.sum() - len(blanket) / 2 * np.log(self.n_variables)


own, built_in = (mn.learn(data, "hillclimb", score=score) for score in (OwnMPL, "mpl"))
print(own)
print("same network:", own.graph == built_in.graph, " same score:", np.isclose(own.score, built_in.score))

# %%
# Results work as ever. ``why`` compares the scores with and without an edge.

print(own.why("stress", "headaches"))

# %%
# A test needs ``__call__``, which returns a ``Verdict``: independent or not, and the log p-value. Here is Pearson's
# chi-square test, the library's ``"chi2"``. Parameters of ``__init__`` after the data are settings of ``mn.learn``.


class OwnChiSquare(mn.CustomTest):
    def __init__(self, data, *, alpha=0.01):
        super().__init__(data)
        self.alpha = alpha

    def __call__(self, x, y, z):
        counts = self.table(x, y, z)  # [configuration of z, state of x, state of y]
        rows, columns = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
        expected = rows * columns / counts.sum(axis=(1, 2), keepdims=True)
        cells = expected > 0
        statistic = np.sum((counts - expected)[cells] ** 2 / expected[cells])
        dof = np.sum(((rows > 0).sum(axis=(1, 2)) - 1) * ((columns > 0).sum(axis=(1, 2)) - 1))
        log_p = self.chi_square_log_p(statistic, dof)
        return mn.Verdict(log_p > np.log(self.alpha), log_p)


for method in ("gsmn*", "gsimn", "pc", "hhc-mn"):
    own = mn.learn(data, method, test=OwnChiSquare, alpha=0.02)
    built_in = mn.learn(data, method, test="chi2", alpha=0.02, dof="adjusted")
    print(own, " same network:", own.graph == built_in.graph)

# %%
# The class also serves single questions and resampling, where it is called once for each data set.

print(mn.independence_test(data, "fatigue", "stress", ["poor_sleep"], test=OwnChiSquare))
print(own.bootstrap(20, n_jobs=1).edges().head())
