"""The fixtures of `lab.py` for all tests of this folder."""

from __future__ import annotations

from tests.agents.lab import pi

__all__ = ["pi"]
