"""What people are told: each kind names what happened and the command to run next."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcore.words.notices import KINDS, notice
from matcore.words.worknotices import rounds_question

S = "shop-duo"
FACTS: dict[str, tuple[str, dict[str, object]]] = {
    "idle-recovery": ("idle-recovery", {"session": S, "since": "02:11", "owed": "review", "relay": "r-000012"}),
    "idle-recovery-ended": (
        "idle-recovery",
        {"session": S, "since": "02:11", "owed": "review", "relay": "r-000012", "ended": "review", "said": "Killed"},
    ),
    "idle-recovery-ended-silently": ("idle-recovery", {"session": S, "ended": "dev"}),
    "idle-recovery-ended-all": (
        "idle-recovery",
        {"session": S, "owed": "dev", "ended": "dev", "said": "Killed", "workdir": "/home/u/my shop"},
    ),
    "idle-recovery-woke-nobody": (
        "idle-recovery",
        {
            "session": S,
            "owed": "dev",
            "ended": "dev",
            "none_woken": ["dev", "review"],
            "workdir": "/home/u/shop",
        },
    ),
    "idle-recovery-nobody": ("idle-recovery", {"session": S}),
    "gate": ("gate", {"session": S, "gates": ["dialog/dev", "rate-limited/review"], "since": "02:11"}),
    "gate-question": (
        "gate",
        {
            "session": S,
            "gates": ["awaiting-human"],
            "since": "02:11",
            "questions": [{"role": "dev", "question": "q-1", "text": "Postgres\nor SQLite?"}],
        },
    ),
    "gate-questions": (
        "gate",
        {
            "session": S,
            "gates": ["awaiting-human"],
            "questions": [
                {"role": "dev", "question": "q-1", "text": "Postgres?", "dialog": False},
                {"role": "review", "question": "rounds-c1-1", "text": "30 rounds; go on?", "by_mat": True},
                {"role": "dev", "question": "dialog-3", "text": "Run rm -r build?", "dialog": True},
            ],
        },
    ),
    "gate-paused": ("gate", {"session": S, "gates": ["paused"]}),
    "gate-unnamed": ("gate", {"session": S}),
    "question": ("question", {"session": S, "role": "dev", "text": "Postgres\nor SQLite?"}),
    "question-by-id": (
        "question",
        {"session": S, "role": "review", "question": "q-0123456789ab", "text": "Is 0 an error? " * 60},
    ),
    "question-of-mat": (
        "question",
        {"session": S, "role": "dev", "question": "rounds-c1-1", "text": "30 rounds; go on?", "by_mat": True},
    ),
    "question-dialog": ("question", {"session": S, "role": "dev", "dialog": True}),
    "question-dialog-text": (
        "question",
        {"session": S, "role": "dev", "dialog": True, "text": "Run rm -r build?", "question": "dialog-3"},
    ),
    "overdue": ("overdue", {"session": S, "cycle": "c1", "since": "02:11"}),
    "cycle-completed": ("cycle-completed", {"session": S, "cycle": "c1", "by": "review", "goal": "TASK.md is done"}),
    "cycle-completed-in": (
        "cycle-completed",
        {
            "session": S,
            "cycle": "c1",
            "by": "dev",
            "took_s": 7445.2,
            "handoffs": 12,
            "stalls": 1,
            "goal": "TASK.md is done",
        },
    ),
    "cycle-completed-by-human": ("cycle-completed", {"session": S, "cycle": "c1", "by": "human", "took_s": 0.2}),
    "cycle-blocked": (
        "cycle-blocked",
        {"session": S, "cycle": "c1", "by": "dev", "reason": "no key", "took_s": 61.0, "handoffs": 1},
    ),
    "cycle-blocked-by-human": ("cycle-blocked", {"session": S, "cycle": "c1", "by": "human"}),
    "crash-loop": ("crash-loop", {"session": S, "role": "dev"}),
    "crash-loop-again": ("crash-loop", {"session": S, "role": "dev", "since": "2026-11-30 20:44:02+0100"}),
    "crash-loop-at-once": (
        "crash-loop",
        {"session": S, "role": "dev", "program": "claude", "lived_s": 1.4, "said": "Starting\nError: no key\n"},
    ),
    "mass-loss": ("mass-loss", {"sessions": ["a-duo", "b-duo"], "panes": 4, "file": "/home/u/shop/duo.yaml"}),
    "mass-loss-no-file": ("mass-loss", {"sessions": ["a-duo"], "panes": 2}),
    "refusals": (
        "refusals",
        {"session": S, "role": "dev", "file": "/w/h.md", "check": "required-keys", "reason": "it lacks `issue`"},
    ),
    "disk-full": ("disk-full", {"reason": "no space left for /home/u/.local/state/mat"}),
    "state-unwritable": ("state-unwritable", {"reason": "/home/u/.local/state/mat: Read-only file system"}),
    "folder": ("folder", {"session": S, "reason": "/w/.mat/shop-duo: Permission denied"}),
    "recreated": ("recreated", {"session": S, "what": ["shop-duo/handoffs", "sent.index"]}),
    "recreated-lost": (
        "recreated",
        {
            "session": S,
            "what": ["shop-duo"],
            "lost": ["r-000012 from dev to review", "r-000014 from human to dev"],
            "again": f'mat send {S} dev "Send r-000012 again."',
        },
    ),
    "session-failed": ("session-failed", {"session": S, "reason": "entry 12: its digest is another one"}),
    "guard": ("guard", {"log": "/home/u/.local/state/mat/supervisor.log", "reason": "exit 70"}),
    "notify-user": ("notify-user", {"session": S, "role": "dev", "text": "The build is green."}),
    "test": ("test", {"channel": "ntfy"}),
    "test-unnamed": ("test", {}),
}


@pytest.mark.parametrize("name", FACTS)
def test_each_notice_is_held_to_its_golden_file(name: str, golden: Callable[[str, str], None]) -> None:
    """No word that a person reads changes unseen."""
    kind, facts = FACTS[name]
    golden(f"notice-{name}", notice(kind, **facts))


def test_mat_s_own_question_is_held_to_its_golden_file(golden: Callable[[str, str], None]) -> None:
    """Where the rounds of a cycle are used up it says what waits, who gets the answer, and how to end it instead."""
    golden("rounds-question", rounds_question(session=S, cycle="c1", role="dev", rounds=30))


def test_every_kind_has_a_golden_file() -> None:
    """A new kind comes with its text."""
    assert {kind for kind, _ in FACTS.values()} == set(KINDS)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "test"])
def test_a_notice_ends_with_a_command(kind: str) -> None:
    """Who is told at night is told what to type."""
    facts = next(facts for named, facts in FACTS.values() if named == kind)
    assert "mat " in notice(kind, **facts).splitlines()[-1]


def test_an_unknown_kind_is_a_mistake_of_the_caller() -> None:
    """A kind without words is never announced as nothing."""
    with pytest.raises(KeyError):
        notice("rumour", session=S)


@given(st.sampled_from(sorted(KINDS)), st.text(max_size=3000), st.lists(st.text(max_size=300), max_size=30))
def test_notices_fit_whatever_goes_in(kind: str, text: str, names: list[str]) -> None:
    """A notice is under 1 KiB and holds no control characters, whatever an agent says."""
    said = notice(
        kind,
        session=text,
        role=text,
        text=text,
        gates=names,
        sessions=names,
        reason=text,
        goal=text,
        by=text,
        since=text,
    )
    assert len(said.encode()) < 1024
    assert all(c in "\n\t" or (ord(c) >= 32 and not 0x7F <= ord(c) <= 0x9F) for c in said)
