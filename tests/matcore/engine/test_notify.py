"""Telling the human: whatever a channel does, the next is tried, and what became of it is data."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue

import pytest

from matcore.engine import notify
from matcore.engine.channels import Answer
from matcore.engine.notify import Notifier, Told, tell_now
from tests.waiting import wait_for

TOOK = Answer(True, "took it")
REFUSED = Answer(False, "refused")


class FakeChannel:
    """Answers as it is told to, and keeps what it was sent."""

    def __init__(self, name: str, *answers: Answer | Exception, reaches_person: bool = True) -> None:
        self.name = name
        self.reaches_person = reaches_person
        self.sent: list[tuple[str, str]] = []
        self._answers = list(answers) or [TOOK]

    def send(self, title: str, body: str) -> Answer:
        self.sent.append((title, body))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Hanging(FakeChannel):
    """Answers nothing until it is let go."""

    def __init__(self, name: str, answer: Answer = TOOK) -> None:
        super().__init__(name, answer)
        self.let_go = threading.Event()

    def send(self, title: str, body: str) -> Answer:
        answer = super().send(title, body)
        assert self.let_go.wait(60)
        return answer


class Desk:
    """A notifier on a clock that moves when told, and what it reported."""

    def __init__(self, *channels: FakeChannel) -> None:
        self.now_s = 100.0
        self.channels = channels
        self.reports: SimpleQueue[Told] = SimpleQueue()
        self.notifier = Notifier(channels, mono_s=lambda: self.now_s)

    def tell(self, key: str = "k", body: str = "body", *, retry: bool = True) -> bool:
        return self.notifier.tell(key, "title", body, self.reports.put, retry=retry)

    def told(self) -> Told:
        return self.reports.get(timeout=20)

    def advance(self, seconds: float) -> None:
        self.now_s += seconds
        self.notifier.look()

    def close(self) -> None:
        self.notifier.close()
        for channel in self.channels:
            if isinstance(channel, Hanging):
                channel.let_go.set()


@pytest.fixture
def desk() -> Iterator[Callable[..., Desk]]:
    made: list[Desk] = []

    def make(*channels: FakeChannel) -> Desk:
        made.append(Desk(*channels))
        return made[-1]

    yield make
    for one in made:
        one.close()
    wait_for(lambda: not [t for t in threading.enumerate() if t.name.startswith("mat-notify")])


Make = Callable[..., Desk]


class TestInOrder:
    def test_the_first_that_reaches_a_person(self, desk: Make) -> None:
        """The message goes to the first channel; the next is left in peace."""
        first, second = FakeChannel("first"), FakeChannel("second")
        one = desk(first, second)
        assert one.tell()
        assert one.told() == Told(True, "first", (("first", TOOK),))
        assert (first.sent, second.sent) == ([("title", "body")], [])
        assert one.notifier.waiting() == ()

    @pytest.mark.field_case("Notifications")
    def test_the_next_when_one_refuses(self, desk: Make) -> None:
        """A refusal is recorded with its words, and the next channel is tried."""
        one = desk(FakeChannel("first", REFUSED), FakeChannel("second"))
        one.tell()
        assert one.told() == Told(True, "second", (("first", REFUSED), ("second", TOOK)))

    def test_what_reaches_nobody_is_not_enough(self, desk: Make) -> None:
        """A channel that a person need not see took it: the next one is tried all the same."""
        screen, phone = FakeChannel("screen", reaches_person=False), FakeChannel("phone")
        one = desk(screen, phone)
        one.tell()
        assert one.told() == Told(True, "phone", (("screen", TOOK), ("phone", TOOK)))

    def test_a_channel_that_raises_is_an_answer(self, desk: Make) -> None:
        """Whatever a channel throws, the next is tried; its text, which may hold a token, is not repeated."""
        one = desk(FakeChannel("first", RuntimeError("token s3cret")), FakeChannel("second"))
        one.tell()
        told = one.told()
        assert told.by == "second"
        assert told.answers[0] == ("first", Answer(False, "it failed: RuntimeError"))

    def test_no_channel_at_all(self, desk: Make) -> None:
        """Nobody can be told, which is said at once and not tried again."""
        one = desk()
        one.tell()
        told = one.told()
        assert told == Told(False, None, ())
        assert told.said == "no channel is configured"
        wait_for(lambda: one.notifier.waiting() == ())

    def test_what_is_said_of_it(self) -> None:
        """One line for people, whether a channel took it or not."""
        told = Told(False, None, (("ntfy", REFUSED), ("command mail", Answer(False, ""))))
        assert told.said == "ntfy: refused; command mail: refused"


class TestHanging:
    def test_a_channel_that_hangs_is_passed_over(self, desk: Make) -> None:
        """After its time the next is tried, and it is recorded that no answer came."""
        hanging, second = Hanging("hanging"), FakeChannel("second")
        one = desk(hanging, second)
        one.tell()
        wait_for(lambda: hanging.sent)
        one.advance(notify.ANSWER_WITHIN_S)
        told = one.told()
        assert told.by == "second"
        assert told.answers[0] == ("hanging", Answer(False, "no answer within 15 s"))

    def test_the_next_message_does_not_wait_for_it(self, desk: Make) -> None:
        """While a channel hangs, later messages go to the next channel without any delay."""
        hanging, second = Hanging("hanging"), FakeChannel("second")
        one = desk(hanging, second)
        one.tell("a")
        wait_for(lambda: hanging.sent)
        one.advance(notify.ANSWER_WITHIN_S)
        one.told()
        for n in range(5):
            one.tell(f"b{n}")
            told = one.told()
            assert told.by == "second"
            assert told.answers[0][1].said == "still busy with an earlier message"
        assert len(hanging.sent) == 1

    def test_a_message_behind_it_moves_on_in_time(self, desk: Make) -> None:
        """One that waited behind a hanging one has the same bounded time, and is not sent late as well."""
        hanging, second = Hanging("hanging"), FakeChannel("second")
        one = desk(hanging, second)
        one.tell("a")
        wait_for(lambda: hanging.sent)
        one.tell("b")
        one.advance(notify.ANSWER_WITHIN_S)
        assert {one.told().by, one.told().by} == {"second"}
        hanging.let_go.set()
        one.tell("c")
        one.told()
        assert len(hanging.sent) <= 2
        assert len(second.sent) >= 2

    def test_a_late_answer_counts(self, desk: Make) -> None:
        """What a slow channel took after its time was told, and is not told again."""
        slow = Hanging("slow")
        one = desk(slow)
        one.tell()
        wait_for(lambda: slow.sent)
        one.advance(notify.ANSWER_WITHIN_S)
        assert not one.told().ok
        slow.let_go.set()
        assert one.told() == Told(True, "slow", (("slow", TOOK),))
        assert one.notifier.waiting() == ()
        assert not one.tell()

    def test_a_flood_of_messages_is_bounded(self, desk: Make) -> None:
        """What waits for one hanging channel does not grow without end."""
        hanging = Hanging("hanging")
        one = desk(hanging)
        for n in range(200):
            one.tell(f"k{n}", retry=False)
        refused = 0
        for _ in range(100):
            refused += one.told().answers[0][1].said == "too many messages wait for it"
        assert refused == 100
        wait_for(lambda: hanging.sent)
        assert len(hanging.sent) == 1


class TestRetrying:
    def test_until_a_channel_took_it(self, desk: Make) -> None:
        """It is tried again, ever less often; it is reported once that nobody was told, and once that somebody was."""
        channel = FakeChannel("c", REFUSED, REFUSED, REFUSED, TOOK)
        one = desk(channel)
        one.tell()
        assert not one.told().ok
        for tries, wait_s in enumerate((30.0, 60.0, 120.0), start=2):
            wait_for(lambda: one.notifier.waiting()[0].tries == tries - 1)  # noqa: B023 - called before it changes
            one.advance(wait_s - 0.5)
            one.advance(1.0)
            wait_for(lambda: len(channel.sent) == tries)  # noqa: B023
        assert one.told() == Told(True, "c", (("c", TOOK),))
        assert one.reports.empty()

    def test_not_before_its_time(self, desk: Make) -> None:
        """Between two tries a channel is left in peace."""
        channel = FakeChannel("c", REFUSED)
        one = desk(channel)
        one.tell()
        one.told()
        one.tell("other", retry=False)
        one.told()
        one.advance(29.0)
        one.tell("third", retry=False)
        one.told()
        assert len(channel.sent) == 3

    def test_a_withdrawn_cause_is_dropped(self, desk: Make) -> None:
        """When its cause has ended it is not tried again, and it may be told of anew, for nobody was told."""
        channel = FakeChannel("c", REFUSED, TOOK)
        one = desk(channel)
        one.tell()
        one.told()
        one.notifier.withdraw("k")
        one.notifier.withdraw("k")
        assert one.notifier.waiting() == ()
        one.advance(3600.0)
        assert one.tell()
        assert one.told().ok
        assert len(channel.sent) == 2

    def test_an_answer_to_a_withdrawn_one_is_nothing(self, desk: Make) -> None:
        """A late answer neither reports nor marks the message that took its place."""
        slow = Hanging("slow")
        one = desk(slow)
        one.tell()
        wait_for(lambda: slow.sent)
        one.notifier.withdraw("k")
        slow.let_go.set()
        assert one.tell()
        assert one.told().ok
        assert one.reports.empty()

    def test_without_retry_it_is_over(self, desk: Make) -> None:
        """One that its sender tries again itself is forgotten when nobody took it."""
        channel = FakeChannel("c", REFUSED, TOOK)
        one = desk(channel)
        one.tell(retry=False)
        assert not one.told().ok
        wait_for(lambda: one.notifier.waiting() == ())
        assert one.tell(retry=False)
        assert one.told().ok

    def test_what_took_it_already_is_spared(self, desk: Make) -> None:
        """A retry does not repeat the message on a screen that shows it."""
        screen = FakeChannel("screen", reaches_person=False)
        phone = FakeChannel("phone", REFUSED, TOOK)
        one = desk(screen, phone)
        one.tell()
        one.told()
        one.advance(30.0)
        assert one.told().by == "phone"
        assert len(screen.sent) == 1

    def test_what_waits_is_shown(self, desk: Make) -> None:
        """Undelivered messages are listed with their title, since when and how often they were tried."""
        one = desk(FakeChannel("c", REFUSED))
        one.tell("first")
        one.tell("second")
        one.told()
        one.told()
        assert [(w.key, w.title, w.since_s, w.tries) for w in one.notifier.waiting()] == [
            ("first", "title", 100.0, 1),
            ("second", "title", 100.0, 1),
        ]


class TestOnce:
    @pytest.mark.field_case("Notifications")
    def test_one_cause_is_told_of_once(self, desk: Make) -> None:
        """The same key again is refused, while it waits and after it was told."""
        channel = FakeChannel("c")
        one = desk(channel)
        assert one.tell()
        one.told()
        assert not one.tell()
        assert len(channel.sent) == 1
        waiting = desk(FakeChannel("c", REFUSED))
        assert waiting.tell()
        assert not waiting.tell()

    def test_fifty_at_once(self, desk: Make) -> None:
        """Many threads that tell of one cause are one message."""
        channel = FakeChannel("c")
        one = desk(channel)
        threads = [threading.Thread(target=one.tell) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert one.told().ok
        assert len(channel.sent) == 1

    def test_after_closing_nothing_is_told(self, desk: Make) -> None:
        """A closed notifier takes no message, and drops those that wait."""
        one = desk(FakeChannel("c", REFUSED))
        one.tell()
        one.told()
        one.notifier.close()
        assert one.notifier.waiting() == ()
        assert not one.tell("other")

    def test_text_is_made_harmless(self, desk: Make) -> None:
        """Control characters and endless texts don't reach a channel."""
        channel = FakeChannel("c")
        one = desk(channel)
        one.notifier.tell("k", "a\nb\x1b", "x\x1b]0;y\x07\nz\t" + "w" * 9000, one.reports.put)
        one.told()
        ((title, body),) = channel.sent
        assert title == "a b"
        assert body.startswith("x ]0;y \nz\tw")
        assert len(body) <= notify.BODY_CHARACTERS + 1

    def test_a_callback_that_fails_stops_nothing(self, desk: Make, caplog: pytest.LogCaptureFixture) -> None:
        """Our own mistake in a callback is logged, and the next message is delivered."""
        one = desk(FakeChannel("c"))

        def broken(_: Told) -> None:
            raise RuntimeError("mine")

        one.notifier.tell("a", "t", "b", broken)
        wait_for(lambda: "could not be reported" in caplog.text)
        one.tell("b")
        assert one.told().ok


class TestTellNow:
    def test_it_waits_for_the_outcome(self) -> None:
        """One message, told at once, with what became of it."""
        channel = FakeChannel("second")
        told = tell_now([FakeChannel("first", REFUSED), channel], "the supervisor is gone")
        assert told.by == "second"
        assert channel.sent == [("mat", "the supervisor is gone")]

    def test_its_time_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A channel that hangs does not keep the caller."""
        monkeypatch.setattr(notify, "ANSWER_WITHIN_S", 0.05)
        hanging = Hanging("hanging")
        assert not tell_now([hanging], "body").ok
        hanging.let_go.set()

    def test_nobody_to_tell(self) -> None:
        """Without channels the answer is data, too."""
        assert tell_now([], "body") == Told(False, None, ())
