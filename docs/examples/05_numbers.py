"""
Numbers instead of categories
=============================

Gene expression, questionnaire totals, sensor readings: columns of decimal numbers.
"""

# %%
# Forty variables, each linked to a few others, 300 rows.

import mnlearn as mn
from mnlearn.simulate import simulate

drawn = simulate("random:n=40,degree=2.5", "gaussian", n_rows=300, seed=1)
result = mn.learn(drawn.data)
print(result.summary())

# %%
# How does it compare with the truth, and with other methods on the same rows?

for method in ("sep", "pc", "mbs", "lasso", "glasso", "aracne"):
    found = mn.evaluate(mn.learn(drawn.data, method).graph, drawn.truth.graph).edges
    print(f"{method:7} missed {found.false_negatives:3}  false {found.false_positives:3}  Hamming {found.hamming}")

# %%
# Partial correlations come from a model with the learned zeros.

model = mn.fit_parameters(result)
for edge in model.strengths()[:5]:
    print(edge)
