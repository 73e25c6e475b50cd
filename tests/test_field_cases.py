"""Each group of what goes wrong in the field has tests, and each marker names a group."""

from __future__ import annotations

import pytest

from tests.field_cases import GROUPS, cases


@pytest.mark.parametrize("group", GROUPS)
def test_each_group_has_tests(group: str) -> None:
    """At least two, each with a sentence that says what is right here."""
    found = [case for case in cases() if case.group == group]
    assert len(found) >= 2
    assert all(case.promise for case in found)


def test_each_marker_names_a_group() -> None:
    """A misspelt one would silently be none."""
    assert {case.group for case in cases()} <= set(GROUPS)
