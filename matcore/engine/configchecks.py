"""What each value of `duo.yaml` may be. A check returns the value as it is used, or raises ValueError with a sentence.

What a name is checked against (directories, backends, drivers) differs from load to load, while the checks are named
in the types, once; `around` hands it to them for the time of a load.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from matcore.engine.shaped import choice
from matcore.engine.yamltree import quoted
from matcore.errors import BadConfig

RESERVED_NAMES = ("agents", "human")
NAME_CHARACTERS = 32
LONGEST_S = 366 * 86_400.0

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
FRONT_KEY = re.compile(r"[A-Za-z][\w.-]*")
PATH_LIKE = re.compile(r"[A-Za-z0-9_][\w.-]*(?:/[A-Za-z0-9_][\w.-]*)*")
SOCKET = re.compile(r"[A-Za-z0-9_][\w.-]*|/[\w./-]+")
_DURATION = re.compile(
    r"(?:(?P<d>\d{1,6})d)?(?:(?P<h>\d{1,6})h)?(?:(?P<m>\d{1,6})m)?(?:(?P<s>\d{1,9}(?:\.\d{1,6})?)s)?"
)
_SIZE = re.compile(r"(?P<number>\d{1,9})\s*(?P<unit>B|[KMG]i?B)?", re.IGNORECASE)
_UNIT_BYTES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
LEAST_BYTES, MOST_BYTES = 4096, 2**40
_UNIT_S = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}


@dataclass(frozen=True, slots=True)
class Around:
    """What a configuration is checked against."""

    folder: Path
    backends: Collection[str] | None
    drivers: Collection[str]
    checks: Collection[str]


_around: ContextVar[Around] = ContextVar("around")


@contextmanager
def around(what: Around) -> Iterator[None]:
    """Checks inside of this block know `what`."""
    token = _around.set(what)
    try:
        yield
    finally:
        _around.reset(token)


def duration_s(given: str) -> float:
    """Seconds of `90`, `45s`, `10m`, `1h30m`, `2d`, of more than nothing. Raises `BadConfig`."""
    try:
        return positive(float(given) if re.fullmatch(r"\d+(\.\d+)?", given.strip()) else given)
    except ValueError as error:
        wanted = str(error).removeprefix("must be a duration such as ")
        said = str(error) if wanted == str(error) else f"must be written like {wanted}"
        raise BadConfig([f"the duration {said}"]) from error


def seconds(value: object) -> float:
    """A duration, nothing included."""
    if isinstance(value, str):
        total_s = _spelt_out(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        total_s = float(value)
    else:
        raise ValueError('must be a duration such as "10m" or a number of seconds')  # noqa: TRY004 - a fault of the file
    if not 0 <= total_s <= LONGEST_S:
        raise ValueError("must be between 0 seconds and a year")
    return total_s


def _spelt_out(value: str) -> float:
    match = _DURATION.fullmatch(value.replace(" ", "").lower())
    given = {} if match is None else {unit: count for unit, count in match.groupdict().items() if count}
    if not given:
        raise ValueError(f'must be a duration such as "10m", "1h30m" or "45s", not {quoted(value)}')
    return sum(float(count) * _UNIT_S[unit] for unit, count in given.items())


def positive(value: object) -> float:
    """A duration of more than nothing."""
    if (isinstance(value, int | float) and value <= 0) or seconds(value) <= 0:
        raise ValueError("must be more than 0 seconds")
    return seconds(value)


def size(value: object) -> int:
    """Bytes of `8MiB`, `500kB`, `65536`."""
    is_size = isinstance(value, str | int) and not isinstance(value, bool)
    match = _SIZE.fullmatch(str(value).strip()) if is_size else None
    if match is None:
        raise ValueError('must be a size such as "8MiB" or a number of bytes')
    size = int(match["number"]) * _UNIT_BYTES[(match["unit"] or "B").lower()]
    if not LEAST_BYTES <= size <= MOST_BYTES:
        raise ValueError("must be between 4KiB and 1TiB")
    return size


def count(value: object) -> int:
    """A whole number from 1 to a million."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 1_000_000:
        raise ValueError("must be a whole number, 1 or more")
    return value


def name(value: str) -> str:
    """The name of a session or a role."""
    if value in RESERVED_NAMES:
        raise ValueError(f'"{value}" is no name here, for mat uses it itself; choose another')
    if not _NAME.fullmatch(value):
        raise ValueError(
            f"{quoted(value)} is no name: lower-case letters, digits and hyphens, a letter first,"
            f" {NAME_CHARACTERS} at most"
        )
    return value


def matching(pattern: re.Pattern[str], what: str) -> Callable[[str], str]:
    """A check for a whole match of `pattern` without `..` in it; `what` names the value in the fault."""

    def check(value: str) -> str:
        if not pattern.fullmatch(value) or ".." in value:
            raise ValueError(f"{quoted(value)} is no {what}")
        return value

    return check


def one_of(*words: str) -> Callable[[str], str]:
    """A check for one of these words."""

    def check(value: str) -> str:
        if value not in words:
            raise ValueError(f"must be {' or '.join(words)}")
        return value

    return check


def variable(value: str) -> str:
    """The name of an environment variable. The fault never shows the value."""
    if not _VARIABLE.fullmatch(value):  # what stands here instead may be a secret, so it is not shown
        raise ValueError("must be the name of a variable, without its value: the value is taken from your environment")
    return value


def backend(value: str) -> str:
    """An agent program that has a profile."""
    backends = _around.get().backends
    if backends is not None and value not in backends:
        raise ValueError(f"no backend {quoted(value)}; {choice(value, backends)}")
    return matching(PATH_LIKE, "backend")(value)


def driver(value: str) -> str:
    """A driver that is installed."""
    drivers = _around.get().drivers
    if value not in drivers:
        raise ValueError(f"no driver {quoted(value)}; {choice(value, drivers)}")
    return value


def check(value: str) -> str:
    """A handoff check that there is."""
    checks = _around.get().checks
    if value not in checks:
        raise ValueError(f"no check {quoted(value)}; {choice(value, checks)}")
    return value


def folder(value: str) -> str:
    """A directory that is there, relative to the file's; returns its absolute path."""
    try:
        folder = (_around.get().folder / Path(value).expanduser()).resolve()
    except (OSError, RuntimeError) as error:
        raise ValueError(f"{quoted(value)} can't be found") from error
    if not folder.is_dir():
        raise ValueError(f"there is no directory {quoted(str(folder))}; make it, or name another")
    return str(folder)


def url(value: str) -> str:
    """A URL of any scheme."""
    try:
        scheme = urlsplit(value).scheme
    except ValueError:
        scheme = ""
    if "://" not in value or not scheme or not value.isprintable():
        raise ValueError('is no URL such as "ntfy://my-topic"; a program is written {command: [notify-send, mat]}')
    return value


def web_url(value: str) -> str:
    """An http or https URL."""
    if not re.fullmatch(r"https?://[^\s/]\S*", value):
        raise ValueError("must be a URL that begins with https:// or http://")
    return value
