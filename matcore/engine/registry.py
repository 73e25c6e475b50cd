"""Which sessions there are: their journals found, opened and put together with clock and driver."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from matcore.engine.book import RULES_VERSION, Book
from matcore.engine.clock import Clock, JournalClock
from matcore.engine.driver import Driver, RoleSpec, SessionSpec
from matcore.engine.drivers import Drivers
from matcore.engine.journal import Journal
from matcore.engine.ledger import Ledger
from matcore.engine.session import Effector, Session
from matcore.errors import MatError
from matcore.places import StatePlaces

log = logging.getLogger("mat.registry")


class Registry:
    """Opens sessions for the loop. One that can't be opened is logged and left alone; the others go on."""

    def __init__(self, places: StatePlaces, effects: Effector, host: Clock, drivers: Drivers) -> None:
        self._places = places
        self._effects = effects
        self._host = host
        self._drivers = drivers

    def journals(self) -> Iterator[Path]:
        """The journals of all sessions, ended and put-aside ones included, in order of name."""
        return iter(sorted(self._places.sessions.glob("*/journal.db")))

    def _create(self, session: str) -> Journal:
        """A new journal; one of an ended session of that name is put aside, under its name and a number.

        One in which nothing was ever written, because the disk was full, say, is no session's, and is begun anew.
        """
        folder = self._places.session(session)
        if folder.exists() and _was_never_begun(self._places.journal(session)):
            shutil.rmtree(folder)
        if folder.exists():
            taken = [path.name.partition("@")[2] for path in self._places.sessions.glob(f"{session}@*")]
            number = 1 + max((int(each) for each in taken if each.isdecimal()), default=0)
            folder.rename(folder.with_name(f"{session}@{number}"))
        folder.mkdir(mode=0o700, parents=True)
        return Journal.create(self._places.journal(session), session=session, rules=RULES_VERSION)

    def found(self, path: Path) -> tuple[str, Session] | None:
        """The driver's key and the session of a journal; None where it is ended, or was never begun.

        Raises `MatError`, and whatever a damaged entry makes of the fold.
        """
        book = Book(Journal.open(path, rules=RULES_VERSION))
        if book.ledger.ended or not book.ledger.opened_at:
            book.close()
            return None
        return self._open(book, book.ledger.config)

    def new(self, session: str, config: Mapping[str, Any]) -> tuple[str, Session]:
        """The driver's key and a session with nothing in its journal. Raises `MatError`, `OSError`."""
        return self._open(Book(self._create(session)), config)

    def _open(self, book: Book, settings: Mapping[str, Any]) -> tuple[str, Session]:
        journal = book.journal
        last = journal.last()
        marks = journal.marks()
        clock = JournalClock(
            self._host,
            marks[-1] if marks else None,
            last_at=last.at if last else None,
            last_wall=last.wall if last else None,
        )
        if clock.is_new:
            journal.add_mark(clock.mark)
        key, driver = self._drivers.of(settings["driver"], settings.get(settings["driver"]) or {})
        return key, Session(book, self._host, clock, driver, self._effects)


def _was_never_begun(path: Path) -> bool:
    try:
        with Journal.read(path) as journal:
            return journal.last_seq == 0
    except (MatError, OSError):  # whatever it is, it is kept
        return False


def adopt(session: Session, driver: Driver) -> None:
    """Let the driver watch what sits in the session's seats."""
    left = session.ledger.left
    seats = {
        role: {**seat.identity, **({"left": left[role]} if role in left else {})}
        for role, seat in session.ledger.seats.items()
    }
    driver.adopt(spec_of(session.ledger), seats, session.ledger.typed)


def spec_of(ledger: Ledger) -> SessionSpec:
    """A session as its driver must know it."""
    places = ledger.places
    roles = tuple(
        RoleSpec(
            name=name,
            backend=role["backend"],
            dir=Path(role.get("dir") or ledger.workdir),
            prompt_file=places.prompts / f"{name}.md",
            permissions=role.get("permissions") or "default",
            args=tuple(role.get("args") or ()),
            env=tuple(role.get("env") or ()),
        )
        for name, role in ledger.config["roles"].items()
    )
    driver = ledger.config["driver"]
    return SessionSpec(
        session=ledger.session,
        workdir=Path(ledger.workdir),
        roles=roles,
        path=ledger.path,
        size=ledger.size,
        options=ledger.config.get(driver) or {},
    )
