"""Facts and policies as the plain records that `records.parse` and `policy.parse` read."""

from __future__ import annotations

import dataclasses

from matcore.rules.facts import Fact
from matcore.rules.moments import seconds
from matcore.rules.policy import Policy
from matcore.rules.records import NAMES


def written(fact: Fact) -> dict[str, object]:
    """`at`, `fact`, then the fields, those that are not there left out."""
    told: dict[str, object] = {"fact": NAMES[type(fact)]}
    for each in dataclasses.fields(fact):
        value = getattr(fact, each.name)
        if value is not None:
            told["from" if each.name == "sender" else each.name] = policy(value) if isinstance(value, Policy) else value
    return told


def policy(given: Policy) -> dict[str, object]:
    """In seconds."""
    return {
        "window": seconds(given.window_us),
        "gate_settle": seconds(given.gate_settle_us),
        "progress_deadline": seconds(given.progress_deadline_us),
    }
