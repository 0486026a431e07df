"""
Continuous data
===============

Learn from columns of floats: gene expression, questionnaire totals, sensor readings.
"""

# %%
# Simulate forty variables with a few neighbours each and 300 rows.

import mnlearn as mn
from mnlearn.simulate import simulate

drawn = simulate("random:n=40,degree=2.5", "gaussian", n_rows=300, seed=1)
result = mn.learn(drawn.data)
print(result.summary())

# %%

result.plot(node_size="strength")

# %%
# Compare the result with the truth, and with other methods on the same rows.

for method in ("sep", "pc", "mbs", "lasso", "glasso", "aracne"):
    found = mn.evaluate(mn.learn(drawn.data, method).graph, drawn.truth.graph).edges
    print(f"{method:7} missed {found.false_negatives:3}  false {found.false_positives:3}  Hamming {found.hamming}")

# %%
# A fitted model has a partial correlation for every edge and zeros elsewhere.

model = mn.fit_parameters(result)
for edge in model.strengths()[:5]:
    print(edge)
