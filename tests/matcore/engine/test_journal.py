"""The journal: what is appended stays, in order, once, and says so when it does not."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcore.engine.chain import canonical, chained, genesis
from matcore.engine.clock import Mark
from matcore.engine.journal import (
    Broken,
    DuplicateSource,
    Journal,
    JournalDamaged,
    JournalExists,
    JournalFull,
    JournalUnusable,
    Kind,
    NewEntry,
)
from matcore.errors import OurMistake, Unavailable
from tests.waiting import wait_for


def fact(at: float, name: str = "role.idle", source: str | None = None, **data: object) -> NewEntry:
    return NewEntry(at=at, wall=at + 1_000.0, kind="fact", name=name, data=data, source=source)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / "shop" / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with Journal.create(path, session="shop", rules="1") as made:
        yield made


def edited(path: Path, *statements: str) -> None:
    """Change a journal as somebody with a tool of their own would: without its triggers."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            db.execute(statement)
        db.commit()


class TestAppending:
    def test_what_was_appended_is_read_back(self, journal: Journal) -> None:
        """Entries come back as they were given, numbered from 1."""
        appended = journal.append([fact(1.0, role="dev"), fact(2.5, "relay.sent", "abc", n=1)])
        assert [(e.seq, e.at, e.wall, e.name, e.source, e.data) for e in appended] == [
            (1, 1.0, 1001.0, "role.idle", None, {"role": "dev"}),
            (2, 2.5, 1002.5, "relay.sent", "abc", {"n": 1}),
        ]
        assert list(journal.entries()) == appended

    def test_the_digest_covers_the_entry_before_it(self, journal: Journal) -> None:
        """Each digest is that of the content chained to the digest before."""
        first, second = journal.append([fact(1.0), fact(2.0)])
        digest = chained(genesis("shop"), (1, 1.0, 1001.0, "fact", "role.idle", None, "{}"))
        assert first.digest == digest.hex()
        assert second.digest == chained(digest, (2, 2.0, 1002.0, "fact", "role.idle", None, "{}")).hex()

    def test_all_or_nothing(self, journal: Journal) -> None:
        """When one entry of an append can't be written, none is, and the next append works."""
        with pytest.raises(OurMistake):
            journal.append([fact(1.0), fact(2.0, bad=object())])
        assert journal.last_seq == 0
        assert journal.append([fact(3.0)])[0].seq == 1

    @pytest.mark.parametrize("value", [math.nan, math.inf, {1, 2}, b"bytes"])
    def test_what_is_no_plain_data_is_a_mistake_of_ours(self, journal: Journal, value: object) -> None:
        """NaN, infinity and objects are refused loudly instead of being journalled as something else."""
        with pytest.raises(OurMistake, match="not to be journalled"):
            journal.append([fact(1.0, value=value)])

    @pytest.mark.field_case("Lost or twice")
    def test_a_source_is_taken_up_once(self, journal: Journal) -> None:
        """A spool record's id is known after its entry, and a second entry of it is refused whole."""
        assert not journal.has_source("abc")
        journal.append([fact(1.0, source="abc")])
        assert journal.has_source("abc")
        with pytest.raises(DuplicateSource):
            journal.append([fact(2.0), fact(3.0, source="abc")])
        assert journal.last_seq == 1

    @given(
        data=st.dictionaries(
            st.text(),
            st.recursive(
                st.none()
                | st.booleans()
                | st.integers()
                | st.floats(allow_nan=False, allow_infinity=False)
                | st.text(),
                lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
                max_leaves=8,
            ),
        )
    )
    def test_any_plain_data_has_one_text_that_reads_back(self, data: dict[str, object]) -> None:
        """Floats, half surrogates, NULs and big numbers survive, and the text of what was read is the same text."""
        text = canonical(data)
        assert json.loads(text) == data
        assert canonical(json.loads(text)) == text
        text.encode("ascii")

    def test_hostile_text_survives_the_file(self, journal: Journal) -> None:
        """Control characters, NUL and half a surrogate pair come back as they went in."""
        said = "\x00\x1b[201~\ud800\u2028 ö \U0001f600"
        journal.append([fact(1.0, said=said)])
        assert next(journal.entries()).data == {"said": said}


class TestAppendOnly:
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE entries SET data = '{}' WHERE seq = 1",
            "DELETE FROM entries WHERE seq = 2",
            "INSERT OR REPLACE INTO entries VALUES (1, 0, 0, 'fact', 'x', '{}', NULL, x'00')",
            "INSERT OR REPLACE INTO entries VALUES (3, 0, 0, 'fact', 'x', '{}', 'abc', x'00')",
            "INSERT INTO entries VALUES (9, 0, 0, 'fact', 'x', '{}', NULL, x'00')",
            "UPDATE boots SET at = 0",
            "DELETE FROM boots",
        ],
    )
    @pytest.mark.parametrize("recursive", ["ON", "OFF"])
    def test_nothing_is_changed_or_taken_out(
        self, journal: Journal, path: Path, statement: str, recursive: str
    ) -> None:
        """No statement changes, removes, replaces or skips an entry, whatever the other connection has set."""
        journal.add_mark(Mark("boot-1", 5.0, 1.0, 1001.0))
        journal.append([fact(1.0, source="abc"), fact(2.0)])
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA recursive_triggers = {recursive}")
            with pytest.raises(sqlite3.IntegrityError):
                db.execute(statement)
        assert journal.verify_chain() is None
        assert journal.last_seq == 2

    def test_only_the_owner_reads_it(self, journal: Journal, path: Path) -> None:
        """Folders are 0700, and the file and what SQLite puts beside it 0600."""
        journal.append([fact(1.0)])
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file

    def test_a_journal_is_made_once(self, journal: Journal, path: Path) -> None:
        """Creating where one is refuses and leaves it, and nothing else, where it was."""
        journal.append([fact(1.0)])
        with pytest.raises(JournalExists, match="nothing was changed"):
            Journal.create(path, session="other")
        assert journal.last_seq == 1
        assert {file.name for file in path.parent.iterdir()} == {"journal.db", "journal.db-wal", "journal.db-shm"}


class TestReading:
    @pytest.fixture
    def full(self, journal: Journal) -> Journal:
        cells: list[tuple[Kind, str]] = [("fact", "role.busy"), ("fact", "role.idle"), ("decision", "nudge")]
        new = []
        for n in range(1, 1501):
            kind, name = cells[n % 3]
            new.append(NewEntry(float(n), 1000.0 + n, kind, name, {"n": n}))
        journal.append(new)
        return journal

    def test_a_span_in_either_direction(self, full: Journal) -> None:
        """`after` and `before` are exclusive, beyond the size of one read, from either end."""
        assert [e.seq for e in full.entries(after=2, before=1400)] == list(range(3, 1400))
        assert [e.seq for e in full.entries(after=2, before=1400, newest_first=True)] == list(range(1399, 2, -1))

    def test_by_name_and_kind(self, full: Journal) -> None:
        """Names and kinds narrow it down and keep the order."""
        both = [e.seq for e in full.entries(names=["nudge", "role.busy"])]
        assert both == [n for n in range(1, 1501) if n % 3 != 1]
        assert [e.seq for e in full.entries(names=["nudge", "role.busy"], kinds=["decision"])] == list(
            range(2, 1501, 3)
        )
        assert [e.seq for e in full.entries(kinds=["decision"], before=9)] == [2, 5, 8]
        assert list(full.entries(names=[])) == []
        assert list(full.entries(kinds=["engine"])) == []

    @pytest.mark.field_case("Load")
    def test_the_tail(self, full: Journal) -> None:
        """The newest, oldest first, of all or of some; fewer where there are fewer."""
        assert [e.seq for e in full.tail(3)] == [1498, 1499, 1500]
        assert [e.seq for e in full.tail(2, names=["nudge"])] == [1496, 1499]
        assert [e.data["n"] for e in full.tail(2, kinds=["decision"])] == [1496, 1499]
        assert len(full.tail(10_000)) == 1500
        assert full.tail(0) == []

    def test_by_time(self, full: Journal) -> None:
        """The entry that was the newest at a time, and the first since a wall time."""
        assert full.seq_at(0.5) == 0
        assert full.seq_at(7.9) == 7
        assert full.seq_at(99999.0) == 1500
        assert full.seq_since(1500.5) == 501
        assert full.seq_since(0.0) == 1
        assert full.seq_since(9e9) is None

    def test_the_calendar_set_back_hides_nothing(self, journal: Journal) -> None:
        """Since a wall time: the earliest entry that may be meant, not the one that the set-back clock suggests."""
        walls = [100.0, 5000.0, 110.0, 120.0]
        journal.append([NewEntry(float(n), wall, "fact", "x", {}) for n, wall in enumerate(walls)])
        assert journal.seq_since(115.0) == 2

    def test_a_reader_follows_a_writer(self, journal: Journal, path: Path) -> None:
        """A reader sees what was appended after it opened, and what is appended while it reads."""
        with Journal.read(path) as reader:
            assert reader.last() is None
            journal.append([fact(float(n)) for n in range(600)])
            stream = reader.entries()
            assert next(stream).seq == 1
            journal.append([fact(601.0)])
            assert sum(1 for _ in stream) == 600
            with pytest.raises(JournalUnusable):
                reader.append([fact(1.0)])

    def test_two_processes_read_while_one_writes(self, journal: Journal, path: Path) -> None:
        """Every reader sees a whole chain at every moment."""
        code = (
            "import sys\nfrom pathlib import Path\nfrom matcore.engine.journal import Journal\n"
            "with Journal.read(Path(sys.argv[1])) as j:\n"
            "    while j.last_seq < 200:\n"
            "        assert j.verify_chain() is None\n"
            "    assert j.verify_chain() is None\n    print(j.last_seq)\n"
        )
        readers = [
            subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        for n in range(200):
            journal.append([fact(float(n), n=n)])
        for reader in readers:
            said, _ = reader.communicate(timeout=60)
            assert (reader.returncode, said) == (0, "200\n")

    def test_it_is_read_where_nothing_can_be_written(self, path: Path) -> None:
        """A copy in a read-only folder is read, with or without what is still in its WAL."""
        with Journal.create(path, session="shop") as writer:
            writer.append([fact(1.0), fact(2.0)])
            copies = path.parent.parent
            for name, suffixes in (("bare", [""]), ("with-wal", ["", "-wal"])):
                (copies / name).mkdir()
                for suffix in suffixes:
                    shutil.copyfile(f"{path}{suffix}", copies / name / f"journal.db{suffix}")
        shutil.copyfile(path, copies / "bare" / "journal.db")
        for name in ("bare", "with-wal"):
            with read_only(copies / name), Journal.read(copies / name / "journal.db") as reader:
                assert reader.session == "shop"
                assert [e.seq for e in reader.entries()] == [1, 2]
                assert reader.verify_chain() is None


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Permissions for a user, a read-only mount for root, whom permissions don't bind."""
    if os.geteuid() != 0:
        folder.chmod(0o500)
        try:
            yield
        finally:
            folder.chmod(0o700)
        return
    if subprocess.run(["mount", "--bind", folder, folder], check=False, capture_output=True).returncode != 0:
        pytest.skip("root, whom permissions don't bind, and no mount is allowed here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


class TestCheckpoints:
    def test_the_newest_state_comes_back(self, journal: Journal) -> None:
        """The newest checkpoint is found, and one before a given entry."""
        journal.append([fact(float(n)) for n in range(10)])
        assert journal.latest_checkpoint() is None
        journal.checkpoint(4, 3.0, b"four")
        journal.checkpoint(9, 8.0, b"nine")
        journal.checkpoint(9, 8.0, b"nine again")
        found = journal.latest_checkpoint()
        assert found is not None
        assert (found.seq, found.at, found.rules, found.state) == (9, 8.0, "1", b"nine again")
        earlier = journal.latest_checkpoint(before=9)
        assert earlier is not None
        assert earlier.state == b"four"

    def test_other_rules_have_other_states(self, journal: Journal, path: Path) -> None:
        """A checkpoint of another version of the rules is not used."""
        journal.append([fact(1.0)])
        journal.checkpoint(1, 1.0, b"old")
        journal.close()
        with Journal.open(path, rules="2") as newer:
            assert newer.rules == "2"
            assert newer.latest_checkpoint() is None
            newer.checkpoint(1, 1.0, b"new")
        with Journal.read(path) as reader:
            assert reader.rules == "2"
            found = reader.latest_checkpoint()
            assert found is not None
            assert found.state == b"new"

    def test_a_damaged_one_is_passed_over(self, journal: Journal, path: Path) -> None:
        """A state that is not as it was kept, or belongs to other entries, gives way to the one before."""
        journal.append([fact(float(n)) for n in range(10)])
        for seq in (2, 5, 8):
            journal.checkpoint(seq, 0.0, b"state %d" % seq)
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("UPDATE checkpoints SET state = x'00' WHERE seq = 8")
            db.commit()
        found = journal.latest_checkpoint()
        assert found is not None
        assert found.seq == 5

    def test_they_stay_few(self, journal: Journal) -> None:
        """However many are kept, the newest ones stay, and of the older ones a few."""
        journal.append([fact(float(n)) for n in range(200)])
        for seq in range(1, 200):
            journal.checkpoint(seq, 0.0, b"x")
        with contextlib.closing(sqlite3.connect(journal.path)) as db:
            assert db.execute("SELECT seq FROM checkpoints ORDER BY seq").fetchall() == [(197,), (198,), (199,)]

    def test_a_state_of_no_entry_is_a_mistake_of_ours(self, journal: Journal) -> None:
        """A checkpoint stands for an entry that is there."""
        with pytest.raises(OurMistake, match="no entry 3"):
            journal.checkpoint(3, 0.0, b"x")


class TestDamage:
    @pytest.fixture
    def written(self, journal: Journal, path: Path) -> Path:
        """A closed journal, all of it in its one file."""
        journal.append([fact(float(n), n=n, text="lorem ipsum" * 5) for n in range(400)])
        journal.close()
        return path

    @pytest.mark.parametrize(
        ("change", "seq"),
        [
            ("UPDATE entries SET data = replace(data, '\"n\":40,', '\"n\":41,') WHERE seq = 41", 41),
            ("UPDATE entries SET at = 40.5 WHERE seq = 41", 41),
            ("DELETE FROM entries WHERE seq = 41", 41),
            ("UPDATE entries SET digest = x'00' WHERE seq = 41", 41),
            ("DELETE FROM entries WHERE seq = 1", 1),
        ],
    )
    def test_a_changed_or_missing_entry_is_found(self, written: Path, change: str, seq: int) -> None:
        """`verify_chain` names the first entry that is not as it was written."""
        edited(written, change)
        with Journal.read(written) as reader:
            broken = reader.verify_chain()
        assert broken is not None
        assert broken.seq == seq
        assert isinstance(broken, Broken)

    def test_a_flipped_byte_of_a_payload_is_found(self, written: Path) -> None:
        """One byte changed in the file, which SQLite's own check passes, is found and named by its entry."""
        raw = written.read_bytes()
        here = raw.index(b'"n":123,') + 5
        written.write_bytes(raw[:here] + b"9" + raw[here + 1 :])
        with contextlib.closing(sqlite3.connect(written)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        with Journal.read(written) as reader:
            broken = reader.verify_chain()
        assert broken is not None
        assert broken.seq == 124

    def test_a_flipped_byte_in_the_newest_entries_is_found_when_opened(self, written: Path) -> None:
        """A writer does not go on behind entries that are not as they were written."""
        raw = written.read_bytes()
        here = raw.index(b'"n":397,') + 5
        written.write_bytes(raw[:here] + b"4" + raw[here + 1 :])
        with pytest.raises(JournalDamaged, match=r"entry 398.*Keep a copy"):
            Journal.open(written)

    @pytest.mark.parametrize("byte", [b"\xff", b"{"])
    def test_an_entry_that_is_no_text_or_no_json_has_a_name(self, written: Path, byte: bytes) -> None:
        """Reading it raises `JournalDamaged`, and `verify_chain` answers instead of raising."""
        raw = written.read_bytes()
        here = raw.index(b'"n":123,')
        written.write_bytes(raw[:here] + byte + raw[here + 1 :])
        with Journal.read(written) as reader:
            with pytest.raises(JournalDamaged):
                list(reader.entries())
            broken = reader.verify_chain()
            assert broken is not None
            assert broken.seq <= 124

    @pytest.mark.parametrize("keep", [0, 10, 100, 4096, 20_000, 60_000])
    def test_a_torn_file_has_a_name(self, written: Path, keep: int) -> None:
        """A file that was cut off anywhere is `JournalDamaged`, an error that says what to do."""
        written.write_bytes(written.read_bytes()[:keep])
        with pytest.raises(Unavailable) as raised:
            Journal.open(written)
        assert isinstance(raised.value, JournalDamaged)
        with pytest.raises(JournalDamaged), Journal.read(written) as reader:
            list(reader.entries())

    def test_every_flipped_byte_is_found_or_harmless(self, written: Path) -> None:
        """Wherever a byte is flipped, what is read is either what was written or an error with a name."""
        raw = written.read_bytes()
        with Journal.read(written) as reader:
            before = [(e.seq, e.data) for e in reader.entries()]
        for here in range(0, len(raw), 997):
            written.write_bytes(raw[:here] + bytes([raw[here] ^ 0xFF]) + raw[here + 1 :])
            with contextlib.suppress(JournalDamaged, JournalUnusable), Journal.read(written) as reader:
                if reader.verify_chain() is None:
                    assert [(e.seq, e.data) for e in reader.entries()] == before, here

    def test_a_torn_wal_ends_at_a_whole_append(self, journal: Journal, path: Path, tmp_path: Path) -> None:
        """What was cut off is gone as a whole append; what is left is a whole chain that goes on."""
        for n in range(20):
            journal.append([fact(float(n)), fact(float(n))])
        copy = tmp_path / "copy.db"
        shutil.copyfile(path, copy)
        wal = Path(f"{path}-wal").read_bytes()
        Path(f"{copy}-wal").write_bytes(wal[: len(wal) - 5000])
        with Journal.open(copy) as torn:
            assert 0 < torn.last_seq < 40
            assert torn.last_seq % 2 == 0
            assert torn.verify_chain() is None
            torn.append([fact(99.0)])
            assert torn.verify_chain() is None

    def test_what_is_no_journal_has_a_name(self, tmp_path: Path) -> None:
        """A text file, another program's database and a missing file are named; nothing is made of them."""
        text = tmp_path / "text.db"
        text.write_text("hello\n" * 300)
        foreign = tmp_path / "foreign.db"
        with contextlib.closing(sqlite3.connect(foreign)) as db:
            db.execute("CREATE TABLE t (a)")
        for opened in (Journal.open, Journal.read):
            with pytest.raises(JournalDamaged):
                opened(text)
            with pytest.raises(JournalDamaged):
                opened(foreign)
            with pytest.raises(JournalUnusable):
                opened(tmp_path / "missing.db")
        assert not (tmp_path / "missing.db").exists()

    def test_a_newer_schema_is_refused(self, written: Path) -> None:
        """A journal of a later mat is not guessed at."""
        edited(written, "UPDATE meta SET value = '99' WHERE key = 'schema'")
        with pytest.raises(JournalUnusable, match="update mat"):
            Journal.open(written)

    @pytest.mark.usefixtures("journal")
    def test_a_second_writer_is_named(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """While another process holds the file, opening for writing says so after a bounded time."""
        monkeypatch.setattr("matcore.engine.journalfile.BUSY_TIMEOUT_S", 0.05)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(JournalUnusable, match="second supervisor"):
                Journal.open(path)


class TestFaults:
    def test_a_read_only_folder_has_a_name(self, path: Path) -> None:
        """Opening for writing where nothing can be written is `JournalUnusable`, at once."""
        Journal.create(path, session="shop").close()
        with read_only(path.parent), pytest.raises(JournalUnusable):
            Journal.open(path)
        with read_only(path.parent), pytest.raises(JournalUnusable):
            Journal.create(path.parent / "other.db", session="shop")

    def test_killed_while_appending(self, path: Path) -> None:
        """After SIGKILL at any moment all that `append` returned for is there, whole appends only, and the chain."""
        code = (
            "import sys\nfrom pathlib import Path\nfrom matcore.engine.journal import Journal, NewEntry\n"
            "path = Path(sys.argv[1])\n"
            "j = Journal.open(path) if path.exists() else Journal.create(path, session='shop')\n"
            "while True:\n"
            "    j.append([NewEntry(1.0, 2.0, 'fact', 'x', {'text': 'y' * 500}) for _ in range(3)])\n"
            "    print(j.last_seq, flush=True)\n"
        )
        reached = 0
        for round_number in range(1, 5):
            child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
            assert child.stdout is not None
            for _ in range(round_number * 7):
                reached = int(child.stdout.readline())
            child.send_signal(signal.SIGKILL)
            rest = child.stdout.read().splitlines()
            child.wait()
            child.stdout.close()
            if rest and rest[-1].isdigit():
                reached = max(reached, int(rest[-1]))
            with Journal.read(path) as reader:
                assert reader.verify_chain() is None
            with Journal.open(path) as journal:
                assert journal.last_seq >= reached
                assert journal.last_seq % 3 == 0
                assert journal.verify_chain() is None

    def test_a_full_disk_has_a_name_and_passes(self, small_disk: Path) -> None:
        """On a full disk `append` raises `JournalFull` and writes nothing; once there is room it goes on."""
        ballast = small_disk / "ballast"
        ballast.write_bytes(b"x" * 256 * 1024)
        with Journal.create(small_disk / "journal.db", session="shop") as journal:
            with pytest.raises(JournalFull) as raised:
                fill(journal, 5_000)
            assert isinstance(raised.value, OSError)
            assert isinstance(raised.value, Unavailable)
            reached = journal.last_seq
            assert reached > 0
            with pytest.raises(JournalFull):
                fill(journal, 50_000)
            ballast.unlink()
            journal.append([NewEntry(1.0, 1.0, "engine", "engine.disk_full", {})])
            assert journal.tail(1)[0].name == "engine.disk_full"
            assert journal.verify_chain() is None
        with Journal.open(small_disk / "journal.db") as again:
            assert again.verify_chain() is None

    def test_a_journal_is_not_half_made_on_a_full_disk(self, small_disk: Path) -> None:
        """Creating on a full disk raises `JournalFull` and leaves nothing behind."""
        filler = small_disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb") as file:
            while True:
                file.write(b"x" * 4096)
        with pytest.raises(JournalFull):
            Journal.create(small_disk / "journal.db", session="shop")
        assert [file.name for file in small_disk.iterdir()] == ["filler"]


class TestBoots:
    def test_what_each_boots_times_are_counted_from(self, journal: Journal, path: Path) -> None:
        """Marks come back in order, exactly as they were added."""
        marks = [Mark("boot-1", 5.25, 1e9 + 0.1, 1e9 + 0.1), Mark("boot-2", 0.1, 1e9 + 50.7, 1e9 + 60.0)]
        for mark in marks:
            journal.add_mark(mark)
        with Journal.read(path) as reader:
            assert reader.marks() == marks


HUNDREDS = """
import sys
from pathlib import Path
import psutil
from matcore.engine.journal import Journal, NewEntry
journals = [Journal.create(Path(sys.argv[1]) / f"{n}" / "journal.db", session="s1") for n in range(10)]
before = psutil.Process().memory_info().rss
for _ in range(8):
    for journal in journals:
        journal.append([NewEntry(1.0, 2.0, "fact", "role.idle", {"text": "y" * 4000}) for _ in range(100)])
print((psutil.Process().memory_info().rss - before) // len(journals))
"""


def test_a_journal_that_is_written_to_keeps_little_in_memory(tmp_path: Path) -> None:
    """One supervisor writes hundreds of them for months: less than half a MiB each, however long they are."""
    argv = [sys.executable, "-c", HUNDREDS, str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 2**19


def fill(journal: Journal, size: int) -> None:
    while True:
        journal.append([fact(1.0, text="y" * size)])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("a small file system can only be mounted by root")
    try:
        yield folder
    finally:
        wait_for(lambda: subprocess.run(["umount", folder], check=False, capture_output=True).returncode == 0)
