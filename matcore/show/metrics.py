"""Counters and gauges over all sessions, as OpenMetrics has them. No session, role or agent id is a label.

Counted from the journals, so that a restarted supervisor, or none, changes nothing; `mat prune` takes its part away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from matcore.engine.journal import Journal
from matcore.errors import MatError
from matcore.places import StatePlaces
from matcore.show.snapshot import Supervisor

_COUNTERS = {
    "wake_received": "Messages that were delivered to a role, by its agent program.",
    "wake_reply_sent": "Wakes that ended with a reply.",
    "wake_completed_without_visible_reply": "Wakes that were received and ended back at idle.",
    "wake_failed": "Wakes whose turn failed.",
    "mat_episodes_opened": "Recovery episodes that were opened.",
    "mat_episodes_closed": "Recovery episodes that were closed, by what closed them.",
    "mat_nudges": "Nudges that were decided, by rung.",
    "mat_rungs_skipped": "Rungs that were skipped, for their role was gone.",
    "mat_ladder_deferred": "Times that a due ladder was put off because of gates.",
    "mat_gates_escalated": "Gates that the human was told of.",
    "mat_progress_overdue": "Cycles in which nothing was handed over until the deadline.",
    "mat_notifications": "Notifications, by kind and by whether a channel took them at that attempt.",
    "mat_relays_sent": "Relays, by kind.",
    "mat_cycles": "Cycles, by how far they came.",
    "mat_set_aside": "Records of agents that could not be taken up.",
    "mat_mistakes": "Mistakes of mat itself.",
}
_GAUGES = {
    "mat_supervisor_up": "Whether a supervisor runs.",
    "mat_supervisor_heartbeat_age_seconds": "How old its heartbeat is.",
    "mat_sessions": "Sessions, by state.",
    "mat_journal_entries": "Entries in all journals.",
}
_WAKES = {
    "reply_sent": "wake_reply_sent",
    "failed": "wake_failed",
    "completed_without_visible_reply": "wake_completed_without_visible_reply",
}
_PLAIN: Mapping[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "episode.opened": ("mat_episodes_opened", ()),
    "episode.closed": ("mat_episodes_closed", (("by", "by"),)),
    "nudge": ("mat_nudges", (("rung", "rung"),)),
    "rung.skipped": ("mat_rungs_skipped", ()),
    "ladder.deferred": ("mat_ladder_deferred", ()),
    "gate.escalated": ("mat_gates_escalated", ()),
    "progress.overdue": ("mat_progress_overdue", ()),
    "relay.sent": ("mat_relays_sent", (("kind", "kind"),)),
    "engine.set_aside": ("mat_set_aside", ()),
    "engine.mistake": ("mat_mistakes", ()),
}
_CYCLES = {"cycle.opened": "opened", "cycle.completed": "completed", "cycle.blocked": "blocked"}
_Labels = tuple[tuple[str, str], ...]


class Sample(msgspec.Struct):
    """One line. A counter's name ends in `_total`."""

    name: str
    labels: dict[str, str]
    value: int | float


def samples(state: StatePlaces, sessions: list[str], supervisor: Supervisor) -> list[Sample]:
    """Of all sessions together, in order of name."""
    counted: Counter[tuple[str, _Labels]] = Counter({(name, ()): 0 for name in _COUNTERS if not _labelled(name)})
    states: Counter[str] = Counter({"open": 0, "ended": 0, "unreadable": 0})
    entries = 0
    for session in sessions:
        try:
            with Journal.read(state.journal(session)) as journal:
                counted.update(_counted(journal))
                entries += journal.last_seq
                states["ended" if journal.tail(1, names=["engine.down"]) else "open"] += 1
        except MatError:
            states["unreadable"] += 1
    found = [Sample(f"{name}_total", dict(labels), value) for (name, labels), value in sorted(counted.items())]
    found.append(Sample("mat_supervisor_up", {}, int(supervisor.alive and not supervisor.stale)))
    if supervisor.heartbeat_age_s is not None:
        found.append(Sample("mat_supervisor_heartbeat_age_seconds", {}, round(supervisor.heartbeat_age_s, 3)))
    found += [Sample("mat_sessions", {"state": name}, value) for name, value in sorted(states.items())]
    return [*found, Sample("mat_journal_entries", {}, entries)]


def text(found: list[Sample]) -> str:
    """As OpenMetrics text, with its end mark."""
    lines: list[str] = []
    for name, about in [*_COUNTERS.items(), *_GAUGES.items()]:
        kind, shown = ("counter", f"{name}_total") if name in _COUNTERS else ("gauge", name)
        lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
        lines += [f"{shown}{_braces(each.labels)} {each.value}" for each in found if each.name == shown]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _labelled(name: str) -> bool:
    keys = {counter: bool(labels) for counter, labels in _PLAIN.values()}
    return keys.get(name, True)


def _counted(journal: Journal) -> Counter[tuple[str, _Labels]]:
    return Counter(dict(_each(journal)))


def _each(journal: Journal) -> Iterator[tuple[tuple[str, _Labels], int]]:
    for name, (counter, keys) in _PLAIN.items():
        for (_, *values), count in journal.counts([name], [key for key, _ in keys]).items():
            labels = tuple((label, str(value)) for (_, label), value in zip(keys, values, strict=True))
            yield (counter, labels), count
    for (cycle,), count in journal.counts(list(_CYCLES), []).items():
        yield ("mat_cycles", (("state", _CYCLES[str(cycle)]),)), count
    yield from _summed(_notifications(journal))
    yield from _summed(_wakes(journal))


def _notifications(journal: Journal) -> Iterator[tuple[tuple[str, _Labels], int]]:
    kinds = {entry.data["notice"]: entry.data["kind"] for entry in journal.entries(names=["engine.telling"])}
    for (_, notice, ok), count in journal.counts(["engine.told"], ["notice", "ok"]).items():
        kind = str(kinds.get(notice, "other"))
        yield ("mat_notifications", (("kind", kind), ("taken", "true" if ok else "false"))), count


def _wakes(journal: Journal) -> Iterator[tuple[tuple[str, _Labels], int]]:
    runtimes = _runtimes(journal)
    for (_, role), count in journal.counts(["wake.opened"], ["role"]).items():
        yield ("wake_received", (("runtime", runtimes.get(role, "unknown")),)), count
    for (_, role, status, reason), count in journal.counts(["wake.closed"], ["role", "status", "reason"]).items():
        name = _WAKES[str(status)]
        labels = (("runtime", runtimes.get(role, "unknown")),)
        said = (("reason", str(reason)),) if name == "wake_completed_without_visible_reply" else ()
        yield (name, (*labels, *said)), count


def _runtimes(journal: Journal) -> dict[object, str]:
    last = journal.tail(1, names=["engine.up"])
    config: Any = last[0].data.get("config") if last else {}
    return {role: str(about.get("backend")) for role, about in (config or {}).get("roles", {}).items()}


def _summed(each: Iterator[tuple[tuple[str, _Labels], int]]) -> Iterator[tuple[tuple[str, _Labels], int]]:
    """Two roles on one agent program are one sample."""
    total: Counter[tuple[str, _Labels]] = Counter()
    for key, count in each:
        total[key] += count
    yield from total.items()


def _braces(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return "".join(c if c.isprintable() else "?" for c in quoted)
