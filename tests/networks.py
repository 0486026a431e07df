"""Where the Bayesian networks of the experiments lie, if they lie anywhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("MNLEARN_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")

needs_data = pytest.mark.skipif(not (DATA / "networks").is_dir(), reason="needs the networks of MNLEARN_DATA")


def network_file(name: str) -> Path:
    """The BIF file of a network, compressed or not."""
    plain = DATA / "networks" / f"{name}.bif"
    return plain if plain.exists() else plain.with_name(f"{name}.bif.gz")
