"""`mat explain` and the page in docs/ that is drawn from the core's tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from matcore.cli.main import run

PAGE = Path(__file__).parents[3] / "docs" / "rules.md"


def test_docs_rules_is_what_mat_explain_prints(capsys: pytest.CaptureFixture[str]) -> None:
    """The page is never stale: `make docs` writes it anew."""
    assert run(["explain"]) == 0
    printed = capsys.readouterr().out
    assert PAGE.read_text(encoding="utf-8") == printed
    assert "**awaiting_check**" in printed
