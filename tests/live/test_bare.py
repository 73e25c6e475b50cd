"""As `env -i` has it: nothing but PATH, HOME and a locale that knows ASCII alone, and texts that are not ASCII."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from matcore.places import StatePlaces
from tests.duo import Duo
from tests.waiting import wait_for

TEXT = "Prüfe „Größe“ → 日本語, naïve café ✓ 👍🏽"
SAID = "Gut so: ✓ 見た — nur hier gesagt"


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Duo]:
    """A duo whose commands get these three variables and no other, in a folder whose name is not ASCII either."""
    duo = Duo(tmp_path / "Prüfstand", window=60)
    duo.env = {"PATH": os.environ["PATH"], "HOME": str(duo.folder), "LC_ALL": "C"}
    duo.state = StatePlaces(duo.folder / ".local" / "state" / "mat")
    handover = {"when": "Prüfe", "once": True, "steps": [
        {"work": 0.5}, {"print": SAID}, {"send-relay": {"to": "review", "body": TEXT, "file": "Prüfung.md"}},
    ]}  # fmt: skip
    duo.role("dev", {"title": "⠿ Größe", "rules": [handover], "default": [{"print": SAID}]}, kick=TEXT)
    duo.role("review", {"placeholder": "Frag mich etwas …", "default": [{"work": 0.5}, {"print": SAID}]})
    duo.config["goal"] = TEXT
    yield duo
    duo.end()


def test_a_bare_environment_in_a_c_locale_changes_nothing(bare: Duo) -> None:
    """A kick, a handoff and a final check arrive as they were written, work and rest are seen, and all is shown."""
    bare.up()
    sent = bare.wait("relay.sent", 30, to="review")
    assert sent.data["from"] == "dev"
    bare.wait("relay.delivered", 30, id=sent.data["id"], confirmed=True)
    check = bare.wait("final_check", 30, role="review")
    bare.wait("effect.ended", 30, decision=check.data["number"], ok=True)
    bare.wait("wake.closed", 30, message=sent.data["id"])
    for role in ("dev", "review"):
        for seen in ("role.busy", "turn.ended", "role.idle"):
            bare.wait(seen, role=role)
    assert bare.submitted("dev")[0].endswith(TEXT)
    assert Path(str(sent.data["path"])).read_text(encoding="utf-8") == f"{TEXT}\n"
    assert str(sent.data["id"]) in bare.submitted("review")[0]
    assert [e.name for e in bare.entries("human.acted", "engine.set_aside", "question.asked", "gate.raised")] == []
    for command in ("status", "why", "recap", "log"):
        shown = bare.mat(command, bare.session)
        assert "�" not in shown.stdout + shown.stderr
    logged = [json.loads(line) for line in bare.mat("log", bare.session, "--json").stdout.splitlines()]
    assert TEXT in [entry.get("goal") for entry in logged]
    shown_in_pane = "".join(bare.screen("review").split())
    assert "".join(SAID.split()) in shown_in_pane
    assert psutil.Process(bare.supervisor_pid()).environ().keys() <= {*bare.env, "MAT_TEST_RUN"}


def test_what_a_person_writes_arrives_from_a_c_locale(bare: Duo) -> None:
    """On the command line and on stdin."""
    bare.up()
    bare.wait("role.idle", 30, role="review")
    for number, (words, stdin) in enumerate((((TEXT,), ""), (("-",), TEXT)), start=1):
        bare.mat("send", bare.session, "review", *words, stdin=stdin)
        wait_for(lambda n=number: sum(TEXT in text for text in bare.submitted("review")) == n, 30, "the text")  # type: ignore[misc]
