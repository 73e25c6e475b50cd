"""Follows the logs of the turns, for a person: each as a whole, in the order in which they began, as they grow.

`python -m baton.follow [--follow] SESSION TURNS ROLE…`. On a terminal it goes on until Ctrl-C or the end of the
session, which it says; elsewhere it prints the newest turn of each role and ends, unless it is told to follow: a pipe
that never ends is a script that hangs. Control characters of what agents print are left out: this is somebody's
terminal.
"""

from __future__ import annotations

import codecs
import contextlib
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from matcore.engine.journal import Journal
from matcore.errors import MatError
from matcore.places import StatePlaces, state_dir

LOOK_S = 0.2
END_LOOK_S = 1.0
FOLLOW = "--follow"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NAME = re.compile(r"(?P<role>.+)-(?P<turn>\d{6})\.log")


class Follower:
    """`read` returns what is new since the last call. It begins with each role's newest turn."""

    def __init__(self, turns: Path, roles: Sequence[str]) -> None:
        self._turns, self._roles = turns, roles
        self._at: dict[str, tuple[int, int]] = {}
        self._shown: Path | None = None
        self._decoders: dict[Path, codecs.IncrementalDecoder] = {}

    def read(self) -> str:
        return "".join(self._news())

    def _news(self) -> Iterator[str]:
        for path, turn, role in self._logs():
            begun, offset = self._at.get(role, (turn, 0))
            if turn < begun:
                continue
            offset = offset if turn == begun else 0
            with contextlib.suppress(OSError), path.open("rb") as file:
                file.seek(offset)
                data = file.read()
                self._at[role] = (turn, offset + len(data))
                if data:
                    yield self._as_text(path, data)

    def _as_text(self, path: Path, data: bytes) -> str:
        decoder = self._decoders.setdefault(path, codecs.getincrementaldecoder("utf-8")("replace"))
        text = _CONTROL.sub("", decoder.decode(data))
        again = "" if self._shown in (None, path) else f"\n--- {path.stem}\n" if not text.startswith("--- ") else "\n"
        self._shown = path
        return again + text

    def _logs(self) -> list[tuple[Path, int, str]]:
        """Those that are wanted and not over and done with, oldest turn of each role first."""
        found = []
        for path in self._turns.glob("*.log"):
            match = _NAME.fullmatch(path.name)
            if match and match["role"] in self._roles:
                found.append((path, int(match["turn"]), match["role"]))
        newest = {role: turn for _, turn, role in sorted(found, key=lambda each: each[1])}
        first = {role: self._at[role][0] if role in self._at else turn for role, turn in newest.items()}
        return sorted((each for each in found if each[1] >= first[each[2]]), key=lambda each: (each[1], each[2]))


class Ending:
    """Whether a session is over: its journal says so, or another one stands in its place.

    A journal that is not there, or can't be read just now, says nothing.
    """

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._inode = _inode(journal)

    def has_come(self) -> bool:
        inode = _inode(self._journal)
        if self._inode is None or inode is None:
            self._inode = self._inode or inode
            return False
        return inode != self._inode or self._is_down()

    def _is_down(self) -> bool:
        try:
            with Journal.read(self._journal) as journal:
                return bool(journal.tail(1, names=["engine.down"]))
        except (MatError, OSError):
            return False


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def main(argv: Sequence[str]) -> int:
    session, turns, *roles = [word for word in argv if word != FOLLOW]
    follower = Follower(Path(turns), roles)
    goes_on = FOLLOW in argv or sys.stdout.isatty()
    ending = Ending(StatePlaces(state_dir()).journal(session))  # before anything is shown: the session may end then
    try:
        shown = _show(follower)
        if not shown and not goes_on:
            sys.stderr.write("no turn has begun yet\n")
        if goes_on:
            _until_the_end(follower, ending)
            sys.stderr.write(f"{session} has ended; its journal stays: mat log {session}\n")
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    return 0


def _until_the_end(follower: Follower, ending: Ending) -> None:
    """Show what comes. The last look is one after the end, so that nothing of it is lost."""
    ended, asked_s = False, float("-inf")
    while not ended:
        time.sleep(LOOK_S)
        if time.monotonic() - asked_s >= END_LOOK_S:
            ended, asked_s = ending.has_come(), time.monotonic()
        _show(follower)


def _show(follower: Follower) -> bool:
    """Print what is new. Returns whether anything was."""
    text = follower.read()
    sys.stdout.write(text)
    sys.stdout.flush()
    return bool(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
