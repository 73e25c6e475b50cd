"""The tables by which the core decides have every cell."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import pytest

from matcore.rules import cycle, flights, gates, ladder, roles, wakes
from matcore.rules.state import RowStatus, Status

TABLES: list[tuple[Mapping[Any, Mapping[Any, object]], type[enum.Enum], type[enum.Enum]]] = [
    (ladder.TABLE, ladder.Stage, ladder.Event),
    (flights.TABLE, flights.Air, flights.Event),
    (gates.TABLE, gates.Hold, gates.Event),
    (roles.TABLE, Status, roles.Seen),
    (wakes.TABLE, RowStatus, wakes.Event),
    (cycle.TABLE, cycle.Cycle, cycle.Event),
]


@pytest.mark.parametrize(("table", "states", "events"), TABLES)
def test_every_cell_is_written(
    table: Mapping[Any, Mapping[Any, object]], states: type[enum.Enum], events: type[enum.Enum]
) -> None:
    """Each state has a row, in order, and each row a cell for each event."""
    assert list(table) == list(states)
    assert all(list(cells) == list(events) for cells in table.values())
