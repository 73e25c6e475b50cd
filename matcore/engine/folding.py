"""How the ledger is folded from the journal: each entry goes to the part of the ledger that its name speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matcore.engine import tally
from matcore.engine.folds import holds, notices, relays, seats, session, texts
from matcore.engine.ledger import Fold, Ledger

PARTS = (session, seats, relays, texts, holds, notices)
HANDLERS: Mapping[str, Fold] = {name: fold for part in PARTS for name, fold in part.HANDLERS.items()}
"""By the entry's name."""


def apply(ledger: Ledger, name: str, at: float, data: Mapping[str, Any]) -> None:
    """Take in one entry of the journal, whatever its kind. One that says nothing to the ledger changes nothing."""
    fold = HANDLERS.get(name)
    if fold is not None:
        fold(ledger, at, data)
    tally.apply(ledger.tally, name, at, data)
