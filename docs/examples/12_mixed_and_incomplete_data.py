"""
Mixed and incomplete data
=========================

A table as it comes from practice: words, numbers, a scale and a count side by side, and some cells empty. One call
learns the network of all columns from all values that are there.
"""

# %%
# The data are applications for credit cards (``crx`` of the UCI repository): 690 rows, 16 columns whose names were
# removed, and ``?`` for a missing value. Name the folder that holds ``uci/crx.csv`` in ``MNLEARN_DATA``. Without the
# file this page draws a table of the same form.

import os
from pathlib import Path

import numpy as np
import pandas as pd

import mnlearn as mn


def drawn_table(n_rows: int = 690) -> pd.DataFrame:
    """Draw words and numbers around one decision, with "?" for some values."""
    rng = np.random.default_rng(5)
    wealth, years = rng.normal(size=n_rows), rng.gamma(2.0, 1.5, n_rows)
    good = rng.random(n_rows) < 1 / (1 + np.exp(-wealth - 0.4 * years + 1.2))
    columns = {
        "A1": rng.choice(["a", "b"], n_rows),
        "A2": (24 + 3 * years + rng.normal(0, 5, n_rows)).round(2),
        "A3": np.exp(1 + 0.4 * wealth + rng.normal(0, 0.5, n_rows)).round(3),
        "A4": np.where(rng.random(n_rows) < 0.75 + 0.05 * wealth, "u", "y"),
        "A6": rng.choice(["c", "q", "w", "i", "aa"], n_rows),
        "A8": years.round(3),
        "A9": np.where(rng.random(n_rows) < np.where(good, 0.9, 0.2), "t", "f"),
        "A11": rng.poisson(np.where(good, 4.0, 0.6)),
        "A14": (180 + 60 * rng.normal(size=n_rows)).round().clip(0),
        "A15": np.exp(3 + wealth + rng.normal(0, 1, n_rows)).round(),
        "A16": np.where(good, "+", "-"),
    }
    table = pd.DataFrame(columns)
    for name in ("A1", "A2", "A4", "A6", "A14"):
        table[name] = table[name].astype(object).where(rng.random(n_rows) > 0.03, "?")
    return table


file = Path(os.environ.get("MNLEARN_DATA", "."), "uci", "crx.csv")
credit = pd.read_csv(file) if file.exists() else drawn_table()
credit.head(4)

# %%
# **The kinds of the columns.** ``overview`` shows what each column will be read as, and why. pandas made strings of the
# numbers beside ``?``; with ``missing_values=["?"]`` they are numbers again. A11 is a count, which no program can know.

types = {"A11": "count"}
seen = mn.overview(credit, missing_values=["?"], types=types)
pd.DataFrame(
    [(v.name, v.kind, v.reason, v.missing) for v in seen.variables], columns=["column", "kind", "why", "missing"]
)

# %%
# **What is missing.** Few cells are empty. Do the gaps of a column go with the values of others? If they depend on two
# columns, an edge between these two needs a second look.

gaps = mn.missingness(credit, missing_values=["?"], types=types)
print(f"{gaps.complete_rows} of {gaps.n_rows} rows are complete; gaps: {dict(gaps.counts)}")
gaps.depends()

# %%
# **The network.** ``missing="testwise"``: each question uses the rows in which its own columns have a value.

result = mn.learn(credit, missing="testwise", missing_values=["?"], types=types)
print(result.summary())

# %%

result.plot(title="Applications for credit")

# %%
# Which columns are needed to predict the decision, A16?

result.blanket("A16")

# %%
# **The evidence** for one edge, given the separators beside its two ends.

first = result.edge_list()[0]
print(result.why(first.u, first.v))

# %%
# **A model.** One density of words, numbers and counts. It predicts a column from what is known of a row, and fills
# gaps: with the most probable values, or with draws for several completed tables.

model = mn.fit_parameters(result)
print(model)
completed = model.impute(credit.replace("?", None))
completed.head(4)

# %%

copies = model.impute_draws(credit.replace("?", None), 3, seed=1)
[round(float(copy["A2"].mean()), 2) for copy in copies]

# %%
# **Compared with dropping rows.** The fewer rows, the fewer edges can be seen. To see the difference, remove 15 % more
# of the cells: few complete rows are left, but most rows have a value in any two columns.

rng = np.random.default_rng(1)
thinned = credit.where(rng.random(credit.shape) > 0.15, "?")
options = {"missing_values": ["?"], "types": types}
testwise = mn.learn(thinned, missing="testwise", **options)
dropped = mn.learn(thinned, missing="drop_rows", **options)

reference = set(result.graph.edges)
rows = []
for name, network in (("testwise", testwise), ("drop_rows", dropped)):
    found = {tuple(sorted((result.names.index(e.u), result.names.index(e.v)))) for e in network.edge_list()}
    rows.append((name, network.n_rows, len(found & reference), len(found - reference)))
pd.DataFrame(rows, columns=["policy", "rows", f"edges of the {len(reference)} above", "other edges"])

# %%
# **The report** has all of this for readers who do not program: the kind of every column and the reason for it, what is
# missing where, what was done about it, and what the evidence assumes.
#
# .. code-block:: python
#
#    result.report("credit.html")
#
# The same from the command line:
#
# .. code-block:: text
#
#    mnlearn info crx.csv --missing-value '?' --count A11 --missing testwise
#    mnlearn learn crx.csv --missing-value '?' --count A11 --missing testwise --out credit.json --report credit.html
#    mnlearn fit credit.json crx.csv --missing-value '?' --count A11 --missing testwise --out model
#    mnlearn impute model crx.csv --missing-value '?' --draws 5 --seed 1 --out completed.csv
