"""The URLs of dead-man's switches (`heartbeat:`), pinged while the loop turns: whoever misses the pings outside notices
when the whole machine is gone.

A ping is a plain GET and says nothing of any session. Each is a thread of its own, so that one that hangs delays
neither the loop nor the others. What goes wrong is logged, once until it goes well again: that nobody hears the pings
is what the switch itself tells.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

log = logging.getLogger("mat.pings")

PING_S = 60.0
ANSWER_WITHIN_S = 10.0


def get(url: str) -> None:
    """Ask for `url` and pass over what it answers. Raises `OSError` (no answer, or none that is well), `ValueError`."""
    from http.client import HTTPException
    from urllib.request import Request, urlopen  # In here, with the line above: few sessions have such a URL.

    request = Request(url, headers={"User-Agent": "mat"})  # noqa: S310 - the configuration takes http and https only
    try:
        with urlopen(request, timeout=ANSWER_WITHIN_S):  # noqa: S310
            return
    except HTTPException as error:
        raise OSError(f"no answer in HTTP: {type(error).__name__}") from error


class Pings:
    """Called by the loop's thread. `send` is called on other threads; it raises `OSError` or `ValueError`."""

    def __init__(self, send: Callable[[str], None] = get) -> None:
        self._send = send
        self._last_s: dict[str, float] = {}
        self._flying: set[str] = set()
        self._failing: set[str] = set()

    def look(self, urls: Collection[str], now_s: float) -> None:
        """Ping those whose last ping was PING_S ago and has come back. `now_s`: CLOCK_BOOTTIME."""
        self._last_s = {url: at_s for url, at_s in self._last_s.items() if url in urls}
        for url in urls:
            is_due = now_s - self._last_s.get(url, float("-inf")) >= PING_S
            if is_due and url not in self._flying:
                self._last_s[url] = now_s
                self._flying.add(url)
                threading.Thread(target=self._ping, args=(url,), name="mat-ping", daemon=True).start()

    def _ping(self, url: str) -> None:
        try:
            self._send(url)
        except (OSError, ValueError) as error:
            if url not in self._failing:
                # Its host alone: the rest of it may be a secret.
                log.error("the heartbeat to %s can't be sent: %s", urlsplit(url).hostname, error)  # noqa: TRY400 - expected
            self._failing.add(url)
        else:
            self._failing.discard(url)
        finally:
            self._flying.discard(url)
