"""
How sure is an edge?
====================

Three measures of confidence in an edge, and their meaning.
"""

# %%
# **Support.** The default method turns the evidence for every pair into a probability. About eight in ten pairs with
# probability 0.8 are edges. The page on accuracy shows this calibration on many kinds of networks. Absent pairs have
# a probability too.

import mnlearn as mn
from mnlearn.simulate import example

survey = mn.read(example(300, seed=3).columns())
result = mn.learn(survey, keep_pairs=True)
result.pairs(least=0.1)

# %%
# Other methods rank their edges by a log p-value or a gain in score, without a probability.

mn.learn(survey, "gsimn").edges().head()

# %%
# **Stability.** ``bootstrap`` learns again from many random subsets of the rows and counts how often each edge
# appears. The frequencies depend on the seed only, not on the number of processes.

stable = result.bootstrap(50, seed=1, n_jobs=1)
stable.edges()

# %%
# The picture sorts all pairs by their frequency, and counts the pairs above each threshold.

stable.plot(kind="stability")

# %%
# A frequency is not the probability that the edge is true. A false edge can be stable, and a true edge that needs all
# rows can be rare. ``stable(threshold)`` keeps the pairs whose frequency reaches the threshold.

stable.stable(0.8)

# %%
# **Intervals.** ``intervals`` resamples the weights of the edges. With ``relearn=False`` the structure stays as it is,
# which takes milliseconds a sample. A weight of 1 is an odds ratio of 2.7.

result.intervals(500, relearn=False, n_jobs=1).plot()

# %%
# **Another method.** An edge that two methods with different assumptions find depends less on either.

print(result.compare(mn.learn(survey, "mpl")))
