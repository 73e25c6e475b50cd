"""How the ledger is put together from its parts."""

from __future__ import annotations

from collections import Counter

from matcore.engine import folding


def test_each_name_of_an_entry_is_taken_in_by_one_part() -> None:
    """Of two parts that want the same name one would silently hear nothing."""
    names = Counter(name for part in folding.PARTS for name in part.HANDLERS)
    assert [name for name, times in names.items() if times > 1] == []
