"""The reader's side of a spool: what is a record is taken up in order, what is none is set aside and said."""

from __future__ import annotations

import json
import os
import shutil
import socket
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcore import spoolfile
from matcore.engine import spool
from matcore.engine.spool import Item, SetAside

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
