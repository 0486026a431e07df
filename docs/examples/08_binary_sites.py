"""
Hundreds of binary sites
========================

Single-nucleotide variants, presence and absence of species, tags of documents: many binary columns, most of them rare.
"""

# %%
# 300 sites of 1,000 samples, coded 0 and 1. Neighbouring sites are inherited together, so each depends on the one
# before it; every tenth site also depends on one far away. The matrix is sparse, and stays sparse.

import numpy as np
from scipy.sparse import csr_array

import mnlearn as mn

rng = np.random.default_rng(5)
sites = np.empty((1000, 300), dtype=np.int8)
sites[:, 0] = rng.random(1000) < 0.2
for k in range(1, 300):
    rate = np.where(sites[:, k - 1] == 1, 0.6, 0.1)
    if k % 10 == 0 and k >= 150:
        rate = np.where(sites[:, k - 150] == 1, 0.9, rate)
    sites[:, k] = rng.random(1000) < rate
matrix = csr_array(sites)
f"{matrix.shape}, {matrix.nnz / sites.size:.0%} ones"

# %%
# One call learns the network. Weights are log odds ratios: 2.7 means that the odds of one site are 15 times as high
# where the other is present.

result = mn.learn(matrix)
print(result.summary())

# %%
# Edges between sites that are far apart are the interesting ones.

edges = result.edges("pandas")
places = edges[["u", "v"]].apply(lambda column: column.str.removeprefix("x").astype(int))
far = edges[(places["u"] - places["v"]).abs() > 1]
far.head(10)

# %%
# The heat map shows the chain as a band and the distant pairs as single cells.

result.plot(kind="heatmap")
