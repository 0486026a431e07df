"""
Comparing groups
================

Do groups of people have the same network?
"""

# %%
# Simulate three groups of 400 people. In the second, ``exercise`` is shuffled, which removes its edges. In the third,
# it is turned around, which reverses them.

import numpy as np
import pandas as pd

import mnlearn as mn
from mnlearn.simulate import example

people = pd.DataFrame(example(1200, seed=5).columns())
people["group"] = np.repeat(["usual", "shuffled", "reversed"], 400)
shuffled, turned = people["group"] == "shuffled", people["group"] == "reversed"
people.loc[shuffled, "exercise"] = people.loc[shuffled, "exercise"].sample(frac=1.0, random_state=1).to_numpy()
people.loc[turned, "exercise"] = people.loc[turned, "exercise"].map({"no": "yes", "yes": "no"})

# %%
# Two networks differ a little by chance alone. The test permutes the group labels many times and counts how often a
# difference as large occurs. Use 200 permutations or more; this page uses 60, and a fast method, to run quickly.

found = mn.compare_groups(people, by="group", groups=["usual", "reversed"], method="mpl", n_permutations=60, n_jobs=1)
print(found)

# %%
# A reversed edge adds the same to the global strength, the sum of all \|weights\|, but has another weight. ``edges``
# lists the pairs, with p-values corrected for the number of pairs; ``centrality`` lists the variables:

found.edges().head()

# %%

found.centrality().head()

# %%
# The picture of the difference, with the pairs that differ at the level 0.05:

found.plot(level=0.05)

# %%
# With more groups, one test compares all of them; then every two are compared.

three = mn.compare_groups(people, by="group", method="mpl", n_permutations=60, n_jobs=1)
three.tests()

# %%

three.plot()

# %%
# A difference may come from a covariate. Here stress takes sleep from older people only, and the people of the city are
# older. Without age, the two places seem to differ:

rng = np.random.default_rng(2)
age = rng.integers(20, 80, 500)
stress = rng.normal(size=500)
table = {
    "stress": stress,
    "sleep": np.where(age > 50, -1.0, 0.0) * stress + rng.normal(size=500),
    "exercise": rng.normal(size=500),
    "place": np.where(rng.random(500) < (age - 15) / 70, "city", "village"),
}
mn.compare_groups(table, by="place", n_permutations=60, n_jobs=1).tests()

# %%
# With ``adjust``, only people of similar age are permuted. What is left is within chance:

adjusted = mn.compare_groups(table | {"age": age}, by="place", adjust=["age"], n_permutations=60, n_jobs=1)
print(adjusted)
