"""`mat explain` and the page in docs/ that is drawn from the core's tables."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from matcore.cli.explain import command

PAGE = Path(__file__).parents[3] / "docs" / "rules.md"


def test_docs_rules_is_what_mat_explain_prints() -> None:
    """The page is never stale: `make docs` writes it anew."""
    printed = CliRunner().invoke(command, []).output
    assert PAGE.read_text(encoding="utf-8") == printed
    assert "**awaiting_check**" in printed
