"""mnlearn: learn the structure of Markov networks from data."""
