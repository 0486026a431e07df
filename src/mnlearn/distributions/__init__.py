"""Distributions over a graph, and samplers; `mnlearn.simulate` lists their names."""
