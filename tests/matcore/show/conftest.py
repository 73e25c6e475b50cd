"""Sessions as the commands find them, for what is shown of them: the commands' own fixtures."""

from __future__ import annotations

from tests.matcore.cli.conftest import mat, state, tell

__all__ = ["mat", "state", "tell"]
