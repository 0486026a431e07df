"""
How sure is an edge?
====================

Three answers to the same question, and what each one means.
"""

# %%
# **The method's own support.** The default method weighs the evidence for every pair and turns it into a
# probability: of all pairs to which it gives 0.8, about eight in ten are edges. (How well that holds was measured on
# many kinds of networks.) Absent pairs have one too.

import mnlearn as mn
from mnlearn.simulate import example

survey = mn.read(example(300, seed=3).columns())
result = mn.learn(survey, keep_pairs=True)
result.pairs(least=0.1)

# %%
# Other methods rank their edges, by a log p-value or a gain in score, without a probability.

mn.learn(survey, "gsimn", alpha=0.01, dof="observed").edges().head()

# %%
# **Stability.** Would the edge be there with other rows? Learn again from many random parts of the rows and count.
# The same seed gives the same frequencies, however many processors work on it.

stable = result.bootstrap(50, seed=1, n_jobs=1)
stable.edges()

# %%
# A frequency is not a probability that the edge is true: a wrong edge can be stable, and an edge that needs all rows to
# be seen can be rare. `stable(threshold)` keeps the pairs above a frequency.

stable.stable(0.8)

# %%
# **Another method.** Where two methods with different assumptions agree, an edge depends less on either.

print(result.compare(mn.learn(survey, "mpl")))
