"""The journal's file: its tables, how a connection to it is made, and the names of what goes wrong with it.

One SQLite file for a session, so that it can be copied as one. WAL, so that anybody reads while the loop writes;
`synchronous=FULL`, so that what was appended is on the disk before anything is done because of it.

Entries are append-only by triggers. `INSERT OR REPLACE` passes delete triggers unless `recursive_triggers` is on,
which is a setting of each connection; the triggers on insert hold whatever another connection has set.

Every error of SQLite is given one of the names below, or passes as it is: then it is a mistake of ours.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from matcore import spoolfile
from matcore.errors import OurMistake, Refused, Unavailable

SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 5.0
CACHE_KIB = 48
"""The writer's page cache: it appends, and reads the newest. SQLite's default is 2 MiB, for each of hundreds."""
STATEMENTS = 4
"""How many stay compiled: for hundreds of journals more would weigh more than compiling them anew costs."""
LITTLE_SPACE_BYTES = 256 * 1024
"""An I/O error with less than this free means that the disk is full: SQLite can't always tell."""

_SCHEMA = """
PRAGMA application_id = 0x6d61746a;
BEGIN;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE boots (boot_id TEXT NOT NULL, boot_s REAL NOT NULL, at REAL NOT NULL, wall REAL NOT NULL);
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    wall REAL NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('fact', 'decision', 'engine')),
    name TEXT NOT NULL,
    data TEXT NOT NULL,
    source TEXT,
    digest BLOB NOT NULL
);
CREATE UNIQUE INDEX entries_source ON entries (source) WHERE source IS NOT NULL;
CREATE INDEX entries_at ON entries (at);
CREATE INDEX entries_wall ON entries (wall);
CREATE INDEX entries_kind ON entries (kind);
CREATE INDEX entries_name ON entries (name);
CREATE TABLE checkpoints (
    seq INTEGER PRIMARY KEY, at REAL NOT NULL, rules TEXT NOT NULL, state BLOB NOT NULL, digest BLOB NOT NULL
);
CREATE TRIGGER entries_are_not_changed BEFORE UPDATE ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_are_not_deleted BEFORE DELETE ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_come_in_order BEFORE INSERT ON entries
    WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries)
    BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_are_taken_up_once BEFORE INSERT ON entries
    WHEN NEW.source IS NOT NULL AND EXISTS (SELECT 1 FROM entries WHERE source = NEW.source)
    BEGIN SELECT RAISE(ABORT, 'source already taken up'); END;
CREATE TRIGGER boots_are_not_changed BEFORE UPDATE ON boots
    BEGIN SELECT RAISE(ABORT, 'boots are append-only'); END;
CREATE TRIGGER boots_are_not_deleted BEFORE DELETE ON boots
    BEGIN SELECT RAISE(ABORT, 'boots are append-only'); END;
"""


class JournalDamaged(Unavailable):
    """The file is no journal any more: torn, or changed by something that is not mat."""


class JournalExists(Refused):
    """There is a journal already where one was to be made."""


class JournalUnusable(Unavailable):
    """It can't be opened, read or written now: missing, read-only, no permission, locked, an I/O error."""


class JournalFull(JournalUnusable, OSError):
    """No space left for an append; nothing of it was written. Free the ballast and append again."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: no space left on the disk for the journal; free some, and mat goes on by itself")
        self.errno = errno.ENOSPC


class DuplicateSource(OurMistake):
    """What was to be appended has been taken up before. Nothing was appended; `has_source` is asked first."""


def damaged(path: Path, what: str) -> JournalDamaged:
    """The error for a file that can't be trusted."""
    return JournalDamaged(
        f"{path} is damaged: {what}. Keep a copy for a report; move it away to start the session with a new journal"
    )


@contextlib.contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Errors of SQLite leave this block with the names of this module."""
    try:
        yield
    except UnicodeDecodeError as error:  # a name in the schema, or an error message that quotes one
        raise damaged(path, "it holds text that is not UTF-8") from error
    except sqlite3.Error as error:
        raise _name(path, error) from error


def _name(path: Path, error: sqlite3.Error) -> Exception:  # noqa: PLR0911 - a table of names, one return each
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if primary == sqlite3.SQLITE_FULL or (primary == sqlite3.SQLITE_IOERR and _little_space(path)):
        return JournalFull(path)
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path, str(error))
    if code is None and "decode" in str(error):  # raised by the module, not by SQLite: text that is no UTF-8
        return damaged(path, "it holds text that is not UTF-8")
    if primary == sqlite3.SQLITE_ERROR and "no such" in str(error):
        return damaged(path, f"{error}, so it is no journal of mat")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return JournalUnusable(f"{path}: another process holds the journal ({error}); is there a second supervisor?")
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
        return JournalUnusable(f"{path}: {error}; look at the permissions of its folder and at the disk")
    if "already taken up" in str(error):
        return DuplicateSource(f"{path}: {error}")
    return error


def _little_space(path: Path) -> bool:
    try:
        free = os.statvfs(path.parent)
    except OSError:
        return False
    return free.f_bavail * free.f_frsize < LITTLE_SPACE_BYTES


def make(path: Path, *, session: str, rules: str) -> None:
    """A new, empty journal at `path` (0600, folders 0700), whole or not at all, whoever dies meanwhile.

    Raises `JournalExists`, `JournalFull`, `JournalUnusable`.
    """
    draft = path.parent / f".{path.name}-{secrets.token_hex(8)}"
    try:
        spoolfile.make_folder(str(path.parent))
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        try:
            _write_schema(draft, session=session, rules=rules)
            os.link(draft, path)
        finally:
            draft.unlink()
        spoolfile.sync_folder(str(path.parent))
    except JournalUnusable:
        raise
    except FileExistsError as error:
        raise JournalExists(f"{path} is there already; nothing was changed") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise JournalFull(path) from error
        raise JournalUnusable(f"{path}: {error.strerror}; the journal could not be made") from error


def _write_schema(draft: Path, *, session: str, rules: str) -> None:
    with named_errors(draft), contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as db:
        db.executescript(_SCHEMA)
        meta = {"schema": str(SCHEMA_VERSION), "rules": rules, "session": session}
        db.executemany("INSERT INTO meta VALUES (?, ?)", list(meta.items()))
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")


def connect_to_write(path: Path) -> sqlite3.Connection:
    """The one writer's connection."""
    with named_errors(path):
        db = _connect(path, "mode=rw")
        try:
            db.execute("PRAGMA journal_mode = WAL").fetchone()
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA recursive_triggers = ON")
            db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            db.execute("PRAGMA shrink_memory")  # what it has taken for a cache of the default's size
            # Found at once instead of at the first append: a folder or file that is read-only.
            db.execute("BEGIN IMMEDIATE")
            db.execute("ROLLBACK")
        except BaseException:
            db.close()
            raise
        return db


def connect_to_read(path: Path) -> tuple[sqlite3.Connection, tempfile.TemporaryDirectory[str] | None]:
    """A connection that can't write, while the writer is at work or in a folder that nothing can be written to.

    With it comes the folder of a copy, where one had to be made, to be cleaned up after the connection.
    """
    if not path.is_file():
        raise JournalUnusable(f"{path}: there is no journal; `mat status` names the sessions that have one")
    db = _try_read(path)
    if db is not None:
        return db, None
    if not _has_wal(path):
        with named_errors(path):
            return _connect(path, "mode=ro&immutable=1"), None
    # `immutable` would leave out what is still in the WAL.
    folder = tempfile.TemporaryDirectory(prefix="mat-journal-")
    copy = Path(folder.name) / path.name
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
    with named_errors(path):
        return _connect(copy, "mode=rw"), folder


def _try_read(path: Path) -> sqlite3.Connection | None:
    """None where SQLite needs a file beside the journal that can't be made."""
    with named_errors(path):
        db = None
        try:
            db = _connect(path, "mode=ro")
            db.execute("SELECT count(*) FROM meta").fetchone()
        except sqlite3.OperationalError as error:
            if db is not None:
                db.close()
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                return None
            raise
        return db


def _has_wal(path: Path) -> bool:
    wal = Path(f"{path}-wal")
    return wal.exists() and wal.stat().st_size > 0


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?{mode}",
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=STATEMENTS,
    )
