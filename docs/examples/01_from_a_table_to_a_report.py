"""
From a table to a report
========================

A survey of 500 people with twelve questions. Which answers hang together directly?
"""

# %%
# The survey comes with the package. Yours may be a path to a CSV or Parquet file, a pandas or polars frame, or an
# array: everything below stays the same.

import mnlearn as mn
from mnlearn.simulate import example

survey = mn.read(example(500, seed=7).columns())
print(survey)

# %%
# One call learns the network. It says which method it took and why.

result = mn.learn(survey)
print(result)
