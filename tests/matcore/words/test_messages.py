"""Every injected text: its words, its limits, and that none is sent twice alike."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcore.words import marks
from matcore.words import messages as m

PATH = "/home/u/shop/.mat/shop-duo/handoffs/" + "a" * 64 + ".md"
LONG = "/home/" + "very-long/" * 60 + ".mat/shop-duo/handoffs/" + "a" * 64 + ".md"
MANY = [f"r-{n:06d}" for n in range(1, 65)]

TEXTS = {
    "relay": m.relay(message_id="r-000012", sender="dev", path=PATH, command="send-relay"),
    "relay-fyi": m.relay(message_id="r-000012", sender="dev", path=PATH, command="send-relay", kind="fyi"),
    "relay-says-it-itself": m.relay(
        message_id="r-000012", sender="dev", path=PATH, body="then run `send-relay dev answer.md`", command="send-relay"
    ),
    "relay-long-path": m.relay(message_id="r-000012", sender="dev", path=LONG, command="/opt/mat/bin/send-relay"),
    "redelivery": m.redelivery(
        message_id="r-000012",
        sender="dev",
        path=PATH,
        owed="review",
        since="2026-11-30 02:11:00+0100 (10m)",
        episode=3,
        attempt=41,
        command="/opt/mat/bin/send-relay",
    ),
    "nudge-peer": m.nudge(
        role="dev", owed="review", since="02:11", episode=3, attempt=42, command="send-relay", peers=["review"]
    ),
    "nudge-holder": m.nudge(
        role="dev", owed="dev", since="02:11", episode=3, attempt=43, command="send-relay", peers=["plan", "review"]
    ),
    "nudge-nobody": m.nudge(
        role="dev", owed=None, since="02:11", episode=3, attempt=44, command="send-relay", peers=["review"]
    ),
    "nudge-adhoc": m.nudge(role="solo", owed=None, since="02:11", episode=1, attempt=1, command="send-relay"),
    "final-check": m.final_check(
        rows=[("dev", ["r-000012", "r-000014"]), ("plan", ["r-000013"])], command="send-relay"
    ),
    "final-check-many": m.final_check(rows=[("dev", MANY), ("plan", ["r-000099"])], command="send-relay"),
    "wrapup-completed": m.wrapup(cycle="c1", goal="TASK.md is done and reviewed", outcome="completed"),
    "wrapup-blocked": m.wrapup(cycle="c1", goal=None, outcome="blocked"),
    "recovery": m.recovery(message_id="recovery-review-dev-12", target="dev", seq=12, path=PATH, command="send-relay"),
    "recovery-without-file": m.recovery(
        message_id="recovery-review-dev-12", target="dev", seq=12, path=None, command="send-relay"
    ),
    "human": m.human(message_id="r-000013", body="Please look at\nissue 7 first.\n"),
    "human-long": m.human(message_id="r-000013", body="word " * 400, path=PATH),
    "human-file": m.human(message_id="r-000013", path=PATH),
    "answer": m.answer(message_id="r-000014", question="Postgres or SQLite?", body="SQLite", asked_as="q-0123456789ab"),
    "answer-long": m.answer(
        message_id="r-000014", question="Which? " * 100, body="word " * 400, path=PATH, asked_as="q-0123456789ab"
    ),
    "answer-to-mat": m.answer(
        message_id="r-000014", question="30 rounds; go on?", body="yes", asked_as="rounds-c1-1", by_mat=True
    ),
    "hint": m.hint(
        message_id="r-000012",
        sender="review",
        hint="leap years:\nadd a test",
        path=PATH,
        command="send-relay",
    ),
    "hint-long": m.hint(message_id="r-000012", sender="review", hint="word " * 400, path=PATH, command="send-relay"),
    "hint-file": m.hint(message_id="r-000012", sender="review", hint=None, path=PATH, command="send-relay"),
    "fresh-start": m.fresh_start(
        message_id="r-000012",
        sender="review",
        prompt="Read TASK.md.\nBegin with the parser.",
        path=PATH,
        command="send-relay",
    ),
    "fresh-start-long": m.fresh_start(
        message_id="r-000012", sender="review", prompt="word " * 400, path=PATH, command="send-relay"
    ),
    "fresh-start-file": m.fresh_start(
        message_id="r-000012", sender="review", prompt=None, path=PATH, command="send-relay"
    ),
    "repeat": m.repeat(),
    "first-pointer": m.first_pointer(prompt_path="/home/u/shop/.mat/shop-duo/prompts/dev.md"),
    "pointed": m.pointed(
        prompt_path="/home/u/shop/.mat/shop-duo/prompts/dev.md", text=m.human(message_id="r-000001", body="Work on it.")
    ),
}


def fits(text: str) -> bool:
    """The limits of drivers.md: under 1 KiB, no control characters, nothing that a program runs or looks up."""
    return (
        0 < len(text.encode()) < 1024
        and text[0] not in "!/#@"
        and all(c in "\n\t" or (ord(c) >= 32 and not 0x7F <= ord(c) <= 0x9F) for c in text)
    )


@pytest.mark.parametrize("name", TEXTS)
def test_each_text_is_held_to_its_golden_file(name: str, golden: Callable[[str, str], None]) -> None:
    """No word that an agent reads changes unseen."""
    assert fits(TEXTS[name])
    golden(f"message-{name}", TEXTS[name])


@pytest.mark.parametrize("name", ["redelivery", "nudge-peer", "nudge-holder", "nudge-nobody", "nudge-adhoc"])
def test_what_wakes_says_how_it_ends(name: str) -> None:
    """Each text of the ladder says that reply text reaches nobody, since when, and the acts that end the episode."""
    text = TEXTS[name]
    assert "IDLE RECOVERY" in text
    assert "Final reply text is delivered to nobody" in text
    assert "No handoff since" in text
    for act in ("mat cycle complete", "mat cycle blocked", "mat wait"):
        assert act in text
    assert ("send-relay " in text) is (name != "nudge-adhoc")


def test_a_redelivery_starts_with_its_mark() -> None:
    """A redelivery can't be taken for an echo of the relay that it brings again."""
    assert TEXTS["redelivery"].startswith("[relay r-000012 from dev] [relay-redelivery=idle-recovery] IDLE RECOVERY")
    assert TEXTS["nudge-peer"].startswith("IDLE RECOVERY")


def test_a_redelivery_of_a_human_s_words_names_no_role_human() -> None:
    """`send-relay human` does not exist, so no text asks for it."""
    text = m.redelivery(
        message_id="r-000001",
        sender="human",
        path=PATH,
        owed="dev",
        since="02:11",
        episode=1,
        attempt=1,
        command="send-relay",
    )
    assert "`send-relay FILE`" in text


def test_each_text_holds_its_mark() -> None:
    """A driver knows its own text on the screen by the mark."""
    assert marks.relay(message_id="r-000012") in TEXTS["relay"]
    assert marks.relay(message_id="r-000013") in TEXTS["human"]
    assert marks.relay(message_id="r-000012") in TEXTS["hint"]
    assert marks.relay(message_id="r-000012") in TEXTS["fresh-start"]
    assert marks.relay(message_id="r-000014") in TEXTS["answer"]
    assert marks.nudge(episode=3, attempt=41) in TEXTS["redelivery"]
    assert marks.nudge(episode=3, attempt=42) in TEXTS["nudge-peer"]
    assert marks.final_check() in TEXTS["final-check"]
    assert marks.recovery(message_id="recovery-review-dev-12") in TEXTS["recovery"]
    assert marks.wrapup(outcome="completed") in TEXTS["wrapup-completed"]
    assert marks.wrapup(outcome="blocked") in TEXTS["wrapup-blocked"]


def test_a_delivered_text_tells_its_relay_and_sender() -> None:
    """Who reads the first line of a text learns both; mat's own texts have neither."""
    assert marks.addressed(TEXTS["hint"]) == ("r-000012", "review")
    assert marks.addressed(TEXTS["relay"]) == ("r-000012", "dev")
    assert marks.addressed(TEXTS["nudge-peer"]) == (None, "mat")


def test_the_final_check_names_all_that_fits() -> None:
    """Every id is named while there is room; more targets than fit are counted, never silently dropped."""
    some = m.final_check(rows=[("dev", MANY[:30])], command="send-relay")
    assert all(message in some for message in MANY[:30])
    crowd = m.final_check(rows=[(f"role-{n:02d}", MANY) for n in range(40)], command="send-relay")
    assert fits(crowd)
    assert "more" in crowd


def test_a_message_needs_a_body_or_a_path() -> None:
    """A message without either is a mistake of the caller, not an empty text for the agent."""
    with pytest.raises(ValueError, match="body or a path"):
        m.human(message_id="r-000001")


def test_a_long_message_without_a_file_keeps_its_ends() -> None:
    """A body that does not fit and has no file loses its middle, never its limit."""
    text = m.human(message_id="r-000001", body="begin " + "x" * 3000 + " end")
    assert fits(text)
    assert "begin" in text
    assert text.endswith("end")


ANY = st.text(max_size=1500)
SMALL = st.integers(min_value=0, max_value=10**9)


@given(ANY, ANY, ANY, ANY, ANY, SMALL, SMALL, st.lists(st.tuples(ANY, st.lists(ANY, max_size=70)), max_size=9))
def test_all_texts_fit_whatever_goes_in(
    a: str, b: str, c: str, d: str, command: str, episode: int, attempt: int, rows: list[tuple[str, list[str]]]
) -> None:
    """Whatever names, paths and sentences are, a text is under 1 KiB and holds no key press."""
    texts = [
        m.relay(message_id=a, sender=b, path=c, body=d, command=command),
        m.relay(message_id=a, sender=b, path=c, command=command, kind="fyi"),
        m.redelivery(
            message_id=a, sender=b, path=c, owed=d, since=a, episode=episode, attempt=attempt, command=command
        ),
        m.nudge(role=a, owed=b, since=c, episode=episode, attempt=attempt, command=command, peers=[d]),
        m.nudge(role=a, owed=None, since=c, episode=episode, attempt=attempt, command=command, peers=[a, b]),
        m.final_check(rows=rows, command=command),
        m.wrapup(cycle=a, goal=b, outcome=c),
        m.recovery(message_id=a, target=b, seq=episode, path=c, command=command),
        m.human(message_id=a, body=b),
        m.human(message_id=a, body=b, path=c),
        m.answer(message_id=a, question=b, body=c, path=d, asked_as=d),
        m.answer(message_id=a, question=b, path=d, asked_as=c, by_mat=True),
        m.hint(message_id=a, sender=b, hint=c, path=d, command=command),
        m.fresh_start(message_id=a, sender=b, prompt=c, path=d, command=command),
        m.fresh_start(message_id=a, sender=b, prompt=None, path=d, command=command),
        m.first_pointer(prompt_path=a),
        m.pointed(prompt_path=a, text=m.human(message_id=b, body=c, path=d)),
    ]
    assert [text for text in texts if not fits(text)] == []


@given(SMALL, SMALL, SMALL, SMALL)
def test_no_two_attempts_say_the_same(e1: int, a1: int, e2: int, a2: int) -> None:
    """A nudge and a redelivery differ from every earlier one by their episode or attempt."""

    def both(episode: int, attempt: int) -> set[str]:
        return {
            m.nudge(role="dev", owed="dev", since="x", episode=episode, attempt=attempt, command="s", peers=["b"]),
            m.redelivery(
                message_id="r-000001",
                sender="b",
                path="p",
                owed="dev",
                since="x",
                episode=episode,
                attempt=attempt,
                command="s",
            ),
        }

    assert (both(e1, a1) & both(e2, a2) == set()) is ((e1, a1) != (e2, a2))
