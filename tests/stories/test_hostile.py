"""Spools with everything in them that does not belong there: each set aside with a reason, visible, never fatal."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stories.world import World

ID = "0" * 32


def name(n: int, ident: str = ID) -> str:
    return f"{n:020d}-{ident}.json"


def record(**fields: object) -> bytes:
    return json.dumps({"v": 1, "id": ID, "ts_ms": 1, "session": "duo", **fields}).encode()


def _write(folder: Path, data: bytes, file: str = "") -> None:
    (folder / (file or name(1))).write_bytes(data)


KINDS: dict[str, Callable[[Path], object]] = {
    "half-written": lambda f: _write(f, record(fact="relay.acked")[:20]),
    "enormous": lambda f: _write(f, b"[" + b"1," * (5 * 2**20) + b"1]"),
    "not-json": lambda f: _write(f, b"\x00\xff\xfe"),
    "other-session": lambda f: _write(f, record(session="other-duo", fact="relay.acked", message_id="r-000001")),
    "no-session-at-all": lambda f: _write(f, record(session=None, fact="relay.acked", message_id="r-000001")),
    "link": lambda f: (f / name(1)).symlink_to("/etc/passwd"),
    "fifo": lambda f: os.mkfifo(f / name(1)),
    "folder": lambda f: (f / name(1)).mkdir(),
    "dots": lambda f: _write(f, b"{}", "..json"),
    "newline": lambda f: _write(f, b"{}", "a\nb.json"),
    "unknown-fact": lambda f: _write(f, record(fact="agent.renewed", role="dev")),
    "ill-typed": lambda f: _write(f, record(fact="relay.sent", message_id=7, to=["dev"])),
    "relay-to-nobody": lambda f: _write(f, record(fact="relay.sent", message_id="r-000001", to="ghost", seq=1)),
    "deep": lambda f: _write(f, b"[" * 100_000),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whose", ["dev", "human"])
@pytest.mark.field_case("Security")
def test_what_does_not_belong_is_set_aside_and_nothing_stops(world: World, kind: str, whose: str) -> None:
    """In a role's spool as in the user's; what comes after it in the same spool is taken up."""
    world.up()
    spool = world.places.spool if whose == "human" else world.folder_of().spool("dev")
    KINDS[kind](spool / "new")
    world.settle()
    assert list((spool / "new").iterdir()) == []
    assert len([p for p in (spool / "aside").iterdir() if p.suffix != ".reason"]) == 1
    assert world.supervisor.watched["duo"].fault is None
    if whose == "dev":
        assert world.session().ledger.set_aside_total == 1
        assert world.entries("engine.set_aside")[0]["reason"]
    world.relay("dev", "review", 1)
    assert world.entries("relay.sent")


def test_a_record_that_cannot_be_moved_aside_is_not_fatal(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk in trouble: it is tried again at the next look."""
    from matcore.engine import spool

    world.up()

    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spool, "set_aside", no_room)
    world.human(session="nobody", fact="human.paused")
    assert len(list((world.places.spool / "new").iterdir())) == 1
    monkeypatch.undo()
    world.settle()
    assert list((world.places.spool / "new").iterdir()) == []
