"""Under `make sanitize`: that the core which is tested is the one built with the sanitizers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mnlearn import _core


@pytest.mark.skipif("MNLEARN_SANITIZED" not in os.environ, reason="only under make sanitize")
def test_the_core_is_the_instrumented_one() -> None:
    assert b"__asan_init" in Path(_core.__file__ or "").read_bytes()
    assert b"__ubsan_handle" in Path(_core.__file__ or "").read_bytes()
