"""
From structure to model
=======================

The graph shows which variables are dependent. With parameters it also measures how strongly, predicts columns, and
samples new rows.
"""

# %%
# Learn from the first 1500 rows and hold out 500.

import pandas as pd

import mnlearn as mn
from mnlearn.simulate import example

rows = pd.DataFrame(example(2000, seed=2).columns())
result = mn.learn(rows[:1500])
model = mn.fit_parameters(result)
print(model)

# %%
# ``conditional`` returns the distribution of a variable given values of others.

model.conditional("fatigue", {"poor_sleep": "yes", "exercise": "no"})

# %%

model.conditional("fatigue", {"night_shifts": "yes"})

# %%
# ``most_probable`` gives the most probable states of all other variables together.

model.most_probable({"fatigue": "yes"})

# %%
# ``predict`` predicts a column of the held-out rows from all other columns.

predicted = model.predict(rows[1500:], "fatigue")
print("right:", (predicted == rows["fatigue"][1500:].to_numpy()).mean())

# %%
# An empty cell is an unknown value: ``predict`` uses what is known of the row, and ``impute`` fills the cell.

gaps = rows[1500:].copy()
gaps.loc[gaps.index[:3], "poor_sleep"] = None
print(model.predict_proba(gaps, "fatigue")[:3])
model.impute(gaps)["poor_sleep"].head(3)

# %%
# Compare the log pseudo-likelihood of the held-out rows with that of a network without edges. Larger is better.

empty = mn.fit_parameters(mn.Graph.empty(12), rows[:1500])
print(model.log_pseudolikelihood(rows[1500:]), empty.log_pseudolikelihood(rows[1500:]))

# %%
# ``sample`` draws new rows with the same dependences, for example for a simulation. Sampled rows alone do not protect
# privacy.

drawn = model.sample(1000, seed=1)
print(mn.learn(drawn).compare(result))
