"""Numbers and the hand-over: killed, full, torn, lost, and many at once."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import time
from collections.abc import Callable

import pytest

from matcore import said_index, said_sent, spoolfile
from matcore.errors import Refused
from tests.matcore.conftest import Say
from tests.matcore.said_scene import ROOT, Scene

STEPS = ("keep", "stage", "note", "publish")

KILL = """
import os, signal
from matcore import said_sent
real = said_sent.{step}
def killed(*args):
    if {after}:
        real(*args)
    os.kill(os.getpid(), signal.SIGKILL)
said_sent.{step} = killed
"""


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_nothing_is_lost_or_repeated(step: str, after: bool, scene: Scene, say: Say) -> None:
    """Killed before or after each step, then tried again: exactly one relay, one number, one record."""
    scene.file("h.md")
    code, out, _ = scene.run("send-relay", "h.md", before=KILL.format(step=step, after=after))
    assert (code, out) == (-signal.SIGKILL, "")
    counted = bool(scene.index())
    assert counted is ((step, after) in [("note", True), ("publish", False), ("publish", True)])
    code, out, _ = say("send-relay", "h.md")
    assert code == 0
    assert out.startswith("already sent as r-000001" if counted else "sent r-000001")
    assert [record["message_id"] for record in scene.said("relay.sent")] == ["r-000001"]
    assert [entry["seq"] for entry in scene.index()] == [1]


def test_what_a_killed_sender_left_is_published_by_whoever_comes_next(scene: Scene, say: Say) -> None:
    """A relay that counts but was not published goes out with the next relay of anybody."""
    scene.file("h.md")
    scene.run("send-relay", "h.md", before=KILL.format(step="publish", after=False))
    assert scene.said("relay.sent") == []
    scene.file("r.md", "of the peer\n")
    assert say("send-relay", "r.md", role="review")[1].startswith("sent r-000002")
    assert [record["message_id"] for record in scene.said("relay.sent")] == ["r-000001"]


def test_what_was_not_counted_is_never_published(scene: Scene, say: Say) -> None:
    """A staged record without its line in the index stays where it is: its number goes to another."""
    scene.file("h.md", "first\n")
    scene.run("send-relay", "h.md", before=KILL.format(step="note", after=False))
    scene.file("h.md", "second\n")
    say("send-relay", "h.md")
    assert [record["body"] for record in scene.said("relay.sent")] == ["second\n"]
    assert [record["body"] for record in scene.spooled(part="tmp")] == ["first\n"]


def test_the_loop_can_finish_what_is_left(scene: Scene) -> None:
    """`finish` publishes for every role, and a second time changes nothing."""
    scene.file("h.md")
    scene.run("send-relay", "h.md", before=KILL.format(step="publish", after=False))
    root = str(scene.places.root)
    for _ in range(2):
        with said_index.Lock(root), said_index.read(root, "s1") as index:
            said_sent.finish(root, index)
    assert len(scene.said("relay.sent")) == 1


def failing(step: str) -> Callable[..., object]:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", step)

    return full


@pytest.mark.parametrize("step", STEPS)
def test_a_full_disk_refuses_and_leaves_no_half_state(
    step: str, scene: Scene, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever step finds the disk full: `nothing sent`, no line, no record, and the number is free."""
    scene.file("h.md")
    with monkeypatch.context() as patch:
        patch.setattr(said_sent, step, failing(step))
        code, out, err = say("send-relay", "h.md")
    assert (code, out) == (1, "")
    assert "No space left on device" in err
    assert err.endswith("nothing sent\n")
    assert scene.index() == []
    assert scene.said("relay.sent") == scene.spooled(part="tmp") == []
    assert say("send-relay", "h.md")[1].startswith("sent r-000001")


def test_half_a_line_on_a_full_disk_is_taken_back(scene: Scene, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes a part of the line leaves the index as it was."""
    before = scene.places.sent_index.read_bytes()
    real = spoolfile.write_all

    def torn(handle: int, data: bytes) -> None:
        if b'"spool"' in data:
            os.write(handle, data[:20])
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle, data)

    monkeypatch.setattr(spoolfile, "write_all", torn)
    scene.file("h.md")
    assert say("send-relay", "h.md")[0] == 1
    assert scene.places.sent_index.read_bytes() == before
    assert scene.spooled(part="tmp") == []


def test_a_sync_that_fails_after_the_rename_does_not_unsay_it(
    scene: Scene, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies in `new/` can be taken up at once: it counts as sent."""
    real = spoolfile.publish

    def unsynced(folder: str, name: str) -> None:
        real(folder, name)
        raise OSError(errno.EIO, "Input/output error")

    scene.file("h.md")
    monkeypatch.setattr(said_sent, "publish", unsynced)
    assert say("send-relay", "h.md")[1].startswith("sent r-000001")
    assert len(scene.said("relay.sent")) == len(scene.index()) == 1


def test_a_torn_line_is_cut_off(scene: Scene, say: Say) -> None:
    """A line without its newline was never sent, and its number is given to the next."""
    scene.file("h.md")
    say("send-relay", "h.md")
    with scene.places.sent_index.open("a") as index:
        index.write('{"seq":2,"id":"r-0000')
    scene.file("h.md", "next\n")
    assert say("send-relay", "h.md")[1].startswith("sent r-000002")
    assert [entry["seq"] for entry in scene.index()] == [1, 2]


@pytest.mark.parametrize("content", [None, "", "garbage\n", '{"v":1,"session":"other"}\n', "[]\n"])
def test_a_lost_index_refuses_until_it_is_rewritten(content: str | None, scene: Scene, say: Say) -> None:
    """Without the numbers nothing can be sent or acknowledged; the sentence says who rewrites them."""
    scene.file("h.md")
    scene.places.sent_index.unlink()
    if content is not None:
        scene.places.sent_index.write_text(content)
    for words in (("h.md",), ("--ack", "r-000001")):
        code, _, err = say("send-relay", *words)
        assert code == 1
        assert "sent.index" in err
        assert err.endswith("nothing sent\n")
    assert scene.said("relay.sent") == []


def test_a_damaged_line_is_no_reason_to_guess(scene: Scene, say: Say) -> None:
    """A whole line that can't be read refuses: the next number is not known."""
    scene.file("h.md")
    with scene.places.sent_index.open("a") as index:
        index.write("garbage\n")
    code, _, err = say("send-relay", "h.md")
    assert code == 1
    assert "can't be read" in err


def test_a_lock_that_is_held_is_waited_for_in_vain_once(
    scene: Scene, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock that nobody frees refuses after a bounded wait, and nothing was sent."""
    monkeypatch.setattr(said_index, "LOCK_WAIT_S", 0.05)
    scene.file("h.md")
    with said_index.Lock(str(scene.places.root)):
        code, _, err = say("send-relay", "h.md")
    assert code == 1
    assert "another command has held" in err
    assert err.endswith("nothing sent\n")
    assert scene.index() == []
    assert say("send-relay", "h.md")[0] == 0


def test_a_crowd_that_moves_is_waited_for(scene: Scene, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """While others get their numbers nobody hangs, and the wait goes on."""
    monkeypatch.setattr(said_index, "LOCK_WAIT_S", 0.0)
    scene.file("h.md")
    numbers = iter(range(1, 9))

    def taken(_lock: said_index.Lock) -> bool:
        with scene.places.sent_index.open("a") as index:
            index.write(f'{{"seq":{next(numbers)},"id":"r-x","from":"x","to":"y"}}\n')
        return len(scene.index()) > 3

    monkeypatch.setattr(said_index.Lock, "_taken", taken)
    assert say("send-relay", "h.md")[1].startswith("sent r-000005")


def test_a_lock_that_is_a_link_is_not_followed(scene: Scene, say: Say) -> None:
    """Nothing outside of the session's folder is opened for writing."""
    scene.file("h.md")
    outside = scene.state.root / "outside"
    scene.places.sent_index.with_name("sent.index.lock").symlink_to(outside)
    assert say("send-relay", "h.md")[0] == 1
    assert not outside.exists()


def test_fifty_at_once_have_fifty_numbers(scene: Scene) -> None:
    """Fifty processes of two roles at once: each is answered with a number of its own, and all are in the spools."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("MAT_")}
    started = []
    for n in range(50):
        scene.file(f"h{n}.md", f"work {n}\n")
        role = ("dev", "review")[n % 2]
        started.append(
            subprocess.Popen(
                scene.argv("send-relay", f"h{n}.md"),
                cwd=scene.work,
                env={**environ, "PYTHONPATH": str(ROOT), **scene.environ(role)},
                stdout=subprocess.PIPE,
                text=True,
            )
        )
    said = sorted(process.communicate(timeout=60)[0].split()[1] for process in started)
    assert said == [f"r-{n:06d}" for n in range(1, 51)]
    assert [entry["seq"] for entry in scene.index()] == list(range(1, 51))
    spooled = scene.said("relay.sent") + scene.said("relay.sent", "review")
    assert sorted(str(record["message_id"]) for record in spooled) == said


def long_index(scene: Scene, count: int) -> None:
    """So many relays from dev to review, none handed back, none of them published."""
    lines = ['{"v":1,"session":"s1"}']
    lines += [
        f'{{"seq":{n},"id":"r-{n:06d}","from":"dev","to":"review","kind":"request","digest":"{n:064x}","cycle":"c1",'
        f'"spool":"{n:020d}.json"}}'
        for n in range(1, count + 1)
    ]
    scene.places.sent_index.write_text("\n".join(lines) + "\n")


def test_every_line_of_a_long_index_is_found(scene: Scene) -> None:
    """The next number, any relay's line and any staged file's name, at every place of the index."""
    long_index(scene, 20_000)
    with said_index.read(str(scene.places.root), "s1") as index:
        assert index.highest == 20_000
        assert [entry["seq"] for entry in index.entries()] == list(range(20_000, 0, -1))
        for n in (1, 2, 300, 9_999, 10_000, 19_999, 20_000):
            assert (index.find(f"r-{n:06d}") or {}).get("seq") == n
            assert index.names(f"{n:020d}.json")
        assert index.find("r-999999") is None
        assert not index.names("another.json")


def test_the_length_of_an_index_does_not_slow_a_hand_over(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the last relay came back, its end is all that is read; the same content is found however far back."""
    long_index(scene, 50_000)
    bytes_read = 0
    real = os.pread

    def counted(handle: int, length: int, offset: int) -> bytes:
        nonlocal bytes_read
        bytes_read += length
        return real(handle, length, offset)

    monkeypatch.setattr(os, "pread", counted)
    root = str(scene.places.root)
    for sender, to in (("review", "dev"), ("dev", "review")):
        draft = said_sent.Draft(
            session="s1", spool=str(scene.places.spool(sender)), sender=sender, to=to, text=f"of {sender}", cycle="c1"
        )
        bytes_read = 0
        assert said_sent.send(root, draft, again=False).fresh
    assert bytes_read < 500_000
    assert not said_sent.send(root, draft, again=False).fresh


def test_what_is_no_line_is_refused(scene: Scene, say: Say) -> None:
    """A number is given only after a line that can be read."""
    scene.file("h.md")
    for junk in ("{}\n", "x" * 200_000, "x" * 200_000 + "\n", "x" * 200_000 + '\n{"v":1}\n'):
        with scene.places.sent_index.open("w") as index:
            index.write('{"v":1,"session":"s1"}\n' + junk)
        code, _, err = say("send-relay", "h.md")
        assert (code, "can't be read" in err, err.endswith("nothing sent\n")) == (1, True, True)
    assert scene.said("relay.sent") == []


def test_the_lock_is_freed_when_the_block_raises(scene: Scene) -> None:
    """A refusal under the lock does not hold up the next sender."""
    root = str(scene.places.root)
    with pytest.raises(Refused), said_index.Lock(root):
        raise Refused("x")
    begun = time.monotonic()
    with said_index.Lock(root):
        assert time.monotonic() - begun < said_index.LOCK_WAIT_S
