"""Regressions of variables on their neighbours: edge weights, predictability, joint fits."""
