"""
Gene expression to Cytoscape
============================

From an expression matrix with genes in rows to a network that Cytoscape and Gephi open, with signed weights.
"""

# %%
# A matrix as expression data come: one row for each gene, one column for each sample. This one is simulated from a
# regulatory network of 60 genes at steady state, so the truth is known. A file is read with
# ``mn.read("expression.csv", row_names=True, transpose=True)``.

import tempfile
from pathlib import Path

import pandas as pd

import mnlearn as mn
from mnlearn.simulate import simulate

drawn = simulate("expression:n=60", n_rows=300, seed=3)
samples = dict(zip(drawn.data.names, drawn.data.columns, strict=True))
matrix = pd.DataFrame(samples).T
matrix.index = [f"gene{k}" for k in range(len(matrix))]
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

result.centrality()[["variable", "strength", "expected_influence", "betweenness"]].head()

# %%
# GraphML holds the weight, the support and the probability of every edge. In Cytoscape: *File, Import, Network from
# file*; then map the edge colour to ``weight`` in *Style*. An edge table for a spreadsheet has the extension
# ``.edges.csv``.

folder = Path(tempfile.mkdtemp())
result.save(folder / "genes.graphml")
result.save(folder / "genes.edges.csv")
print((folder / "genes.edges.csv").read_text()[:200])

# %%
# How much of the simulated regulation was found?

found = mn.evaluate(result.graph, drawn.truth.graph).edges
print(f"found {found.true_positives} of {drawn.truth.graph.n_edges} edges, {found.false_positives} others")
