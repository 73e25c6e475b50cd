"""The chain of digests that holds a journal's entries together.

An entry's digest is the SHA-256 of the digest before it and of what it says, as one canonical text. Texts are made by
`json` of the standard library, whose spelling of floats is Python's own and stays the same from version to version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from matcore.errors import OurMistake

COLUMNS = "seq, at, wall, kind, name, source, data, digest"
"""In the order of `Row`."""

Row = tuple[int, float, float, str, str, str | None, str, bytes]
"""An entry as it lies in the file, its data still text."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The first entry that is not as it was written, and how that shows."""

    seq: int
    reason: str


def canonical(data: object) -> str:
    """The one JSON text of `data`: keys sorted, ASCII, floats as `repr` has them, so that they come back unchanged.

    Raises `OurMistake` for what JSON has no word for: the engine journals plain data.
    """
    try:
        return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise OurMistake(f"not to be journalled: {error}") from error


def genesis(session: str) -> bytes:
    """What the first entry of a session is chained to."""
    return hashlib.sha256(f"mat journal 1 {session}".encode()).digest()


def chained(before: bytes, content: tuple[Any, ...]) -> bytes:
    """The digest of an entry (a `Row` without its digest) after the one whose digest is `before`."""
    return hashlib.sha256(before + json.dumps(content, separators=(",", ":")).encode()).digest()


def first_broken(rows: Iterable[Row], seq: int, digest: bytes) -> Broken | None:
    """The first of `rows` that does not continue the entry `seq` with that `digest`."""
    for *content, found in rows:
        seq += 1
        if content[0] != seq:
            return Broken(seq, "it is missing")
        try:
            digest = chained(digest, tuple(content))
        except TypeError:  # a flipped byte changes a column's type, too
            return Broken(seq, "it is not made of text and numbers")
        if found != digest:
            return Broken(seq, "its digest does not match what it says and the entry before it")
    return None
