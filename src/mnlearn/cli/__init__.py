"""The command line: one file per verb, each verb one call into the library."""

from mnlearn.cli.app import main

__all__ = ["main"]
