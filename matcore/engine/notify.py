"""Tells the human, until a channel that reaches a person took it or there is no reason any more.

Each channel has a lane of its own: a channel that hangs, fails or floods delays neither the others nor the next
message to them. A message goes from channel to channel in the configured order, with a bounded time for each; when
none took it, all are tried again later, ever less often. What becomes of a message is data (`Told`), never an
exception. Threads live while there is something to do.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from matcore.engine.channellane import Ask, ChannelLane
from matcore.engine.channels import Answer, Channel, CommandChannel, channels

__all__ = ["Answer", "Channel", "CommandChannel", "Notifier", "Told", "Waiting", "channels", "tell_now"]

log = logging.getLogger("mat.notify")

ANSWER_WITHIN_S = 15.0
FIRST_RETRY_S = 30.0
LAST_RETRY_S = 1800.0
BODY_CHARACTERS = 4000
KEYS_KEPT = 10_000

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a message: `by` names the channel that took it, `answers` what each channel tried said last."""

    ok: bool
    by: str | None
    answers: tuple[tuple[str, Answer], ...]

    @property
    def said(self) -> str:
        """For people, in a line."""
        if not self.answers:
            return "no channel is configured"
        return "; ".join(
            f"{name}: {answer.said or ('took it' if answer.ok else 'refused')}" for name, answer in self.answers
        )


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message that no person has got yet."""

    key: str
    title: str
    since_s: float
    tries: int


@dataclass(slots=True, eq=False)
class _Notice:
    key: str
    title: str
    body: str
    told: Callable[[Told], None]
    retry: bool
    since_s: float
    left: list[int]
    answers: dict[int, Answer] = field(default_factory=dict)
    took: set[int] = field(default_factory=set)
    ask: Ask | None = None
    asked: int = 0
    again_s: float | None = None
    tries: int = 0


class Notifier:
    """The channels of one configuration. `mono_s` is the clock of deadlines and retries.

    `told` callbacks run on a thread of the notifier and should do no more than enqueue.
    """

    def __init__(self, channels: Sequence[Channel], *, mono_s: Callable[[], float] = time.monotonic) -> None:
        self._channels = tuple(channels)
        self._mono_s = mono_s
        self._changed = threading.Condition()
        self._notices: dict[str, _Notice] = {}
        self._told_of: dict[str, None] = {}
        self._lanes = [ChannelLane(channel) for channel in self._channels]
        self._thread: threading.Thread | None = None
        self._closed = False

    def tell(
        self, key: str, title: str, body: str, told: Callable[[Told], None] = lambda _: None, *, retry: bool = True
    ) -> bool:
        """Have the message of that cause delivered. Returns at once; False, and nothing is done, if it was told before.

        `told` is called when no channel took it at the first try, and when one took it, then or later.
        """
        with self._changed:
            if self._closed or key in self._notices or key in self._told_of:
                return False
            text = _CONTROLS.sub(" ", body)
            self._notices[key] = _Notice(
                key,
                " ".join(_CONTROLS.sub(" ", title).split()),
                text if len(text) <= BODY_CHARACTERS else f"{text[:BODY_CHARACTERS]}…",
                told,
                retry,
                self._mono_s(),
                left=list(range(len(self._channels))),
            )
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="mat-notify", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return True

    def withdraw(self, key: str) -> None:
        """Its cause has ended: it is not tried again. The same cause may be told of anew if nobody was told."""
        with self._changed:
            notice = self._notices.pop(key, None)
            if notice is not None and notice.ask is not None:
                notice.ask.abandoned = True
            self._changed.notify_all()

    def waiting(self) -> tuple[Waiting, ...]:
        """What no person has got yet, oldest first."""
        with self._changed:
            return tuple(Waiting(n.key, n.title, n.since_s, n.tries) for n in self._notices.values())

    def look(self) -> None:
        """Look at the clock now (it was moved, or the machine slept)."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Try nothing any more. Does not wait for a channel that hangs."""
        with self._changed:
            self._closed = True
            self._notices.clear()
            self._changed.notify_all()
        for lane in self._lanes:
            lane.close()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._notices:
                    self._thread = None
                    return
                reports = [report for notice in list(self._notices.values()) for report in self._advance(notice)]
                if not reports:
                    self._changed.wait(self._due_in_s())
            for notice, told in reports:
                _report(notice, told)

    def _due_in_s(self) -> float | None:
        times = [n.ask.until_s if n.ask is not None else n.again_s for n in self._notices.values()]
        due = [at_s for at_s in times if at_s is not None]
        return max(0.0, min(due) - self._mono_s()) if due else None

    def _advance(self, notice: _Notice) -> list[tuple[_Notice, Told]]:
        """Do everything that can be done for a message now. Returns what is to be reported."""
        now_s = self._mono_s()
        while notice.key in self._notices:
            if notice.ask is not None:
                if now_s < notice.ask.until_s:
                    return []
                notice.ask.abandoned = True
                notice.answers[notice.asked] = Answer(False, f"no answer within {ANSWER_WITHIN_S:g} s")
                notice.ask = None
            elif notice.again_s is not None:
                if now_s < notice.again_s:
                    return []
                notice.again_s = None
                notice.left = [n for n in range(len(self._channels)) if n not in notice.took]
            elif notice.left:
                self._ask(notice, notice.left.pop(0), now_s)
            else:
                return self._nobody(notice, now_s)
        return []

    def _ask(self, notice: _Notice, channel: int, now_s: float) -> None:
        ask = Ask(notice.title, notice.body, now_s + ANSWER_WITHIN_S)
        answered = partial(self._answered, notice, channel)
        refusal = self._lanes[channel].submit(ask, answered, now_s)
        if refusal is not None:
            notice.answers[channel] = Answer(False, refusal)
        else:
            notice.ask, notice.asked = ask, channel

    def _nobody(self, notice: _Notice, now_s: float) -> list[tuple[_Notice, Told]]:
        """No channel that reaches a person took it this time."""
        notice.tries += 1
        if notice.retry and self._channels:
            notice.again_s = now_s + min(LAST_RETRY_S, FIRST_RETRY_S * 2 ** min(notice.tries - 1, 20))
        else:
            del self._notices[notice.key]
        return [(notice, self._summary(notice, None))] if notice.tries == 1 else []

    def _answered(self, notice: _Notice, channel: int, ask: Ask, answer: Answer) -> None:
        """On the channel's lane. A late answer counts, too: what was taken was taken."""
        report = None
        with self._changed:
            if self._notices.get(notice.key) is not notice:
                return
            if notice.ask is ask:
                notice.ask = None
            notice.answers[channel] = answer
            if answer.ok:
                notice.took.add(channel)
            if answer.ok and self._channels[channel].reaches_person:
                del self._notices[notice.key]
                self._remember(notice.key)
                report = self._summary(notice, self._channels[channel].name)
            self._changed.notify_all()
        if report is not None:
            _report(notice, report)

    def _remember(self, key: str) -> None:
        self._told_of[key] = None
        if len(self._told_of) > KEYS_KEPT:
            del self._told_of[next(iter(self._told_of))]

    def _summary(self, notice: _Notice, by: str | None) -> Told:
        answers = tuple((self._channels[n].name, answer) for n, answer in sorted(notice.answers.items()))
        return Told(by is not None, by, answers)


def _report(notice: _Notice, told: Told) -> None:
    try:
        notice.told(told)
    except Exception:
        log.exception("the outcome of the notification %s could not be reported", notice.key)


def tell_now(channels: Sequence[Channel], body: str, title: str = "mat") -> Told:
    """Tell once and wait for what becomes of it, for as long as the channels have time to answer."""
    done: list[Told] = []
    answered = threading.Event()

    def told(what: Told) -> None:
        done.append(what)
        answered.set()

    notifier = Notifier(channels)
    notifier.tell("now", title, body, told, retry=False)
    answered.wait(ANSWER_WITHIN_S * (len(channels) + 1))
    notifier.close()
    return done[0] if done else Told(False, None, ())
