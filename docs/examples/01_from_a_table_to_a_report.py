"""
From a table to a report
========================

A survey asks 500 people twelve yes-or-no questions on sleep and work. Which answers depend on each other directly,
and which only through others?
"""

# %%
# The survey comes with the package. Your own data can be a path to a CSV or Parquet file, a pandas or polars data
# frame, or an array. The rest of this page works for all of them.

import pandas as pd

import mnlearn as mn
from mnlearn.simulate import example

survey = pd.DataFrame(example(500, seed=7).columns())
survey.head()

# %%
# One call learns the network. It chooses a method that suits the data, and the summary states which one and why.

result = mn.learn(survey)
print(result.summary())

# %%
# An edge joins two questions that are dependent given all others. The neighbours of a question are its *Markov
# blanket*: they are sufficient to predict it.

result.blanket("fatigue")

# %%
# ``edges`` returns a data frame sorted by support. The default method gives each edge a probability.

result.edges()

# %%
# ``plot`` draws the network. The layout depends on the seed only.

result.plot()

# %%
# ``why`` shows the evidence for or against an edge. Night shifts and fatigue are dependent, but independent given
# poor sleep.

print(result.why("poor_sleep", "fatigue"))

# %%

print(result.why("night_shifts", "fatigue"))

# %%
# The report is one file for readers who do not program. It has an interactive network, the table of edges, an
# overview of the data, warnings, and the command that repeats the run. It works offline.
#
# .. code-block:: python
#
#    result.report("survey.html")
#
# On the command line, one command does all of this:
#
# .. code-block:: text
#
#    mnlearn learn survey.csv --report survey.html
