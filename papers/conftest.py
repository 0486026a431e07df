"""Profiles and fixtures of the library's tests, for the tests of the papers too."""

pytest_plugins = ["tests.conftest", "tests.cli.conftest"]
