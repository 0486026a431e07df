"""Learners: one paper, one file. A learner holds settings only and meets a judge, never the data."""
