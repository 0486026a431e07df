"""
Comparing methods
=================

Which method recovers a known network from few rows? The plan of a methods paper in twenty lines.
"""

# %%
# Random networks of 20 binary variables, five methods, four sample sizes, three data sets each. Every method sees the
# same rows.

import pandas as pd
from matplotlib.figure import Figure

import mnlearn as mn
from mnlearn.simulate import example, simulate

METHODS = ("sep", "mpl", "pc", "gsmn*", "ib")
rows = []
for n_rows in (100, 300, 1000, 3000):
    for seed in range(3):
        drawn = simulate("random:n=20,degree=3", "ising", n_rows=n_rows, seed=seed)
        for method in METHODS:
            errors = mn.evaluate(mn.learn(drawn.data, method).graph, drawn.truth.graph).edges.hamming
            rows.append({"rows": n_rows, "method": method, "errors": errors})
table = pd.DataFrame(rows).pivot_table(index="rows", columns="method", values="errors")[list(METHODS)]
table.round(1)

# %%
# Errors are edges missed and edges added.

figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.add_subplot()
for method in METHODS:
    axes.plot(table.index, table[method], marker="o", label=method)
axes.set(xscale="log", xlabel="rows", ylabel="errors (Hamming distance)", ylim=(0, None))
axes.legend(frameon=False)
figure  # noqa: B018 - shown below

# %%
# On data of your own there is no truth. ``mn.validate`` measures how much better a network predicts rows that it was
# not learned from than a network without edges, in nats per row.

survey = pd.DataFrame(example(1000, seed=1).columns())
first, rest = survey[:700], survey[700:]
for method in METHODS:
    gain = mn.validate(mn.learn(first, method), rest, train=first).gain
    print(f"{method:6} {gain.mean:.3f} ± {gain.standard_error:.3f}")
