"""Whatever agents, files and people put into names, goals, reasons and evidence: it is shown, and does nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from matcore.engine.journal import Journal, NewEntry
from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import WINDOW_S, Told, supervised

EVIL = "\x1b]2;owned\x07\x1b[201~\x9b31m\u202eevil[red]x[/red][bold]\r\n{role}%s\x00\udcff #(id)"
COMMANDS = (
    ("status",), ("status", "--json"), ("why", "duo"), ("why", "duo", "--json"), ("log", "duo"),
    ("log", "duo", "--json"), ("episodes", "duo"), ("episodes", "duo", "--json"), ("verify", "duo"), ("metrics",),
    ("doctor",), ("recap",), ("prune", "--older-than", "0s", "--dry-run"),
)  # fmt: skip


def harmless(text: str) -> bool:
    """No control character but the end of a line, no direction mark, nothing that is not printable."""
    return all(line.isprintable() for line in text.split("\n"))


def everywhere(told: Told) -> None:
    """`EVIL` in each field that somebody else fills in."""
    told.working(cycle=f"c1{EVIL}", goal=EVIL)
    told.fact(
        "relay.sent", id=f"r-2{EVIL}", from_="dev", to="review", kind="request", seq=2, path=EVIL, warnings=[EVIL]
    )
    told.fact("relay.undeliverable", id=f"r-2{EVIL}")
    told.fact("role.idle", role="review", evidence=EVIL)
    told.fact("role.unknown", role="dev", evidence=EVIL)
    told.fact("gate.raised", gate=f"odd{EVIL}", role="dev", reason=EVIL, evidence=EVIL)
    told.fact("question.asked", question=f"q{EVIL}", role="dev", text=EVIL)
    told.fact("turn.ended", role="review", outcome="error", detail=EVIL)
    told.note("engine.telling", notice=f"n{EVIL}", kind=f"kind{EVIL}", action=True, text=EVIL)
    told.note("engine.told", notice=f"n{EVIL}", ok=False, said=EVIL, by=EVIL)
    told.note("engine.set_aside", role="dev", name=EVIL, reason=EVIL)
    told.note("handoff.checked", role="dev", approved=False, check=EVIL, reason=EVIL, file=EVIL)
    data: dict[str, Any] = {EVIL: EVIL, "list": [EVIL], "map": {EVIL: EVIL}}
    told.note(f"engine.{EVIL}".replace("\udcff", ""), **data)  # SQLite takes no lone surrogate
    told.pass_time(WINDOW_S)


@pytest.mark.parametrize("watched", [True, False])
def test_nothing_of_it_reaches_the_terminal(mat: Mat, tell: Tell, state: StatePlaces, watched: bool) -> None:
    """By no command, in words or in JSON; and the JSON says what was said."""
    everywhere(tell(ago=WINDOW_S + 100))
    (state.spool / "aside").mkdir(parents=True)
    (state.spool / "aside" / "x.json.reason").write_text(EVIL.replace("\udcff", ""), encoding="utf-8")
    for words in COMMANDS:
        if watched:
            with supervised(state, "duo"):
                code, out, err = mat(*words)
        else:
            code, out, err = mat(*words)
        assert code in (0, 1), err
        assert harmless(out), (words, out)
        assert harmless(err), (words, err)
        for line in out.splitlines() if words[-1] == "--json" else ():
            json.loads(line)
    [shot] = json.loads(mat("status", "--json")[1])["sessions"]
    assert shot["questions"][0]["text"] == EVIL


def test_markup_stays_text(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """`[red]x[/red]` is shown as it was written."""
    told = tell(ago=100)
    told.working(goal="a [red]red[/red] goal [/]")
    with supervised(state, "duo"):
        assert "a [red]red[/red] goal [/]" in mat("status")[1]


@pytest.mark.parametrize("words", [(EVIL,), ("status", EVIL), ("log", "--kind", EVIL), ("log", "--since", EVIL)])
def test_a_hostile_word_is_refused_harmlessly(mat: Mat, tell: Tell, words: tuple[str, ...]) -> None:
    """What was typed is named in the refusal."""
    tell().working()
    code, out, err = mat(*(word.replace("\x00", "") for word in words))
    assert code in (1, 2)
    assert out == ""
    assert harmless(err)


def test_a_session_of_a_hostile_name(mat: Mat, state: StatePlaces) -> None:
    """Only somebody with our rights can make its folder; it is shown all the same, and hides no other."""
    name = EVIL.replace("\x00", "").replace("/", "").replace("\udcff", "")
    state.session(name).mkdir(parents=True)
    with Journal.create(state.journal(name), session="x", rules="1") as journal:
        data: dict[str, Any] = {}
        journal.append([NewEntry(1.0, 1.0, "engine", "engine.odd", data)])
    for words in (("status",), ("doctor",), ("metrics",), ("log",), ("why",), ("prune",)):
        code, out, err = mat(*words)
        assert code in (0, 1), (words, err)
        assert harmless(out + err), words
