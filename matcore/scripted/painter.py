"""Frames to the bytes that bring a terminal from the last frame to the next one.

Inline, finished transcript rows are printed once and scroll away into the terminal's history as with real agents; only
the live region is repainted, by moves relative to the cursor. After a resize the terminal has reflowed what was there,
so the visible screen is painted again by absolute rows. No erase from the top left corner: tmux would scroll that into
its history.
"""

from __future__ import annotations

from matcore.scripted.view import Block, Frame, block_rows

BEGIN = "\x1b[?7l\x1b[?2004h"  # no wrapping by the terminal, framed pastes
END = "\x1b[?2004l\x1b[?7h\x1b[?25h"
ALTERNATE, MAIN = "\x1b[?1049h", "\x1b[?1049l"
SHOW, HIDE = "\x1b[?25h", "\x1b[?25l"


class Painter:
    """Keeps what it has painted. `paint` may be called with the same things again and then says nothing."""

    def __init__(self, *, alternate: bool) -> None:
        self._alternate = alternate
        self._size = (0, 0)
        self._blocks = 0
        self._live: list[str] = []
        self._row = 0
        self._cursor: tuple[int, int] | None = (0, 0)
        self._title = ""
        self._resized = alternate

    def begin(self) -> str:
        return (ALTERNATE if self._alternate else "") + BEGIN

    def end(self) -> str:
        """Leaves the terminal as it should be, the cursor below what was painted."""
        down = f"\x1b[{len(self._live) - 1 - self._row}B" if len(self._live) - 1 > self._row else ""
        return f"\x1b]2;\x07{END}" + (MAIN if self._alternate else f"{down}\r\n")

    def paint(self, blocks: list[Block], live: Frame, size: tuple[int, int], title: str) -> str:
        """`size` is columns and rows; `blocks` only grows."""
        out = ""
        if title != self._title:
            self._title = title
            out = f"\x1b]2;{title}\x07"
        if size != self._size:
            self._resized = self._resized or self._size != (0, 0)
            self._size = size
        if self._alternate or self._resized:
            return out + self._whole(blocks, live)
        if len(blocks) > self._blocks:
            return out + self._grown(blocks, live)
        return out + self._changed(live)

    def _whole(self, blocks: list[Block], live: Frame) -> str:
        """Every row at its place. On the alternate screen only those that have changed."""
        width, height = self._size
        above = _last_rows(blocks, width, height - len(live.rows))
        rows = [*above, *live.rows]
        rows += [""] * (height - len(rows))
        before = [] if self._resized else self._live
        out = "".join(
            f"\x1b[{n + 1};1H\x1b[2K{row}" for n, row in enumerate(rows) if n >= len(before) or before[n] != row
        )
        cursor = live.cursor and (live.cursor[0] + len(above), live.cursor[1])
        at = cursor or (len(above) + len(live.rows) - 1, 0)
        if out or cursor != self._cursor:
            out += f"\x1b[{at[0] + 1};{at[1] + 1}H" + (SHOW if cursor else HIDE)
        self._resized = False
        self._blocks = len(blocks)
        if self._alternate:
            self._live, self._row, self._cursor = rows, at[0], cursor
        else:
            self._live, self._row, self._cursor = list(live.rows), at[0] - len(above), live.cursor
        return out

    def _grown(self, blocks: list[Block], live: Frame) -> str:
        """New transcript rows in the place of the live region, which moves below them."""
        fresh = [row for block in blocks[self._blocks :] for row in block_rows(block, self._size[0])]
        self._blocks = len(blocks)
        return self._erased() + "".join(f"\r\x1b[2K{row}\r\n" for row in fresh) + self._written(live)

    def _changed(self, live: Frame) -> str:
        if len(live.rows) != len(self._live):
            return self._erased() + self._written(live)
        out = ""
        for n, row in enumerate(live.rows):
            if row != self._live[n]:
                out += f"{self._to_row(n)}\r\x1b[2K{row}"
        self._live = list(live.rows)
        return out + self._to_cursor(live) if out or live.cursor != self._cursor else ""

    def _erased(self) -> str:
        """The live region cleared row by row, the cursor at its top."""
        out = self._to_row(0)
        for n in range(len(self._live)):
            out += ("\x1b[B" if n else "") + "\r\x1b[2K"
            self._row = n
        return out + self._to_row(0)

    def _written(self, live: Frame) -> str:
        self._live = list(live.rows)
        self._row = len(live.rows) - 1
        return "\r\n".join(f"\r\x1b[2K{row}" for row in live.rows) + self._to_cursor(live)

    def _to_cursor(self, live: Frame) -> str:
        self._cursor = live.cursor
        row, column = live.cursor or (len(live.rows) - 1, 0)
        right = f"\x1b[{column}C" if column else ""
        return f"{self._to_row(row)}\r{right}{SHOW if live.cursor else HIDE}"

    def _to_row(self, row: int) -> str:
        by = row - self._row
        self._row = row
        return "" if by == 0 else f"\x1b[{by}B" if by > 0 else f"\x1b[{-by}A"


def _last_rows(blocks: list[Block], width: int, most: int) -> list[str]:
    """The end of the transcript, as much as there is room for."""
    rows: list[str] = []
    for block in reversed(blocks):
        if len(rows) >= most:
            break
        rows = block_rows(block, width) + rows
    return rows[len(rows) - most :] if len(rows) > most else rows
