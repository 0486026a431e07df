"""
From structure to model
=======================

The graph says who hangs together with whom. With parameters it says how strongly, predicts, and makes new rows.
"""

# %%
# Learn from the first 1500 rows, keep 500 apart.

import pandas as pd

import mnlearn as mn
from mnlearn.simulate import example

rows = pd.DataFrame(example(2000, seed=2).columns())
result = mn.learn(rows[:1500])
model = mn.fit_parameters(result)
print(model)

# %%
# What is known of fatigue when something else is?

model.conditional("fatigue", {"poor_sleep": "yes", "exercise": "no"})

# %%

model.conditional("fatigue", {"night_shifts": "yes"})

# %%
# Predict a column of rows the model has not seen, from all the others.

predicted = model.predict("fatigue", rows[1500:])
print("right:", (predicted == rows["fatigue"][1500:].to_numpy()).mean())

# %%
# How likely the new rows are, compared with a network without edges. The larger the better.

empty = mn.fit_parameters(mn.Graph.empty(12), rows[:1500])
print(model.log_pseudolikelihood(rows[1500:]), empty.log_pseudolikelihood(rows[1500:]))

# %%
# New rows with the same dependences, for a simulation or to share instead of real answers. (They do not protect
# privacy by themselves.)

drawn = model.sample(1000, seed=1)
print(mn.learn(drawn).compare(result))
