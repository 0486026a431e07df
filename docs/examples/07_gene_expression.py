"""
Gene expression to Cytoscape
============================

From an expression matrix with genes in rows to a network that Cytoscape and Gephi open, with signed weights.
"""

# %%
# A matrix as expression data come: one row for each gene, one column for each sample, skewed values. This one is
# drawn from a known network with hubs, so that the result can be checked. A file is read with
# ``mn.read("expression.csv", transpose=True)``.

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import mnlearn as mn
from mnlearn.simulate import simulate

drawn = simulate("scale-free:n=60,links=1", "gaussian", n_rows=300, seed=3)
genes = [f"gene{k}" for k in range(60)]
matrix = pd.DataFrame(np.exp(drawn.data.columns), index=genes, columns=[f"sample{k}" for k in range(300)])
matrix.iloc[:4, :5].round(2)

# %%
# The margins of expression data are far from normal. The default method sees this and uses the normal scores of the
# ranks, which the summary states.

result = mn.learn(matrix, transpose=True)
print(result.summary())

# %%
# Blue edges are positive, red ones negative. Width is the size of the partial correlation, opacity the probability.

result.plot()

# %%
# Genes with the strongest connections.

table = result.centrality().sort_values("strength", ascending=False)
table[["variable", "strength", "expected_influence", "betweenness"]].head()

# %%
# GraphML holds the weight, the support and the probability of every edge. In Cytoscape: *File, Import, Network from
# file*; then map the edge colour to ``weight`` in *Style*. An edge table for a spreadsheet has the extension
# ``.edges.csv``.

folder = Path(tempfile.mkdtemp())
result.save(folder / "genes.graphml")
result.save(folder / "genes.edges.csv")
print((folder / "genes.edges.csv").read_text()[:200])

# %%
# How much of the known network was found?

found = mn.evaluate(result.graph, drawn.truth.graph).edges
print(f"found {found.true_positives} of {drawn.truth.graph.n_edges} edges, {found.false_positives} others")
