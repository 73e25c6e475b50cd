"""One channel's thread: it sends one message after the other, and nobody else waits for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from matcore.engine.channels import Answer, Channel

log = logging.getLogger("mat.notify")

QUEUED = 32
Answered = Callable[["Ask", Answer], None]


@dataclass(slots=True, eq=False)
class Ask:
    """One message for one channel. `abandoned`: its answer is not waited for; it is not sent if it has not been yet."""

    title: str
    body: str
    until_s: float
    abandoned: bool = False


class ChannelLane:
    """The thread lives while there are messages."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._lock = threading.Lock()
        self._asks: list[tuple[Ask, Answered]] = []
        self._running = False
        self._stuck_from_s = float("inf")

    def submit(self, ask: Ask, answered: Answered, now_s: float) -> str | None:
        """Queue it, or say why not: a channel that hangs is not waited for by the next message.

        `answered` is called on the lane's thread, however late.
        """
        with self._lock:
            if now_s >= self._stuck_from_s:
                return "still busy with an earlier message"
            self._asks = [queued for queued in self._asks if not queued[0].abandoned]
            if len(self._asks) >= QUEUED:
                return "too many messages wait for it"
            self._asks.append((ask, answered))
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name=f"mat-notify {self._channel.name}", daemon=True).start()
        return None

    def close(self) -> None:
        """Drop what is queued. A message that is being sent is not waited for."""
        with self._lock:
            self._asks.clear()

    def _run(self) -> None:
        while True:
            with self._lock:
                self._stuck_from_s = float("inf")
                if not self._asks:
                    self._running = False
                    return
                ask, answered = self._asks.pop(0)
                self._stuck_from_s = ask.until_s
            if ask.abandoned:
                continue
            try:
                answer = self._channel.send(ask.title, ask.body)
            except Exception as error:  # noqa: BLE001 - others' code: whatever it raises is its answer
                reason = f"it failed: {type(error).__name__}"  # not its text, which may hold a token
                log.warning("channel %s: %s", self._channel.name, reason)
                answer = Answer(False, reason)
            answered(ask, answer)
