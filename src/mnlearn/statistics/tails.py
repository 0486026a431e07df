"""Tails of distributions that the native core computes; `mnlearn.independence` builds its p-values on them."""

from __future__ import annotations

from mnlearn._core import log_chi2_tails

__all__ = ["log_chi2_tails"]
