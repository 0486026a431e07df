"""
From a table to a report
========================

A survey of 500 people with twelve yes-or-no questions on sleep and work. Which answers hang together directly, and
which only through others?
"""

# %%
# The survey comes with the package. Yours may be a path to a CSV or Parquet file, a pandas or polars frame, or an
# array: everything below stays the same.

import pandas as pd

import mnlearn as mn
from mnlearn.simulate import example

survey = pd.DataFrame(example(500, seed=7).columns())
survey.head()

# %%
# One call learns the network. The method depends on the data, and the result says which it was and why.

result = mn.learn(survey)
print(result.summary())

# %%
# An edge joins two questions that go together even when all others are known. The neighbours of a question, its
# *blanket*, are all that is needed to predict it.

result.blanket("fatigue")

# %%
# The edges are a data frame, the surest first. The default method gives each a probability.

result.edges()

# %%
# A picture of the network. The same seed gives the same layout.

result.plot()

# %%
# Why is there an edge, and why is there none? Night shifts and fatigue go together, but not once poor sleep is known.

print(result.why("poor_sleep", "fatigue"))

# %%

print(result.why("night_shifts", "fatigue"))

# %%
# The report has all of this in one file for people who do not program: an interactive network, the table of edges, an
# overview of the data, warnings, and what is needed to run it again. It needs no internet connection.
#
# .. code-block:: python
#
#    result.report("survey.html")
#
# And the whole page in one line of a terminal:
#
# .. code-block:: text
#
#    mnlearn learn survey.csv --report survey.html
