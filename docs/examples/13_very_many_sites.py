"""
Thousands of genetic sites
==========================

10,000 sites of 1,000 haplotypes: 50 million pairs. A screen finds the strongest partners of every site, the search
looks at these alone, and a few planted interactions come out of it.
"""

# %%
# The sites are simulated, so the truth is known. Blocks of 20 sites are inherited together: each site mostly copies the
# one before it. Twenty interactions join sites of different blocks; the odds of one allele are then 7 times as high
# where the other is present.

import tempfile
from pathlib import Path

import mnlearn as mn
from mnlearn.simulate import snps

drawn = snps(n_sites=10_000, n_rows=1_000, block=20, n_interactions=20, log_odds=2.0, seed=4)
print(f"{drawn.data.n_variables:,} sites, {drawn.truth.graph.n_edges:,} true edges, {len(drawn.interactions)} planted")

# %%
# The screen keeps the 20 strongest partners of every site in one pass over all pairs. It stores no matrix of pairs.

screened = mn.screen(drawn.data, k=20)
print(screened)

# %%
# The search sees these candidates, adds the neighbours of neighbours, and scans all sites again given what it has
# found: a partner without a marginal trace can still come in. ``candidates="screen"`` does both steps in one call, and
# is the default beyond 5,000 variables.

result = mn.learn(drawn.data, "mpl", candidates=screened)
print(result.summary())

# %%
# How much of the truth is found? Most edges join sites that follow each other. Interactions are the edges between
# blocks.

found = mn.evaluate(result.graph, drawn.truth.graph).edges
print(f"all edges: recall {found.recall:.3f}, precision {found.precision:.3f}")

block_of = {name: x // 20 for x, name in enumerate(result.names)}
far = [edge for edge in result.edge_list() if block_of[edge.u] != block_of[edge.v]]
planted = set(drawn.interactions)
hits = [(edge.u, edge.v) in planted for edge in far]
print(f"edges between blocks: {len(far)}, of which planted: {sum(hits)} of {len(planted)}")

# %%
# The planted pairs have the best support among the edges between blocks.

for edge, hit in list(zip(far, hits, strict=True))[:8]:
    print(f"{edge.u} - {edge.v}  log odds {edge.support:6.1f}  {'planted' if hit else ''}")

# %%
# A network of this size is not drawn as a whole: the picture shows how many neighbours sites have, and the hubs.

result.plot()

# %%
# The surroundings of one interaction: two blocks and the edge between them.

result.plot(around=drawn.interactions[0], distance=3)

# %%
# ``around`` is a network of its own, with the numbers of the whole.

near = result.around(drawn.interactions[0][0])
near.edges()

# %%
# Files hold the whole network. The report draws a part of it and finds any site by name.

folder = Path(tempfile.mkdtemp())
result.save(folder / "sites.graphml")
result.save(folder / "sites.json")
result.report(folder / "sites.html")
for path in sorted(folder.iterdir()):
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")
