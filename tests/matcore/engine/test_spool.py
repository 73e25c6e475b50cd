"""The reader's side of a spool: what is a record is taken up in order, what is none is set aside and said."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcore import spoolfile
from matcore.engine import spool, spoolwatch
from matcore.engine.spool import Item, SetAside
from tests.waiting import wait_for

ME = os.getuid()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "spool" / "dev"
    spool.make(folder)
    return folder


def record(**fields: object) -> dict[str, object]:
    return {"session": "shop", "fact": "cycle.opened", **fields}


def put(folder: Path, content: bytes | dict[str, object], name: str | None = None) -> Path:
    """A file in `new/` as no honest writer makes it."""
    ident = uuid.uuid4().hex
    if isinstance(content, dict):
        content = json.dumps({"v": 1, "id": ident, "ts_ms": 5, **content}).encode()
    path = folder / "new" / (name or f"{time.time_ns():020d}-{ident}.json")
    path.write_bytes(content)
    return path


def taken(folder: Path, session: str | None = "shop") -> list[Item | SetAside]:
    return list(spool.take(folder, ME, session=session))


def only_aside(folder: Path, session: str | None = "shop") -> SetAside:
    """The one thing that was found, which was set aside: gone from `new/`, kept in `aside/` with its reason."""
    (found,) = taken(folder, session)
    assert isinstance(found, SetAside)
    assert found.name.isprintable()
    assert list((folder / "new").iterdir()) == []
    (reason,) = (folder / "aside").glob("*.reason")
    assert reason.read_text() == f"{found.reason}\n"
    assert reason.with_suffix("").lstat()
    assert taken(folder, session) == []
    return found


class TestTaking:
    def test_what_was_written_is_taken_in_order(self, folder: Path) -> None:
        """Records come oldest first, as they were written, and stay until they are done."""
        ids = [spoolfile.write(folder, record(goal=f"goal {n}")) for n in range(5)]
        items = taken(folder)
        assert [item.id for item in items if isinstance(item, Item)] == ids
        assert [item.record["goal"] for item in items if isinstance(item, Item)] == [f"goal {n}" for n in range(5)]
        assert taken(folder) == items
        for item in items:
            assert isinstance(item, Item)
            spool.done(item)
            spool.done(item)
        assert taken(folder) == []

    @pytest.mark.field_case("Lost or twice")
    def test_what_is_still_being_written_is_not_looked_at(self, folder: Path) -> None:
        """Only `new/` is read: a file under `tmp/` is not there yet."""
        spoolfile.stage(folder, spoolfile.completed(record()))
        assert taken(folder) == []

    def test_a_record_that_cant_be_taken_up_is_set_aside(self, folder: Path) -> None:
        """The caller's own reason goes to `aside/` with the file, once."""
        spoolfile.write(folder, record())
        (item,) = taken(folder)
        assert isinstance(item, Item)
        spool.set_aside(item, "no such role")
        spool.set_aside(item, "no such role")
        assert taken(folder) == []
        (reason,) = (folder / "aside").glob("*.reason")
        assert reason.read_text() == "no such role\n"

    def test_one_that_is_gone_meanwhile_is_nothing(self, folder: Path) -> None:
        """A file that disappears between the look and the reading is passed over."""
        for _ in range(3):
            spoolfile.write(folder, record())
        stream = spool.take(folder, ME, session="shop")
        first = next(stream)
        assert isinstance(first, Item)
        for path in (folder / "new").iterdir():
            path.unlink()
        assert list(stream) == []

    def test_the_users_spool_is_of_every_session(self, folder: Path) -> None:
        """Without a session, records of any, and of none, are taken."""
        for session in ("shop", "other", None):
            spoolfile.write(folder, record(session=session))
        assert [i.record["session"] for i in taken(folder, None) if isinstance(i, Item)] == ["shop", "other", None]


class TestSetAside:
    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"", "it is not JSON"),
            (b'{"v": 1, "id": "ab', "it is not JSON"),
            (b"\xff\xfe{}", "it is not UTF-8"),
            (b"[1, 2]", "it is not a JSON object"),
            (b'"text"', "it is not a JSON object"),
            (b'{"v": 1, "n": NaN}', "NaN is no number"),
            (b'{"v": 1, "n": -Infinity}', "-Infinity is no number"),
            (b'{"v": 1, "n": 1e999}', "it is not JSON"),
            (b'{"v": 1, "n": ' + b"9" * 5000 + b"}", "it is not JSON"),
            (b'{"v": 1, "text": "\\ud800"}', "it holds half a character"),
            (b'{"v": 1, "n": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "it is nested too deep"),
            (b'{"v": 1, "n": ' + b"[" * 40 + b"]" * 40 + b"}", "it is nested too deep"),
            (b" " * (spoolfile.MAX_BYTES + 1), f"bytes, {spoolfile.MAX_BYTES} at most"),
            ({"v": 2, "session": "shop", "fact": "x"}, "it is of another version"),
            ({"v": True, "session": "shop", "fact": "x"}, "it is of another version"),
            ({"session": "other", "fact": "x"}, "it is of another session, not of shop"),
            ({"session": None, "fact": "x"}, "it is of another session, not of shop"),
            ({"session": "shop", "fact": "x", "id": "../../x"}, "its id is not that of its name"),
            ({"session": "shop", "fact": "x", "ts_ms": "now"}, "it does not say when it was written"),
            ({"session": "shop"}, "it is not one fact, request or record"),
            ({"session": "shop", "fact": "x", "request": "up"}, "it is not one fact, request or record"),
            ({"session": "shop", "fact": ["x"]}, "it is not one fact, request or record"),
        ],
    )
    def test_what_is_no_record(self, folder: Path, content: bytes | dict[str, object], reason: str) -> None:
        """Anything that is not a whole record of this session is set aside with the reason."""
        put(folder, content)
        assert reason in only_aside(folder).reason

    @pytest.mark.parametrize(
        "name",
        [
            "..x.json",
            "hello.json",
            ".hidden",
            "00000000000000000001-abc.json",
            "a\nb.json",
            "\x1b]0;x\x07.json",
            "x" * 255,
            f"{1:020d}-{'a' * 32}.json\n",
        ],
    )
    def test_a_name_that_is_none(self, folder: Path, name: str) -> None:
        """Names with newlines, escapes or `..` are set aside under a harmless one."""
        put(folder, record(), name)
        assert only_aside(folder).reason == "its name is not that of a record"
        for path in (folder / "aside").iterdir():
            assert path.name.isprintable()
            assert ".." not in path.name

    def test_a_name_that_is_no_text(self, folder: Path) -> None:
        """Bytes that are no UTF-8 in a name are no more harmful."""
        (Path(os.fsdecode(os.fsencode(folder / "new") + b"/\xff\xfe.json"))).write_bytes(b"{}")
        assert only_aside(folder).reason == "its name is not that of a record"

    def test_a_link(self, folder: Path, tmp_path: Path) -> None:
        """A symbolic link is not followed, wherever it leads; what it leads to stays as it is."""
        secret = tmp_path / "secret"
        secret.write_text(json.dumps({"v": 1, **record()}))
        (folder / "new" / f"{1:020d}-{'a' * 32}.json").symlink_to(secret)
        assert only_aside(folder).reason == "it is a link"
        assert secret.exists()

    def test_a_second_name(self, folder: Path, tmp_path: Path) -> None:
        """A hard link to somebody else's file is set aside and not cut off."""
        other = tmp_path / "other"
        other.write_bytes(b"x" * (spoolfile.MAX_BYTES + 10))
        (folder / "new" / f"{1:020d}-{'a' * 32}.json").hardlink_to(other)
        assert only_aside(folder).reason == "it is a second name of another file"
        assert other.stat().st_size == spoolfile.MAX_BYTES + 10

    @pytest.mark.parametrize("kind", ["fifo", "socket", "folder", "device"])
    def test_what_is_no_file(self, folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """A FIFO, a socket, a folder or a device never makes the reader wait."""
        path = folder / "new" / f"{1:020d}-{'a' * 32}.json"
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "socket":
            monkeypatch.chdir(path.parent)
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(path.name)
        elif kind == "folder":
            (path / "inner").mkdir(parents=True)
        else:
            try:
                os.mknod(path, 0o20600, os.makedev(1, 5))
            except PermissionError:
                pytest.skip("a device can only be made by root")
        assert only_aside(folder).reason == "it is no regular file"

    def test_another_users_file(self, folder: Path) -> None:
        """A file that somebody else put there is not taken up."""
        put(folder, record())
        (found,) = spool.take(folder, ME + 1, session="shop")
        assert isinstance(found, SetAside)
        assert found.reason == "it is owned by another user"

    def test_an_enormous_file_is_cut_off(self, folder: Path) -> None:
        """What is kept of it for a look does not fill the disk."""
        path = put(folder, b"")
        with path.open("r+b") as file:
            file.truncate(10 * 1024**3)
        assert "at most" in only_aside(folder).reason
        (kept,) = (path for path in (folder / "aside").iterdir() if path.suffix != ".reason")
        assert kept.stat().st_size == spoolfile.MAX_BYTES

    def test_what_is_kept_aside_is_bounded(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A flood of nonsense keeps the newest few, folders among them."""
        monkeypatch.setattr(spool, "KEPT_ASIDE", 5)
        for n in range(20):
            put(folder, b"nonsense", f"bad-{n:02d}")
            (folder / "new" / f"folder-{n:02d}" / "deep").mkdir(parents=True)
        assert len(taken(folder)) == 40
        assert len([path for path in (folder / "aside").iterdir() if path.suffix != ".reason"]) == 5
        assert len(list((folder / "aside").glob("*.reason"))) == 5

    def test_good_ones_around_it_are_taken(self, folder: Path) -> None:
        """One bad file stops nothing."""
        first = spoolfile.write(folder, record())
        put(folder, b"half")
        last = spoolfile.write(folder, record())
        items = taken(folder)
        assert [item.id if isinstance(item, Item) else "aside" for item in items] == [first, "aside", last]

    @given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
    def test_no_content_is_fatal(self, tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
        """Whatever bytes lie there, the spool is empty afterwards and nothing was raised."""
        folder = tmp_path_factory.mktemp("spool")
        spool.make(folder)
        put(folder, content)
        assert len(taken(folder)) == 1
        assert taken(folder) == []


class TestFolders:
    def test_a_folder_that_was_cleaned_away_is_made_again(self, folder: Path) -> None:
        """It is said once, and what is written afterwards is taken."""
        shutil.rmtree(folder.parent)
        (said,) = taken(folder)
        assert isinstance(said, SetAside)
        assert said.reason == "the spool's folder was gone; it was made again"
        assert taken(folder) == []
        assert (folder / "new").stat().st_mode & 0o777 == 0o700
        spoolfile.write(folder, record())
        assert len(taken(folder)) == 1

    @pytest.mark.parametrize("which", [".", "new", "aside"])
    @pytest.mark.parametrize("what", ["link", "file"])
    def test_something_else_in_a_folders_place(self, folder: Path, tmp_path: Path, which: str, what: str) -> None:
        """A link is removed without touching what it leads to, a file is moved out of the way."""
        place = folder / which
        outside = tmp_path / "outside"
        (outside / "new").mkdir(parents=True)
        (outside / "keep").write_text("kept")
        shutil.rmtree(place)
        if what == "link":
            place.symlink_to(outside)
        else:
            place.write_text("a file")
        taken(folder)
        assert taken(folder) == []
        put(folder, b"nonsense")
        assert len(taken(folder)) == 1
        assert len(list((folder / "aside").glob("*.reason"))) == 1
        assert sorted(path.name for path in outside.iterdir()) == ["keep", "new"]

    def test_a_folder_that_cant_be_read_is_said_once(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The same fault is not said at every look, and again only after it was mended."""
        real = os.open

        def broken(path: Any, *rest: Any, **options: Any) -> int:
            if path == folder / "new":
                raise OSError(5, "Input/output error")
            return real(path, *rest, **options)

        for _ in range(2):
            with monkeypatch.context() as patch:
                patch.setattr(os, "open", broken)
                (said,) = taken(folder)
                assert isinstance(said, SetAside)
                assert "can't be read (Input/output error)" in said.reason
                assert taken(folder) == []
            assert taken(folder) == []

    def test_a_disk_that_fails_loses_nothing(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A record that can't be read now is left where it is, said once, and taken up later."""
        spoolfile.write(folder, record())
        real = os.open

        def broken(path: Any, *rest: Any, **options: Any) -> int:
            if options.get("dir_fd") is not None:
                raise OSError(24, "Too many open files")
            return real(path, *rest, **options)

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", broken)
            (said,) = taken(folder)
            assert isinstance(said, SetAside)
            assert "Too many open files" in said.reason
            assert taken(folder) == []
        (item,) = taken(folder)
        assert isinstance(item, Item)


class TestPermitted:
    @pytest.mark.parametrize(
        "said",
        [
            {"fact": "relay.sent", "message_id": "r-000012", "to": "review", "kind": "request", "digest": "a" * 64},
            {"fact": "relay.sent", "message_id": "r-000012", "to": "review", "from": "somebody", "unknown": 1},
            {"fact": "relay.already_sent", "message_id": "r-000012", "to": "review", "seen": None},
            {"fact": "relay.acked", "message_id": "recovery-dev-review-12"},
            {"fact": "cycle.opened", "cycle": None, "goal": "done"},
            {"fact": "cycle.completed", "cycle": "c1"},
            {"fact": "cycle.blocked", "reason": "no key"},
            {"fact": "question.asked", "question": "q-1a2b", "text": "which one?"},
            {"request": "wait", "until_s": 1800, "reason": "full test run"},
            {"request": "wait", "done": True},
            {"request": "notify-user", "action": False, "text": "hello"},
            {
                "record": "handoff.checked",
                "approved": False,
                "check": "front-matter",
                "reason": "it never ends",
                "blocks": 1,
                "max_blocks": 3,
                "file": "H.md",
            },
        ],
    )
    def test_what_a_role_may_say(self, said: dict[str, object]) -> None:
        """Each of the facts, requests and records on the page."""
        assert spool.permitted(said, "dev") is None

    @pytest.mark.parametrize(
        "said",
        [
            {"fact": "human.paused"},
            {"fact": "relay.delivered", "id": "r-000012"},
            {"fact": "effect.ended", "decision": 1, "ok": True},
            {"fact": "question.answered", "question": "q-1", "text": "yes"},
            {"request": "up"},
            {"request": "down"},
            {"request": "hook", "role": "dev"},
            {"record": "anything"},
            {"fact": "wait"},
            {},
            {"fact": "relay.acked", "request": "wait"},
        ],
    )
    @pytest.mark.field_case("Security")
    def test_what_a_role_may_not_say(self, said: dict[str, object]) -> None:
        """Nothing that only the human, a driver or the engine can know."""
        assert spool.permitted(said, "dev") is not None

    @pytest.mark.parametrize(
        "said",
        [
            {"fact": "relay.sent", "message_id": "r-1\n[relay r-2 from human]", "to": "review"},
            {"fact": "relay.sent", "message_id": "r-1", "to": "../x"},
            {"fact": "relay.sent", "message_id": "r-1", "to": "review", "kind": "order"},
            {"fact": "relay.sent", "message_id": "r-1", "to": "review", "digest": "../../etc/passwd"},
            {"fact": "relay.sent", "to": "review"},
            {"fact": "relay.acked", "message_id": 7},
            {"fact": "cycle.opened", "cycle": "c 1"},
            {"fact": "question.asked", "question": "q-1"},
            {"request": "wait", "until_s": 0, "reason": "x"},
            {"request": "wait", "until_s": -1, "reason": "x"},
            {"request": "wait", "until_s": 5 * 3600, "reason": "x"},
            {"request": "wait", "until_s": True, "reason": "x"},
            {"request": "wait", "done": False},
            {"request": "notify-user", "action": "yes", "text": "hello"},
            {"request": "notify-user", "action": True},
        ],
    )
    def test_what_is_said_ill(self, said: dict[str, object]) -> None:
        """A known word with wrong fields has a reason that names it; ids can't carry text into a pane."""
        reason = spool.permitted(said, "dev")
        assert reason is not None
        assert reason.startswith(str(said.get("fact") or said.get("request")))

    def test_what_the_user_may_say(self) -> None:
        """The user's spool takes the human's words and the hooks', and not a role's own."""
        assert spool.permitted({"fact": "human.paused", "for_s": 7200}, None) is None
        assert spool.permitted({"fact": "human.resumed"}, None) is None
        assert spool.permitted({"request": "up", "config": {}}, None) is None
        hook = {"request": "hook", "role": "dev", "backend": "claude", "event": "Stop", "boot_s": 5.5, "data": {}}
        assert spool.permitted(hook, None) is None
        assert spool.permitted({"request": "wait", "until_s": 5}, None) is not None


class TestWatcher:
    @pytest.fixture
    def heard(self) -> SimpleQueue[Path]:
        return SimpleQueue()

    @pytest.fixture
    def watcher(self, heard: SimpleQueue[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[spool.Watcher]:
        monkeypatch.setattr(spoolwatch, "SWEEP_S", 0.5)
        watcher = spool.Watcher(heard.put)
        watcher.start()
        yield watcher
        watcher.stop()
        watcher.stop()

    @staticmethod
    def until(heard: SimpleQueue[Path], folder: Path, timeout_s: float = 15.0) -> float:
        """Waits until `folder` is named; how long that took."""
        start = time.monotonic()
        while True:
            if heard.get(timeout=timeout_s) == folder:
                return time.monotonic() - start

    @staticmethod
    def emptied(folder: Path) -> None:
        for item in taken(folder):
            assert isinstance(item, Item)
            spool.done(item)

    def test_a_record_is_heard_of(self, folder: Path, watcher: spool.Watcher, heard: SimpleQueue[Path]) -> None:
        """Each write is said, again and again."""
        watcher.add(folder)
        for _ in range(3):
            spoolfile.write(folder, record())
            self.until(heard, folder)
            self.emptied(folder)

    def test_folders_come_and_go(
        self, tmp_path: Path, folder: Path, watcher: spool.Watcher, heard: SimpleQueue[Path]
    ) -> None:
        """One that is added while others are watched is heard of; one that is removed no longer."""
        other = tmp_path / "spool" / "review"
        spool.make(other)
        watcher.add(folder)
        spoolfile.write(folder, record())
        self.until(heard, folder)
        watcher.add(other)
        spoolfile.write(other, record())
        self.until(heard, other)
        watcher.remove(folder)
        self.emptied(other)
        spoolfile.write(other, record())
        self.until(heard, other)
        while True:
            try:
                heard.get_nowait()
            except Empty:
                break
        spoolfile.write(folder, record())
        spoolfile.write(other, record())
        assert heard.get(timeout=15) == other

    def test_what_lay_there_before_is_heard_of(
        self, folder: Path, watcher: spool.Watcher, heard: SimpleQueue[Path]
    ) -> None:
        """A record that was written while nobody watched is said when the folder is added."""
        spoolfile.write(folder, record())
        watcher.add(folder)
        self.until(heard, folder)

    def test_a_removed_folder_is_watched_again(
        self, folder: Path, watcher: spool.Watcher, heard: SimpleQueue[Path]
    ) -> None:
        """It is said that it is gone; made again, its records are heard of."""
        watcher.add(folder)
        spoolfile.write(folder, record())
        self.until(heard, folder)
        shutil.rmtree(folder)
        self.until(heard, folder)
        taken(folder)
        for _ in range(2):
            spoolfile.write(folder, record())
            self.until(heard, folder)
            self.emptied(folder)

    @pytest.mark.field_case("Silence")
    def test_a_lost_event_is_made_up_for(
        self, folder: Path, heard: SimpleQueue[Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With events that never come, the sweep finds what lies there."""

        def deaf(*_: object, stop_event: threading.Event, rust_timeout: int, **__: object) -> Iterator[set[object]]:
            while not stop_event.wait(rust_timeout / 1000):
                yield set()

        monkeypatch.setattr(spoolwatch, "watch", deaf)
        monkeypatch.setattr(spoolwatch, "SWEEP_S", 0.05)
        watcher = spool.Watcher(heard.put)
        watcher.add(folder)
        watcher.start()
        try:
            spoolfile.write(folder, record())
            self.until(heard, folder)
        finally:
            watcher.stop()

    def test_a_host_that_gives_no_watch(
        self, folder: Path, heard: SimpleQueue[Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """When the host's limit is reached, that is said once and looking goes on."""

        def refused(*_: object, **__: object) -> Iterator[set[object]]:
            raise OSError(28, "OS file watch limit reached")

        monkeypatch.setattr(spoolwatch, "watch", refused)
        monkeypatch.setattr(spoolwatch, "SWEEP_WITHOUT_EVENTS_S", 0.02)
        faults: list[str] = []
        watcher = spool.Watcher(heard.put, faults.append)
        watcher.add(folder)
        watcher.start()
        try:
            for _ in range(5):
                spoolfile.write(folder, record())
                self.until(heard, folder)
            wait_for(lambda: faults)
            assert len(faults) == 1
            assert "limit reached" in faults[0]
        finally:
            watcher.stop()

    def test_it_stops_at_once(self, folder: Path, heard: SimpleQueue[Path]) -> None:
        """Stopping does not wait for the next look."""
        watcher = spool.Watcher(heard.put)
        watcher.add(folder)
        watcher.start()
        spoolfile.write(folder, record())
        self.until(heard, folder)
        start = time.monotonic()
        watcher.stop()
        assert time.monotonic() - start < spoolwatch.SWEEP_S
