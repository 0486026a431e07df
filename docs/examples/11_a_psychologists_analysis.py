"""
A psychologist's analysis
=========================

A questionnaire from the data frame to everything that a paper prints: the network with groups, weights with intervals,
centrality with its stability, predictability, and a comparison of two groups.
"""

# %%
# The data are the 25 items of the Big Five in R's ``bfi`` (package psychTools): answers from 1 to 6, some of them
# missing, so that pandas stores them as floats. Export the file with ``write.csv(psychTools::bfi, "bfi.csv", na="?",
# row.names=FALSE)``, and name its folder in ``MNLEARN_DATA``. Without the file this page draws a table of the same
# form.

import os
from pathlib import Path

import numpy as np
import pandas as pd

import mnlearn as mn


def drawn_items(n_rows: int = 900) -> pd.DataFrame:
    """Draw answers to five items of each of five traits, one in a hundred missing."""
    rng = np.random.default_rng(3)
    traits = rng.normal(size=(n_rows, 5)) + 0.3 * rng.normal(size=(n_rows, 1))
    answers = 3.5 + np.repeat(traits, 5, axis=1) + 1.1 * rng.normal(size=(n_rows, 25))
    answers = np.where(rng.random(answers.shape) < 0.01, np.nan, answers.round().clip(1, 6))
    table = pd.DataFrame(answers, columns=[f"{trait}{k}" for trait in "ACENO" for k in range(1, 6)])
    return table.assign(gender=rng.integers(1, 3, n_rows), age=rng.integers(18, 70, n_rows))


file = Path(os.environ.get("MNLEARN_DATA", "."), "psych", "bfi.csv")
bfi = pd.read_csv(file, na_values="?") if file.exists() else drawn_items()
bfi.head(3)

# %%
# **The network.** ``"A1:O5"`` means all columns from A1 to O5. Answers on a scale are ordered, so they are read as
# numbers; the weights are then partial correlations. Rows with a missing answer are left out, and the log says which
# items cost how many.

items = ["A1:O5"]
result = mn.learn(bfi, columns=items, types={"A1:O5": "continuous"}, missing="drop_rows")
print(result.summary())

# %%
# **The figure**: colours are the five traits, rings show how much of an item its neighbours predict.

traits = {
    "Agreeableness": ["A1", "A2", "A3", "A4", "A5"],
    "Conscientiousness": ["C1", "C2", "C3", "C4", "C5"],
    "Extraversion": ["E1", "E2", "E3", "E4", "E5"],
    "Neuroticism": ["N1", "N2", "N3", "N4", "N5"],
    "Openness": ["O1", "O2", "O3", "O4", "O5"],
}
result.plot(groups=traits, rings=result.predictability_shares(), title="Twenty-five items")

# %%
# **Weights with intervals.** The network is learned again from bootstrap samples. Use 1,000; this page uses few.

intervals = result.intervals(40, groups=traits, n_jobs=1)
intervals.edges().head(8)

# %%

intervals.plot()

# %%
# **Centrality**, with bridges between the traits.

result.centrality(traits, z_scores=True).sort_values("strength", ascending=False).head(6).round(2)

# %%

result.plot(kind="centralities", groups=traits)

# %%
# **How stable is the order?** The CS coefficient is the largest share of people that can be left out so that a
# centrality still correlates 0.7 with that of all people, with probability 95 %. It should be above 0.25, better 0.5.

stability = result.stability(40, groups=traits, n_jobs=1)
pd.Series(stability.cs_coefficient)

# %%

stability.plot()

# %%
# **Predictability** of each item from its neighbours, within the sample and for people who were left out.

result.predictability().head(6)

# %%
# **Two groups.** Do women and men have the same network?

compared = mn.compare_groups(
    bfi,
    by="gender",
    method="glasso",
    columns=[*items, "gender"],
    types={"A1:O5": "continuous"},
    missing="drop_rows",
    n_permutations=10,
    n_jobs=1,
)
print(compared)

# %%

compared.plot(groups=traits)

# %%
# The same from the command line:
#
# .. code-block:: text
#
#    mnlearn learn bfi.csv --columns A1:O5 --continuous A1:O5 --missing-value '?' --missing drop_rows \\
#        --out bfi.json --plot bfi.svg
#    mnlearn centrality bfi.json
#    mnlearn predictability bfi.json --data bfi.csv
#    mnlearn stability bfi.json --data bfi.csv
#    mnlearn compare-groups bfi.csv --by gender --columns A1:O5 --continuous A1:O5 --missing-value '?' \\
#        --missing drop_rows
#    mnlearn report bfi.json --data bfi.csv --predictability --out bfi.html
