"""Mailboxes: pending, claimed, done, by rename; in order of sending; whatever lies in them does no harm."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from baton import envelope, mailbox, retention
from baton.envelope import Envelope, EnvelopeError, decode
from baton.mailbox import Claim, Mailbox
from matcore.places import SessionPlaces

BY_HAND = {"schema": "baton.message/v1", "message_id": "m-1", "from": "review", "to": "dev", "body": "Please look."}


@pytest.fixture
def box(tmp_path: Path) -> Mailbox:
    made = Mailbox(SessionPlaces(tmp_path), "dev")
    made.make()
    return made


def letter(body: str = "text", message: str = "r-000001") -> Envelope:
    return envelope.deliver(message_id=message, sender="review", to="dev", body=body, cycle="c1")


def taken(box: Mailbox) -> list[Claim]:
    """All that can be claimed, each finished."""
    claims = []
    while (claim := box.claim()) is not None:
        claims.append(claim)
        box.finish(claim)
    return claims


def names(box: Mailbox, part: str) -> list[str]:
    return sorted(path.name for path in (box.inbox / part).iterdir())


def reasons(box: Mailbox) -> list[str]:
    return [path.read_text(encoding="utf-8").strip() for path in sorted((box.inbox / "aside").glob("*.reason"))]


def test_a_message_goes_from_pending_to_claimed_to_done(box: Mailbox) -> None:
    """Each step moves the one file; nothing is left behind it."""
    name = box.put(letter())
    assert (names(box, "pending"), names(box, "tmp")) == ([name], [])
    claim = box.claim()
    assert claim is not None
    assert (claim.ours, claim.again, claim.envelope.body) == (True, False, "text")
    assert (names(box, "pending"), names(box, "claimed")) == ([], [name])
    box.finish(claim)
    box.finish(claim)
    assert (names(box, "claimed"), names(box, "done")) == ([], [name])
    assert (box.inbox / "done" / name).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("back_s", [60, 3600, 40 * 86_400])
def test_the_order_of_sending_is_kept_when_the_clock_goes_back(
    box: Mailbox, monkeypatch: pytest.MonkeyPatch, back_s: int
) -> None:
    """Twenty in a row, the clock a minute, an hour or weeks back after each: they are claimed as they were sent."""
    now = time.time_ns()
    for number in range(20):
        monkeypatch.setattr(time, "time_ns", lambda n=number: now - n * back_s * 10**9)
        box.put(letter(str(number)))
    monkeypatch.undo()
    assert [claim.envelope.body for claim in taken(box)] == [str(number) for number in range(20)]


def test_a_name_in_the_future_that_is_not_ours_counts_for_nothing(box: Mailbox) -> None:
    """By hand, or with a text of another delivery: the next delivery is named by the clock."""
    ours = letter()
    for hour, (name, content) in enumerate(
        [("mine.json", BY_HAND), (f"{'a' * 32}.json", ours.data), (f"{ours.delivery}.json", BY_HAND)]
    ):
        at_ns = time.time_ns() + (hour + 1) * 3600 * 10**9
        (box.inbox / "pending" / f"{at_ns:020d}-{name}").write_text(json.dumps(content), encoding="utf-8")
    (box.inbox / "pending" / f"{time.time_ns() + 10**15:020d}-{ours.delivery}.json").mkdir()
    assert int(box.put(letter())[:20]) <= time.time_ns()


def test_a_forged_name_in_the_future_holds_ours_no_longer_than_it_waits(box: Mailbox) -> None:
    """A copy of one of ours under a later time: ours come after it, and none is lost in the far future."""
    first = letter("first")
    for far in ("80000000000000000000", "99999999999999999999"):
        (box.inbox / "pending" / f"{far}-{first.delivery}.json").write_bytes(first.encode())
    for number in range(3):
        box.put(letter(str(number)))
    claims = taken(box)
    assert [claim.envelope.body for claim in claims] == ["first", "0", "1", "2"]
    assert all(claim.ours for claim in claims)
    assert int(box.put(letter())[:20]) <= time.time_ns()


def test_fields_that_are_not_ours_survive(box: Mailbox) -> None:
    """What another tool wrote into an envelope is still there when it is done."""
    sent = letter()
    sent = decode(json.dumps({**sent.data, "x-other": {"deep": [1, 2]}, "ttl": 7}).encode())
    name = box.put(sent)
    (claim,) = taken(box)
    assert claim.envelope.data["x-other"] == {"deep": [1, 2]}
    kept = json.loads((box.inbox / "done" / name).read_text())
    assert (kept["x-other"], kept["ttl"], kept["from"]) == ({"deep": [1, 2]}, 7, "review")


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed: apt-get install jq")
def test_an_envelope_of_ours_is_read_back_with_jq(box: Mailbox) -> None:
    """Each field of the protocol, by the tool that everybody has."""
    name = box.put(letter("two\nlines"))
    program = '[.schema, .message_id, .conversation_id, .from, .to, .kind, .body, (.ts_ms|type)] | join("|")'
    done = subprocess.run(
        ["jq", "-r", program, box.inbox / "pending" / name], capture_output=True, text=True, check=True
    )
    assert done.stdout == "baton.message/v1|r-000001|c1|review|dev|request|two\nlines|number\n"


@pytest.mark.parametrize(
    "name", ["hello.json", "zz\nz", "..x", "\udcff\udcfe", "a" * 200, "-rf", "00000000000000000001-x"]
)
def test_a_message_by_hand_may_have_any_name(box: Mailbox, name: str) -> None:
    """It is claimed under a name of ours, and is never taken for one of mat's."""
    (box.inbox / "pending" / name).write_text(json.dumps(BY_HAND), encoding="utf-8")
    if name.startswith("."):
        assert taken(box) == [], "hidden names are nobody's"
        return
    (claim,) = taken(box)
    assert not claim.ours
    assert claim.envelope.body == "Please look."
    (done,) = names(box, "done")
    assert "-by-hand-" in done


def test_a_message_by_hand_waits_its_turn(box: Mailbox) -> None:
    """Its age is its place in the line, whatever it is called."""
    box.put(letter("first"))
    by_hand = box.inbox / "pending" / "aaa.json"
    by_hand.write_text(json.dumps({**BY_HAND, "body": "second"}), encoding="utf-8")
    now_ns = time.time_ns()
    os.utime(by_hand, ns=(now_ns, now_ns))  # the kernel's own stamps are some milliseconds coarse
    box.put(letter("third"))
    assert [claim.envelope.body for claim in taken(box)] == ["first", "second", "third"]


def test_a_copy_of_ours_is_somebodys_own_word_or_nothing(box: Mailbox) -> None:
    """The same file once more is done already; the same content under another name is not ours."""
    name = box.put(letter("once"))
    (first,) = taken(box)
    shutil.copy(box.inbox / "done" / name, box.inbox / "pending" / name)
    assert taken(box) == []
    shutil.copy(box.inbox / "done" / name, box.inbox / "pending" / "copy.json")
    (copy,) = taken(box)
    assert (first.ours, copy.ours) == (True, False)


def test_a_copy_of_another_roles_message_is_somebodys_own_word(box: Mailbox) -> None:
    """Under the very name that it had there: mat delivered it to that role and not to this one."""
    other = Mailbox(SessionPlaces(box.root.parents[1]), "review")
    name = other.put(envelope.deliver(message_id="r-000001", sender="dev", to="review", body="Review it.", cycle="c1"))
    (theirs,) = taken(other)
    shutil.copy(other.inbox / "done" / name, box.inbox / "pending" / name)
    (copy,) = taken(box)
    assert (theirs.ours, copy.ours) == (True, False)


@pytest.mark.parametrize("fresh", [False, True])
def test_the_same_message_by_hand_is_taken_once(box: Mailbox, fresh: bool) -> None:
    """By its id, also by the next worker; a message of another id is another message."""
    for name, message in (("a", "m-1"), ("b", "m-1"), ("c", "m-2")):
        (box.inbox / "pending" / name).write_text(json.dumps({**BY_HAND, "message_id": message}), encoding="utf-8")
        assert len(taken(Mailbox(SessionPlaces(box.root.parents[1]), "dev") if fresh else box)) == (name != "b")


def _directory(path: Path) -> None:
    path.mkdir()


def _link(path: Path) -> None:
    target = path.parents[2] / "target.json"
    target.write_text(json.dumps(BY_HAND), encoding="utf-8")
    path.symlink_to(target)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _large(path: Path) -> None:
    path.write_text(json.dumps({**BY_HAND, "body": "x" * (9 * 1024 * 1024)}), encoding="utf-8")


def _foreign(path: Path) -> None:
    path.write_text(json.dumps(BY_HAND), encoding="utf-8")
    os.chown(path, 12345, -1)


def _text(content: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(content, encoding="utf-8", errors="surrogateescape")

    return write


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_directory, "no regular file"),
        (_link, "no regular file"),
        (_pipe, "no regular file"),
        (_large, "more than"),
        pytest.param(
            _foreign, "another user", marks=pytest.mark.skipif(os.getuid() != 0, reason="only root gives a file away")
        ),
        (_text(""), "no baton.message/v1"),
        (_text('{"schema": "baton.mess'), "no baton.message/v1"),
        (_text("[1]"), "no baton.message/v1"),
        (_text("\udcff\udcfe"), "no baton.message/v1"),
        (_text("[" * 100_000), "no baton.message/v1"),
        (_text(json.dumps({**BY_HAND, "schema": "other/v9"})), "its schema is 'other/v9'"),
        (_text(json.dumps({**BY_HAND, "body": " \n"})), "is empty"),
        (_text(json.dumps({**BY_HAND, "body": 7})), "no baton.message/v1"),
    ],
)
def test_what_is_no_message_is_set_aside_with_its_reason(
    box: Mailbox, make: Callable[[Path], None], reason: str
) -> None:
    """And delays nobody: the message behind it is claimed at once."""
    make(box.inbox / "pending" / "0000-bad.json")
    box.put(letter("good"))
    assert [claim.envelope.body for claim in taken(box)] == ["good"]
    (said,) = reasons(box)
    assert reason in said
    assert names(box, "pending") == []


def test_a_claim_of_a_dead_worker_is_found_as_such(box: Mailbox) -> None:
    """What had been claimed and not done is abandoned, oldest first."""
    for body in ("one", "two"):
        box.put(letter(body))
        box.claim()
    found = Mailbox(SessionPlaces(box.root.parents[1]), "dev").abandoned()
    assert [(claim.envelope.body, claim.again) for claim in found] == [("one", True), ("two", True)]


def test_a_delivery_is_withdrawn_only_while_it_is_pending(box: Mailbox) -> None:
    """Claimed is claimed."""
    first, second = box.put(letter()), box.put(letter())
    assert box.withdraw(second)
    assert box.claim() is not None
    assert not box.withdraw(first)
    assert box.claim() is None


@pytest.mark.field_case("Lost or twice")
def test_a_delivery_that_is_refused_is_not_there(box: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fails after the rename: what is sent once more later must not be taken twice."""

    def fails(_folder: str) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(mailbox, "sync_folder", fails)
    with pytest.raises(OSError, match="Input/output"):
        box.put(letter())
    assert names(box, "pending") == []


def left(box: Mailbox, part: str, name: str, *, days: float, mib: int = 0) -> None:
    """A file of that age and size; on disk it takes no room."""
    path = box.inbox / part / name
    path.touch()
    os.truncate(path, mib * 1024 * 1024)
    at_s = time.time() - days * 86_400
    os.utime(path, (at_s, at_s))


def test_what_is_over_is_kept_for_a_week(box: Mailbox) -> None:
    """Done and set aside alike, with its reason; what waits or is worked on stays, however old."""
    for part in ("done", "aside", "pending", "claimed"):
        left(box, part, "99999999999999999999", days=7.1)
        left(box, part, "00000000000000000001", days=6.9)
    for name, days in (("99999999999999999999", 7.1), ("00000000000000000001", 6.9)):
        left(box, "aside", f"{name}.reason", days=days)
    box.tidy()
    assert names(box, "done") == ["00000000000000000001"]
    assert names(box, "aside") == ["00000000000000000001", "00000000000000000001.reason"]
    assert (len(names(box, "pending")), len(names(box, "claimed"))) == (2, 2)


def test_of_what_is_over_the_newest_are_kept_that_have_room(box: Mailbox) -> None:
    """256 MiB for `done` and `aside` together; the oldest go first, wherever they are."""
    for part, name, days in (("done", "a", 1), ("aside", "b", 2), ("done", "c", 3), ("aside", "d", 4)):
        left(box, part, name, days=days, mib=100)
    left(box, "aside", "d.reason", days=4)
    left(box, "done", "e", days=5)
    left(box, "claimed", "f", days=6, mib=300)
    box.tidy()
    assert (names(box, "done"), names(box, "aside"), names(box, "claimed")) == (["a"], ["b"], ["f"])


def test_one_that_is_too_large_by_itself_costs_no_other_its_place(box: Mailbox) -> None:
    """It goes alone, be it a file or a folder."""
    (box.inbox / "aside" / "folder").mkdir()
    left(box, "aside", "folder/file", days=0, mib=300)
    left(box, "aside", "folder.reason", days=0)
    left(box, "aside", "file", days=0, mib=300)
    left(box, "done", "small", days=1)
    box.tidy()
    assert (names(box, "done"), names(box, "aside")) == (["small"], [])


def test_what_was_done_is_kept_by_number(box: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest so many; a clock that goes on in steps of a second does not mix them up."""
    monkeypatch.setattr(retention, "KEPT", 5)
    for number in range(8):
        left(box, "done", str(number), days=(8 - number) / 86_400)
    box.tidy()
    assert names(box, "done") == ["3", "4", "5", "6", "7"]


def test_an_old_file_that_was_put_here_is_kept_from_then_on(box: Mailbox) -> None:
    """Written weeks ago and moved in now: it was done today."""
    by_hand = box.inbox / "pending" / "mine.json"
    by_hand.write_text(json.dumps(BY_HAND), encoding="utf-8")
    os.utime(by_hand, (1e9, 1e9))
    assert len(taken(box)) == 1
    box.tidy()
    assert len(names(box, "done")) == 1


def test_a_mailbox_that_was_deleted_is_made_again(box: Mailbox) -> None:
    """Somebody cleaned up: nothing is pending, and the next message finds its place."""
    shutil.rmtree(box.root)
    assert box.claim() is None
    assert box.abandoned() == []
    box.put(letter("still there"))
    assert [claim.envelope.body for claim in taken(box)] == ["still there"]


def test_an_envelope_that_is_too_deep_is_none() -> None:
    """Nested JSON is data, not a stack overflow."""
    with pytest.raises(EnvelopeError):
        decode(b'{"schema":' * 50_000)


@pytest.mark.parametrize("part", ["done", "claimed", "aside"])
def test_a_folder_that_was_removed_is_made_again(box: Mailbox, part: str) -> None:
    """In the middle of a turn, say: what belongs there gets there, and nothing stays where it was."""
    (box.inbox / "pending" / "0000-bad.json").write_text("bad")
    by_hand = box.inbox / "pending" / "by-hand.json"
    by_hand.write_text(json.dumps(BY_HAND), encoding="utf-8")
    (box.inbox / part).rmdir()
    claim = box.claim()
    assert claim is not None
    box.finish(claim)
    assert (names(box, "pending"), names(box, "claimed"), len(names(box, "done"))) == ([], [], 1)
    assert len(reasons(box)) == 1
