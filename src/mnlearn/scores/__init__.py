"""Scores of whole graphs and of single blankets: the judges that weigh, where tests decide."""
