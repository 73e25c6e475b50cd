"""Which ids were ever given: a set that stays small for ids that count.

An id is known for ever (a second `relay.sent` of it must change nothing, no recovery is delivered twice), and a
session may live for a year. `r-000001` … `r-100000` are one run of one family here, not a hundred thousand texts.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

_LONGEST_NUMBER = 18


@dataclass(frozen=True, slots=True)
class Family:
    """Ids of one stem whose number has `width` digits; `runs`: from, to (both in it), in order, not touching."""

    stem: str
    width: int
    runs: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Ids:
    families: tuple[Family, ...] = ()

    def __contains__(self, name: str) -> bool:
        stem, width, number = _split(name)
        family = self._family(stem, width)
        return family is not None and _holds(family.runs, number)

    def plus(self, name: str) -> Ids:
        """The set with this id in it."""
        stem, width, number = _split(name)
        family = self._family(stem, width)
        if family is None:
            return Ids((*self.families, Family(stem, width, ((number, number),))))
        if _holds(family.runs, number):
            return self
        wider = Family(stem, width, _with(family.runs, number))
        return Ids(tuple(wider if each is family else each for each in self.families))

    def _family(self, stem: str, width: int) -> Family | None:
        for family in self.families:
            if family.stem == stem and family.width == width:
                return family
        return None


NO_IDS = Ids()


def _split(name: str) -> tuple[str, int, int]:
    stem = name.rstrip("0123456789")
    width = len(name) - len(stem)
    if not 0 < width <= _LONGEST_NUMBER:
        return name, 0, 0
    return stem, width, int(name[-width:])


def _holds(runs: tuple[tuple[int, int], ...], number: int) -> bool:
    place = bisect_right(runs, (number, number))
    return (place > 0 and runs[place - 1][1] >= number) or (place < len(runs) and runs[place][0] == number)


def _with(runs: tuple[tuple[int, int], ...], number: int) -> tuple[tuple[int, int], ...]:
    place = bisect_right(runs, (number, number))
    first = last = number
    before, after = runs[:place], runs[place:]
    if before and before[-1][1] == number - 1:
        first, before = before[-1][0], before[:-1]
    if after and after[0][0] == number + 1:
        last, after = after[0][1], after[1:]
    return (*before, (first, last), *after)
