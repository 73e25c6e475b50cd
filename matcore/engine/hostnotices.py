"""What the human is told of the host as a whole, where no session's journal can say it: one that can't be read, a state
folder that can't be written. A file remembers what was told, so that a restart announces nothing anew."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from typing import Any

import msgspec

from matcore.engine import wholefile
from matcore.engine.notify import Notifier, Told, channels
from matcore.places import StatePlaces
from matcore.words.notices import notice

log = logging.getLogger("mat.host")


class HostNotices:
    """Tells each cause once until it is `over`."""

    def __init__(self, places: StatePlaces) -> None:
        self._places = places
        self._notifier: Notifier | None = None
        self._told = _read(places)
        self._telling: set[str] = set()

    def tell(self, cause: str, kind: str, entries: Sequence[Any], **facts: object) -> None:
        """Through the channels of `entries`, as a configuration names them."""
        if cause in self._told or cause in self._telling:
            return
        self._telling.add(cause)
        log.error("%s: %s", kind, facts.get("reason", ""))
        if self._notifier is None:
            self._notifier = Notifier(channels(list(entries)))

        def told(answer: Told) -> None:
            if answer.ok:
                self._told.add(cause)
                self._save()

        self._notifier.tell(cause, "mat", notice(kind, **facts), told)

    def over(self, cause: str) -> None:
        """It has ended, and is told anew should it come again."""
        self._telling.discard(cause)
        if cause in self._told:
            self._told.discard(cause)
            self._save()
        if self._notifier is not None:
            self._notifier.withdraw(cause)

    @property
    def waits(self) -> bool:
        """Whether something was told that no channel has taken yet."""
        return self._notifier is not None and bool(self._notifier.waiting())

    def close(self) -> None:
        if self._notifier is not None:
            self._notifier.close()

    def _save(self) -> None:
        with contextlib.suppress(OSError):
            wholefile.write(self._places.told, msgspec.json.encode(sorted(self._told)))


def _read(places: StatePlaces) -> set[str]:
    try:
        return msgspec.json.decode(places.told.read_bytes(), type=set[str])
    except (OSError, msgspec.MsgspecError):
        return set()
