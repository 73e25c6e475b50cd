"""What happened, what was decided and what the engine did, in order, for ever.

The loop is the only writer. Everything else reads: the commands, and the loop itself after a restart. Readers take
their rows in short reads one after the other, so that no slow reader keeps SQLite from folding its WAL.

Each entry has the digest of the one before, so that an entry that was changed or taken out is found (`verify_chain`).
A flipped byte in a payload passes SQLite's own integrity check; opening for writing looks at the newest entries.
"""

from __future__ import annotations

import heapq
import itertools
import json
import sqlite3
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self, cast, get_args

from matcore.engine import chain, checkpoints, journalfile
from matcore.engine.chain import Broken
from matcore.engine.checkpoints import Checkpoint
from matcore.engine.clock import Mark
from matcore.engine.journalfile import (
    DuplicateSource,
    JournalDamaged,
    JournalExists,
    JournalFull,
    JournalUnusable,
    named_errors,
)
from matcore.errors import OurMistake

__all__ = [
    "Broken",
    "Checkpoint",
    "DuplicateSource",
    "Entry",
    "Journal",
    "JournalDamaged",
    "JournalExists",
    "JournalFull",
    "JournalUnusable",
    "Kind",
    "NewEntry",
]

Kind = Literal["fact", "decision", "engine"]

LOOKED_AT_ON_OPENING = 128
ROWS_A_READ = 512
_BEYOND_ALL = 2**62


@dataclass(frozen=True, slots=True)
class NewEntry:
    """What is to be appended. `at` and `wall` in seconds; `source` is the id of the spool record it came from."""

    at: float
    wall: float
    kind: Kind
    name: str
    data: dict[str, object]
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as it stands in the journal, `seq` counted from 1 without gaps, `digest` in hex."""

    seq: int
    at: float
    wall: float
    kind: Kind
    name: str
    data: dict[str, object]
    source: str | None
    digest: str


class Journal:
    """One session's journal. Not for two threads at once."""

    def __init__(
        self, path: Path, db: sqlite3.Connection, copied_to: tempfile.TemporaryDirectory[str] | None = None
    ) -> None:
        self.path = path
        self._db = db
        self._copied_to = copied_to

    @classmethod
    def create(cls, path: Path, *, session: str, rules: str = "") -> Self:
        """A new journal, open for writing. Raises `JournalExists`, `JournalFull`, `JournalUnusable`."""
        journalfile.make(path, session=session, rules=rules)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path, *, rules: str | None = None) -> Self:
        """Open for writing; `rules` is the version of the rules that decide from now on. Looks at the newest entries.

        Raises `JournalUnusable`, `JournalDamaged`.
        """
        with ExitStack() as undo:
            journal = cls(path, journalfile.connect_to_write(path))
            undo.callback(journal.close)
            journal._read_meta()
            broken = journal._broken_after(max(0, journal.last_seq - LOOKED_AT_ON_OPENING))
            if broken is not None:
                raise journalfile.damaged(path, f"entry {broken.seq}: {broken.reason}")
            if rules is not None and rules != journal.rules:
                journal._write("UPDATE meta SET value = ? WHERE key = 'rules'", rules)
                journal.rules = rules
            undo.pop_all()
        return journal

    @classmethod
    def read(cls, path: Path) -> Self:
        """Open for reading only, whoever writes meanwhile. Raises `JournalUnusable`, `JournalDamaged`."""
        with ExitStack() as undo:
            journal = cls(path, *journalfile.connect_to_read(path))
            undo.callback(journal.close)
            journal._read_meta()
            undo.pop_all()
        return journal

    def close(self) -> None:
        """May be called again."""
        with named_errors(self.path):
            self._db.close()
        if self._copied_to is not None:
            self._copied_to.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, new: Sequence[NewEntry]) -> list[Entry]:
        """Append all of `new` or nothing; it is on the disk when this returns.

        Raises `JournalFull` (nothing was written; free the ballast and append again), `JournalUnusable`,
        `JournalDamaged`, and as mistakes of ours `DuplicateSource` and what is no plain data.
        """
        with self._transaction():
            seq, digest = self._end()
            entries = []
            for entry in new:
                seq += 1
                data = chain.canonical(entry.data)
                content = (seq, float(entry.at), float(entry.wall), entry.kind, entry.name, entry.source, data)
                digest = chain.chained(digest, content)
                row = (*content, digest)
                self._db.execute(f"INSERT INTO entries ({chain.COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)  # noqa: S608 - our own columns
                entries.append(self._entry(row))
        return entries

    def has_source(self, source: str) -> bool:
        """Whether a spool record of that id has been taken up."""
        return bool(self._rows("SELECT 1 FROM entries WHERE source = ?", source))

    @property
    def last_seq(self) -> int:
        """The newest entry's number, 0 without one."""
        return self._end()[0]

    def entries(
        self,
        *,
        after: int = 0,
        before: int | None = None,
        kinds: Collection[str] | None = None,
        names: Collection[str] | None = None,
        newest_first: bool = False,
    ) -> Iterator[Entry]:
        """The entries with `after < seq < before`, in order, as they are read; those appended meanwhile too.

        Raises `JournalDamaged` at an entry that can't be read. Does not check digests.
        """
        span = _Span(after, _BEYOND_ALL if before is None else before, newest_first)
        if names is not None:
            extra = "" if kinds is None else f" AND kind IN ({', '.join('?' * len(kinds))})"
            streams = [self._stream(span, f"name = ?{extra}", name, *(kinds or ())) for name in sorted(set(names))]
        elif kinds is not None and set(kinds) != set(get_args(Kind)):
            streams = [self._stream(span, "kind = ?", kind) for kind in sorted(set(kinds))]
        else:
            streams = [self._stream(span, "TRUE")]
        return heapq.merge(*streams, key=lambda entry: entry.seq, reverse=newest_first)

    def tail(
        self, count: int, *, kinds: Collection[str] | None = None, names: Collection[str] | None = None
    ) -> list[Entry]:
        """The newest `count` of them, oldest first."""
        newest = self.entries(kinds=kinds, names=names, newest_first=True)
        return list(itertools.islice(newest, count))[::-1]

    def counts(self, names: Collection[str], keys: Sequence[str]) -> dict[tuple[object, ...], int]:
        """How many entries of these names there are, by name and by what their data says under `keys` (None without).

        Counted in the file: nothing of a million entries is carried over.
        """
        values = ", ".join("json_extract(data, '$.' || ?)" for _ in keys)
        marks = ", ".join("?" * len(names))
        columns = f"name, {values}" if keys else "name"
        sql = f"SELECT {columns}, count(*) FROM entries WHERE name IN ({marks}) GROUP BY {', '.join(str(n + 1) for n in range(len(keys) + 1))}"  # noqa: S608, E501 - only marks and numbers are put in
        return {tuple(row[:-1]): row[-1] for row in self._rows(sql, *keys, *names)}

    def last(self) -> Entry | None:
        """The newest entry."""
        return next(self.entries(newest_first=True), None)

    def seq_at(self, at: float) -> int:
        """The newest entry at or before that time of the journal, 0 without one."""
        rows = self._rows("SELECT seq FROM entries WHERE at <= ? ORDER BY at DESC, seq DESC LIMIT 1", at)
        return int(rows[0][0]) if rows else 0

    def seq_since(self, wall: float) -> int | None:
        """The first entry whose wall time is at or after `wall`; where the calendar was set, rather too early."""
        rows = self._rows("SELECT min(seq) FROM entries WHERE wall >= ?", wall)
        return None if rows[0][0] is None else int(rows[0][0])

    def checkpoint(self, seq: int, at: float, state: bytes) -> None:
        """Keep the rules' state after entry `seq`. Raises as `append` does."""
        with self._transaction():
            kept = checkpoints.keep(self._db, Checkpoint(seq, at, self.rules, state))
        if not kept:
            raise OurMistake(f"{self.path}: there is no entry {seq} to keep a state of")

    def latest_checkpoint(self, *, rules: str | None = None, before: int | None = None) -> Checkpoint | None:
        """The newest whole one of the rules' version (this journal's unless said otherwise), with `seq < before`."""
        with named_errors(self.path):
            return checkpoints.newest(
                self._db,
                rules=self.rules if rules is None else rules,
                before=_BEYOND_ALL if before is None else before,
            )

    def marks(self) -> list[Mark]:
        """The mark of each boot, from which its times are counted, oldest first."""
        return [Mark(*row) for row in self._rows("SELECT boot_id, boot_s, at, wall FROM boots ORDER BY rowid")]

    def add_mark(self, mark: Mark) -> None:
        """Add the mark of a boot, before its first entry. Raises as `append` does."""
        self._write("INSERT INTO boots VALUES (?, ?, ?, ?)", mark.boot_id, mark.boot_s, mark.at, mark.wall)

    def verify_chain(self) -> Broken | None:
        """Read every entry and SQLite's own structures. None if all is as it was written. A million take seconds."""
        broken = self._broken_after(0)
        if broken is not None:
            return broken
        try:
            said = self._rows("PRAGMA integrity_check(1)")[0][0]
        except JournalDamaged as error:
            said = str(error)
        return None if said == "ok" else Broken(self.last_seq, said)

    def _read_meta(self) -> None:
        meta = dict(self._rows("SELECT key, value FROM meta"))
        if meta.get("schema") != str(journalfile.SCHEMA_VERSION):
            raise JournalUnusable(f"{self.path} has schema {meta.get('schema')}, which this mat can't read; update mat")
        if not {"session", "rules"} <= meta.keys():
            raise journalfile.damaged(self.path, "it does not say whose journal it is")
        self.session: str = meta["session"]
        self.rules: str = meta["rules"]

    def _broken_after(self, seq: int) -> Broken | None:
        """The first broken entry after `seq`, which is trusted."""
        try:
            digest = self._digest_of(seq)
            while rows := self._raw(_Span(seq, _BEYOND_ALL, newest_first=False), "TRUE"):
                broken = chain.first_broken(rows, seq, digest)
                if broken is not None:
                    return broken
                seq, digest = rows[-1][0], rows[-1][-1]
        except JournalDamaged as error:
            return Broken(seq + 1, str(error))
        return None

    def _stream(self, span: _Span, where: str, *values: object) -> Iterator[Entry]:
        while rows := self._raw(span, where, *values):
            for row in rows:
                yield self._entry(row)
            span = span.beyond(rows[-1][0])

    def _raw(self, span: _Span, where: str, *values: object) -> list[chain.Row]:
        sql = f"SELECT {chain.COLUMNS} FROM entries WHERE {where} AND seq > ? AND seq < ? ORDER BY seq {span.order} LIMIT ?"  # noqa: S608, E501 - our own columns and conditions, the values are bound
        return self._rows(sql, *values, span.after, span.before, ROWS_A_READ)

    def _entry(self, row: chain.Row) -> Entry:
        seq, at, wall, kind, name, source, text, digest = row
        try:
            return Entry(seq, at, wall, cast("Kind", kind), name, json.loads(text), source, digest.hex())
        except (ValueError, TypeError, AttributeError) as error:  # a flipped byte changes a column's type, too
            raise journalfile.damaged(self.path, f"entry {seq} can't be read ({error})") from error

    def _end(self) -> tuple[int, bytes]:
        rows = self._rows("SELECT seq, digest FROM entries ORDER BY seq DESC LIMIT 1")
        return rows[0] if rows else (0, chain.genesis(self.session))

    def _digest_of(self, seq: int) -> bytes:
        if seq == 0:
            return chain.genesis(self.session)
        rows = self._rows("SELECT digest FROM entries WHERE seq = ?", seq)
        if not rows:
            raise journalfile.damaged(self.path, f"entry {seq} is missing")
        return bytes(rows[0][0])

    def _rows(self, sql: str, *values: object) -> list[Any]:
        with named_errors(self.path):
            return self._db.execute(sql, values).fetchall()

    def _write(self, sql: str, *values: object) -> None:
        with self._transaction():
            self._db.execute(sql, values)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with named_errors(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back by itself after some errors (a full disk among them).
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise


@dataclass(frozen=True, slots=True)
class _Span:
    """Which entries are still to be read, and from which end."""

    after: int
    before: int
    newest_first: bool

    @property
    def order(self) -> str:
        return "DESC" if self.newest_first else "ASC"

    def beyond(self, seq: int) -> _Span:
        return replace(self, before=seq) if self.newest_first else replace(self, after=seq)
