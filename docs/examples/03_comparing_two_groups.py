"""
Comparing two groups
====================

Do two groups of people have the same network?
"""

# %%
# Simulate two groups of 400 people. Shuffling the column ``exercise`` in the second group removes its edges.

import numpy as np
import pandas as pd

import mnlearn as mn
from mnlearn.simulate import example

people = pd.DataFrame(example(800, seed=5).columns())
people["group"] = np.repeat(["here", "there"], 400)
there = people["group"] == "there"
shuffled = people.loc[there, "exercise"].sample(frac=1.0, random_state=1)
people.loc[there, "exercise"] = shuffled.to_numpy()

# %%
# Two networks differ a little by chance alone. The test permutes the group labels many times and counts how often a
# difference as large occurs. Use a few hundred permutations; this page uses 60 to run quickly.

found = mn.compare_groups(people, by="group", n_permutations=60, seed=1, n_jobs=1)
print(found)

# %%
# ``edges`` lists the pairs, with p-values corrected for the number of pairs:

found.edges().head()
