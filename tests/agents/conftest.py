"""The fixtures of `lab.py` for all tests of this folder."""

from __future__ import annotations

from tests.agents.lab import claude, codex, pi

__all__ = ["claude", "codex", "pi"]
