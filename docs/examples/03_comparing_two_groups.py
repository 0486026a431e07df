"""
Comparing two groups
====================

Do the answers of two groups of people hang together in the same way?
"""

# %%
# Two groups of 400; in the second one the link between exercise and mood is cut by shuffling a column.

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
# Two networks always differ a little, if only by chance. The test deals out the rows to the groups at random many
# times, and asks how often chance alone makes a difference as large. A few hundred permutations are usual; there are
# few here to keep the page quick.

found = mn.compare_groups(people, by="group", n_permutations=60, seed=1, n_jobs=1)
print(found)

# %%
# Pair by pair, corrected for the number of pairs:

found.edges().head()
