"""Slow reference implementations, written as the definitions read."""
