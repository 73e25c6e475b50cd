"""`send-relay` as an agent uses it: what is sent, what is refused, and what it says each time."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from matcore import said, said_sent, spoolfile
from matcore.errors import BadConfig, Refused
from matcore.places import SessionPlaces
from tests.matcore.conftest import Say
from tests.matcore.said_scene import Scene


def test_a_handoff_is_numbered_copied_and_spooled(scene: Scene, say: Say) -> None:
    """One line is printed, and the content, the index and the spool agree about what was sent."""
    scene.file("h.md", "---\nissue: 7\n---\nDone: ünïcode\n")
    with scene.supervisor():
        assert say("send-relay", "review", "h.md") == (0, "sent r-000001 to review (#1)\n", "")
    (record,) = scene.said("relay.sent")
    text = "---\nissue: 7\n---\nDone: ünïcode\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert Path(str(record["path"])).read_text() == text
    assert record["path"] == str(scene.places.handoffs / f"{digest}.md")
    expected = {
        "v": 1,
        "session": "s1",
        "schema": "baton.message/v1",
        "message_id": "r-000001",
        "conversation_id": "c1",
        "from": "dev",
        "to": "review",
        "in_reply_to": None,
        "kind": "request",
        "body": text,
        "seq": 1,
        "seen": None,
        "digest": digest,
        "source": str(scene.work / "h.md"),
        "warnings": [],
    }
    assert {key: record[key] for key in expected} == expected
    (entry,) = scene.index()
    assert {key: entry[key] for key in ("seq", "id", "from", "to", "kind", "digest", "cycle")} == {
        "seq": 1,
        "id": "r-000001",
        "from": "dev",
        "to": "review",
        "kind": "request",
        "digest": digest,
        "cycle": "c1",
    }


def test_what_was_sent_stays_as_it_was_sent(scene: Scene, say: Say) -> None:
    """The peer reads the copy: the file may change or go."""
    path = scene.file("h.md", "first\n")
    say("send-relay", "h.md")
    path.write_text("second\n")
    (record,) = scene.said("relay.sent")
    assert Path(str(record["path"])).read_text() == "first\n"


def test_a_damaged_copy_is_made_again(scene: Scene, say: Say) -> None:
    """A copy that somebody has changed is not trusted for the next relay of the same content."""
    scene.file("h.md", "text\n")
    say("send-relay", "h.md")
    (copy,) = scene.places.handoffs.iterdir()
    copy.write_text("tampered\n")
    say("send-relay", "--again", "h.md")
    assert copy.read_text() == "text\n"


def test_without_a_supervisor_a_second_line_says_so(scene: Scene, say: Say) -> None:
    """The relay is durable and waits; where a sandbox hides the lock nothing is claimed."""
    scene.file("h.md")
    code, out, _ = say("send-relay", "h.md")
    assert (code, out.splitlines()[1:]) == (0, ["no supervisor is running now; the relay waits for it"])
    scene.state.lock.touch()
    assert "no supervisor" in say("send-relay", "--again", "h.md")[1]
    scene.state.lock.unlink()
    scene.state.root.rmdir()
    assert say("send-relay", "--again", "h.md")[1] == "sent r-000003 to review (#3)\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every lock")
def test_an_unreadable_lock_claims_nothing(scene: Scene, say: Say) -> None:
    """What can't be read is unknown, and nothing is said about it."""
    scene.file("h.md")
    scene.state.lock.touch(0o000)
    assert say("send-relay", "h.md")[1] == "sent r-000001 to review (#1)\n"


def test_the_same_content_is_not_sent_twice(scene: Scene, say: Say) -> None:
    """Until the peer hands something back, the same content is answered by the number it has; --again sends it."""
    scene.file("h.md")
    say("send-relay", "h.md")
    assert say("send-relay", "h.md")[:2] == (0, "already sent as r-000001 (#1)\n")
    (again,) = scene.said("relay.already_sent")
    assert {key: again[key] for key in ("message_id", "from", "to", "seen")} == {
        "message_id": "r-000001",
        "from": "dev",
        "to": "review",
        "seen": None,
    }
    assert say("send-relay", "--again", "h.md")[1].startswith("sent r-000002")
    scene.file("a.md", "---\nkind: fyi\n---\nnoted\n")
    say("send-relay", "a.md", role="review")
    assert say("send-relay", "h.md")[1].startswith("already sent as r-000002")
    scene.file("b.md", "look again\n")
    say("send-relay", "b.md", role="review")
    assert say("send-relay", "h.md")[1].startswith("sent r-000005")


def test_another_kind_cycle_or_target_is_another_relay(scene: Scene, say: Say) -> None:
    """`already sent` is only for the same content of the same kind, to the same role, in the same cycle."""
    scene.tell(roles=[{"name": role, "dir": str(scene.work)} for role in ("dev", "review", "plan")])
    scene.file("h.md")
    assert say("send-relay", "review", "h.md")[1].startswith("sent r-000001")
    assert say("send-relay", "plan", "h.md")[1].startswith("sent r-000002 to plan")
    scene.tell(cycle={"id": "c2", "goal": None})
    assert say("send-relay", "review", "h.md")[1].startswith("sent r-000003")
    scene.tell(cycle=None)
    assert say("send-relay", "review", "h.md")[1].startswith("sent r-000004")
    assert say("send-relay", "review", "h.md")[1].startswith("already sent as r-000004")


def test_seen_is_what_was_delivered(scene: Scene, say: Say) -> None:
    """Without `seen` in the front matter the highest number delivered to the sender counts, and is replied to."""
    scene.file("r.md", "a question\n")
    for _ in range(3):
        say("send-relay", "--again", "r.md", role="review")
    scene.tell(frontier={"dev": {"review": 2}})
    scene.file("h.md")
    say("send-relay", "h.md")
    scene.file("s.md", "---\nseen: 3\n---\nx\n")
    say("send-relay", "s.md")
    first, second = scene.said("relay.sent")
    assert (first["seen"], first["in_reply_to"]) == (2, "r-000002")
    assert (second["seen"], second["in_reply_to"]) == (3, "r-000003")


def test_an_overflowing_date_is_sent_right(scene: Scene, say: Say) -> None:
    """The copy has the real date, the sender is warned with both."""
    scene.file("h.md", "---\ndue: 2025-09-31\n---\nx\n")
    code, _, err = say("send-relay", "h.md")
    assert code == 0
    assert "2025-09-31" in err
    assert "2025-09-30" in err
    (record,) = scene.said("relay.sent")
    assert record["body"] == "---\ndue: 2025-09-30\n---\nx\n"
    assert len(record["warnings"]) == 1  # type: ignore[arg-type]


FILES: dict[str, tuple[str | bytes, str]] = {
    "empty.md": ("", "empty"),
    "blank.md": (" \n\n", "empty"),
    "latin.md": (b"caf\xe9\n", "not UTF-8 (byte 4)"),
    "zero.md": (b"a\0b", "NUL"),
    "large.md": (b"x" * (1024 * 1024 + 1), "larger than 1 MiB"),
    "kind.md": ("---\nkind: ask\n---\nx", "`kind: ask`"),
    "seen.md": ("---\nseen: then\n---\nx", "`seen: then`"),
    "early.md": ("---\nseen: 7\n---\nx", "the highest is 0"),
    "open.md": ("---\nissue: 7\nx", "never ends"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_handoff_is_refused(name: str, scene: Scene, say: Say) -> None:
    """Exit 1, what is wrong, how to mend it, `nothing sent`, and nothing was sent."""
    content, why = FILES[name]
    scene.file(name, content)
    code, out, err = say("send-relay", name)
    assert (code, out) == (1, "")
    assert why in err
    assert err.endswith("nothing sent\n")
    assert scene.said("relay.sent") == scene.index() == []


def test_a_mebibyte_of_the_worst_characters_is_sent(scene: Scene, say: Say) -> None:
    """The limit is the file's: what has to be escaped in the record does not make it smaller."""
    scene.file("h.md", "x" + "\x01" * (1024 * 1024 - 1))
    assert say("send-relay", "h.md")[0] == 0
    assert len(str(scene.said("relay.sent")[0]["body"])) == 1024 * 1024


UP = "../" * 40

ELSEWHERE = (
    "missing.md", "folder", "fifo", "loop", "out.md", "/etc/hostname", "/dev/null", "a\nb.md",
    f"missing/{UP}etc/hostname", f"{'x' * 300}/{UP}etc/hostname", f"{'./' * 3000}{UP}etc/hostname",
    "here/" * 2000 + "h.md",
)  # fmt: skip


@pytest.mark.parametrize("name", ELSEWHERE)
def test_only_regular_files_of_this_role_are_sent(name: str, scene: Scene, say: Say) -> None:
    """Folders, FIFOs, devices, links that lead out and files elsewhere are refused without being read or waited for."""
    (scene.work / "folder").mkdir()
    os.mkfifo(scene.work / "fifo")
    (scene.work / "loop").symlink_to("loop")
    (scene.work / "out.md").symlink_to("/etc/hostname")
    (scene.work / "here").symlink_to(".")
    scene.file("h.md")
    code, out, err = say("send-relay", name)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert err.endswith("nothing sent\n")
    assert scene.index() == []
    [record] = scene.said("handoff.checked")
    assert len(str(record["file"])) <= 4096  # More, and the supervisor would set it aside.


def test_links_inside_and_the_role_s_own_folder_will_do(tmp_path: Path, scene: Scene, say: Say) -> None:
    """A link that stays inside is followed; a role's own directory and the session's folder count as inside."""
    scene.file("h.md", "one\n")
    (scene.work / "link.md").symlink_to("h.md")
    own = tmp_path / "own"
    own.mkdir()
    (own / "h.md").write_text("two\n")
    (scene.places.root / "h.md").write_text("three\n")
    scene.tell(roles=[{"name": "dev", "dir": str(own)}, {"name": "review", "dir": str(scene.work)}])
    for name in ("link.md", str(own / "h.md"), str(scene.places.root / "h.md")):
        assert say("send-relay", name)[0] == 0
    assert say("send-relay", str(own / "h.md"), role="review")[0] == 1


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        ((), 2, "usage"),
        (("review", "h.md", "x"), 2, "usage"),
        (("--ack",), 2, "usage"),
        (("--ack", "--again", "r-000001"), 2, "usage"),
        (("--force", "h.md"), 2, "no option --force"),
        (("review",), 2, "`send-relay review FILE`"),
        (("nobody", "h.md"), 1, "the other role is review"),
        (("h.md", "review"), 1, "`send-relay review h.md`"),
        (("dev", "h.md"), 1, "dev is you"),
        (("human", "h.md"), 1, "notify-user"),
        (("--ack", "r-000001"), 1, "no relay r-000001 was sent to you"),
        (("--ack", "9" * 5000), 1, "was sent to you"),
        (("--ack", "recovery-review-dev-1"), 1, "no relay recovery-review-dev-1 was sent to you"),
        (("--ack", "recovery-dev-review-"), 1, "no relay recovery-dev-review- was sent to you"),
        (("--ack", "recovery-dev-human-1"), 1, "no relay recovery-dev-human-1 was sent to you"),
        (("--ack", "\x1b[31mr-1"), 1, "no relay [31mr-1 was sent to you"),
        (("re\x9bview", "h.md"), 1, "no role is named review"),
        (("--\x1b[31m", "h.md"), 2, "no option --[31m\n"),
    ],
)
def test_wrong_words_are_answered_with_the_right_ones(
    words: tuple[str, ...], code: int, why: str, scene: Scene, say: Say
) -> None:
    """Usage and unknown roles say how it should have been called."""
    scene.file("h.md")
    got, out, err = say("send-relay", *words)
    assert (got, out) == (code, "")
    assert why in err
    assert err.endswith("nothing sent\n")
    assert scene.index() == []


def test_help_is_no_refusal(say: Say) -> None:
    """`--help` explains and exits 0."""
    code, out, err = say("send-relay", "--help")
    assert (code, err) == (0, "")
    assert out.startswith("usage: send-relay")


def test_a_file_with_the_name_of_an_option_can_be_sent(scene: Scene, say: Say) -> None:
    """After `--` everything is a word."""
    scene.file("--again")
    assert say("send-relay", "--", "--again")[0] == 0
    assert say("send-relay", "--again", "--", "review", "--again")[1].startswith("sent r-000002")


def test_a_team_has_to_name_the_role(scene: Scene, say: Say) -> None:
    """With several others the sender says which; alone there is nobody to send to."""
    scene.file("h.md")
    scene.tell(roles=[{"name": role, "dir": str(scene.work)} for role in ("dev", "review", "plan")])
    code, _, err = say("send-relay", "h.md")
    assert code == 2
    assert "one of review, plan" in err
    assert "the other roles are review, plan" in say("send-relay", "x", "h.md")[2]
    scene.tell(roles=[{"name": "dev", "dir": str(scene.work)}])
    assert "no other role" in say("send-relay", "h.md")[2]
    assert "there is no other role" in say("send-relay", "x", "h.md")[2]


def test_outside_of_a_session_the_sentence_helps(scene: Scene) -> None:
    """Exit 2 names what is not set and how to say who speaks."""
    code, out, err = scene.run("send-relay", "h.md", environ={})
    assert (code, out) == (2, "")
    for word in ("MAT_SESSION", "MAT_ROLE", "MAT_DIR", "mat up", "mat send"):
        assert word in err
    assert err.endswith("nothing sent\n")


@pytest.mark.parametrize(
    ("changed", "code", "why"),
    [
        ({"ended": True}, 1, "has ended; start it again: cd "),
        ({"session": "s2"}, 2, "is about 's2'"),
        ({"roles": [{"name": "plan"}]}, 2, "has the roles plan"),
        ({"roles": "dev"}, 1, "names no roles"),
    ],
)
def test_a_session_that_can_t_take_it_refuses(
    changed: dict[str, object], code: int, why: str, scene: Scene, say: Say
) -> None:
    """An ended session, another one and an unknown role are told apart."""
    scene.file("h.md")
    scene.tell(**changed)
    got, out, err = say("send-relay", "h.md")
    assert (got, out) == (code, "")
    assert why in err
    assert err.endswith("nothing sent\n")


@pytest.mark.parametrize("content", [None, "", "{", "[]", "\udcff", "[" * 100_000])
def test_without_session_json_nothing_is_sent(content: str | None, scene: Scene, say: Say) -> None:
    """A session.json that is gone or damaged is told, with what will mend it."""
    scene.file("h.md")
    scene.places.about.unlink()
    if content is not None:
        scene.places.about.write_bytes(content.encode("utf-8", "surrogateescape"))
    code, _, err = say("send-relay", "h.md")
    assert code == 1
    assert "session.json" in err
    assert err.endswith("nothing sent\n")


def test_every_check_leaves_a_record(scene: Scene, say: Say) -> None:
    """Passes and refusals are recorded with their count in a row; the third tells the human, a pass ends the row."""
    scene.tell(require=["issue"])
    scene.file("h.md")
    for blocks in (1, 2, 3):
        code, _, err = say("send-relay", "h.md")
        assert code == 1
        assert ("the human is told" in err) is (blocks == 3)
        last = scene.said("handoff.checked")[-1]
        assert (last["approved"], last["check"], last["blocks"], last["max_blocks"]) == (
            False,
            "required-keys",
            blocks,
            3,
        )
        assert "`issue`" in str(last["reason"])
        assert last["file"] == str(scene.work / "h.md")
    scene.file("h.md", "---\nissue: 7\n---\nx")
    assert say("send-relay", "h.md")[0] == 0
    passed = scene.said("handoff.checked")[-4:]
    assert [(c["approved"], c["check"]) for c in passed] == [
        (True, "file"),
        (True, "front-matter"),
        (True, "required-keys"),
        (True, "verdict"),
    ]
    scene.file("h.md", "no more")
    say("send-relay", "h.md")
    assert scene.said("handoff.checked")[-1]["blocks"] == 1


def test_a_number_that_was_never_given_is_refused_on_record(scene: Scene, say: Say) -> None:
    """`seen` beyond the last relay says how to mend it, counts in the row, and the third time tells the human."""
    scene.file("h.md", "---\nseen: 7\n---\nx\n")
    for told in ("", "", "the human is told", "the human was told"):
        code, _, err = say("send-relay", "h.md")
        assert (code, told in err) == (1, True)
        assert "h.md: `seen: 7` is no relay's number yet, the highest is 0: write what you have read" in err
    checks = [c for c in scene.said("handoff.checked") if not c["approved"]]
    assert [(c["check"], c["blocks"]) for c in checks] == [("seen", 1), ("seen", 2), ("seen", 3), ("seen", 4)]
    assert scene.index() == []


def test_a_file_that_is_not_there_counts_too(scene: Scene, say: Say) -> None:
    """The check `file` comes first, is recorded, and counts for each file and role apart."""
    say("send-relay", "missing.md")
    say("send-relay", "missing.md")
    say("send-relay", "missing.md", role="review")
    say("send-relay", "other.md")
    assert [c["blocks"] for c in scene.said("handoff.checked")] == [1, 2, 1]
    assert [c["blocks"] for c in scene.said("handoff.checked", "review")] == [1]
    (scene.places.spool("dev") / "blocks.json").write_text("damaged")
    say("send-relay", "missing.md")
    assert scene.said("handoff.checked")[-1]["blocks"] == 1


def test_an_acknowledgement_names_what_was_received(scene: Scene, say: Say) -> None:
    """Only what was sent to this role can be acknowledged, by its id, its number, or a recovery's id."""
    scene.file("h.md")
    say("send-relay", "h.md")
    for named in ("r-000001", "1", "#1"):
        with scene.supervisor():
            assert say("send-relay", "--ack", named, role="review") == (0, "acknowledged r-000001\n", "")
    assert say("send-relay", "--ack", "recovery-review-dev-1", role="review")[0] == 0
    acks = scene.said("relay.acked", "review")
    assert [ack["message_id"] for ack in acks] == ["r-000001"] * 3 + ["recovery-review-dev-1"]
    assert {ack["role"] for ack in acks} == {"review"}
    assert say("send-relay", "--ack", "r-000001")[0] == 1


def test_a_human_s_relay_has_a_number_of_the_same_row(scene: Scene, say: Say) -> None:
    """It goes through the user's spool, is never taken for one sent before, and agents' numbers go on after it."""
    root, spool = str(scene.places.root), str(scene.state.spool)
    assert said.human_relay(root, spool, "s1", "dev", "please look") == ("r-000001", 1)
    assert said.human_relay(root, spool, "s1", "dev", "please look") == ("r-000002", 2)
    scene.file("h.md")
    assert say("send-relay", "h.md")[1].startswith("sent r-000003")
    records = scene.said("relay.sent", "human")
    assert [(r["from"], r["to"], r["body"], r["seq"]) for r in records] == [
        ("human", "dev", "please look", 1),
        ("human", "dev", "please look", 2),
    ]
    with pytest.raises(Refused, match="dev, review; nothing sent"):
        said.human_relay(root, spool, "s1", "nobody", "x")
    with pytest.raises(Refused, match="empty"):
        said.human_relay(root, spool, "s1", "dev", " \n")
    with pytest.raises(Refused, match="not UTF-8"):
        said.human_relay(root, spool, "s1", "dev", "half \udcff")
    with pytest.raises(Refused, match="1 MiB"):
        said.human_relay(root, spool, "s1", "dev", "x" * (1024 * 1024 + 1))
    with pytest.raises(BadConfig, match="is about 's1'"):
        said.human_relay(root, spool, "s2", "dev", "x")


def test_the_places_are_those_of_the_engine(scene: Scene, say: Say) -> None:
    """The strings joined here name the same files as `matcore.places`."""
    scene.file("h.md")
    say("send-relay", "h.md")
    places = SessionPlaces.of(scene.work, "s1")
    assert list((places.spool("dev") / "new").iterdir())
    assert list(places.handoffs.iterdir())
    assert places.sent_index.read_text().count("\n") == 2


def test_files_are_for_the_user_alone(scene: Scene, say: Say) -> None:
    """What is written is 0600 in folders of 0700."""
    scene.file("h.md")
    say("send-relay", "h.md")
    (copy,) = scene.places.handoffs.iterdir()
    (record, *_) = (scene.places.spool("dev") / "new").iterdir()
    assert {path.stat().st_mode & 0o777 for path in (copy, record)} == {0o600}
    folders = (scene.places.handoffs, scene.places.spool("dev"), record.parent)
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}


def test_a_refusal_on_a_full_disk_still_says_why(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason reaches the agent even when its record can't be written."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spoolfile, "write_all", full)
    code, _, err = say("send-relay", "missing.md")
    assert code == 1
    assert "no such file" in err
    assert "could not be recorded: No space left" in err
    assert err.endswith("nothing sent\n")


@pytest.mark.parametrize("streams", [">/dev/full", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_what_was_sent_is_done_whoever_hears_of_it(streams: str, scene: Scene) -> None:
    """A standard stream that is full or closed changes neither the relay nor the exit code; a warning does not, too."""
    scene.file("h.md", "---\ndate: 2025-09-31\n---\nx")
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {streams}', "sh", *scene.argv("send-relay", "h.md")],
        cwd=scene.work, env=scene.environ(), capture_output=True, timeout=20, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert len(scene.said("relay.sent")) == 1


def test_our_own_mistake_is_called_one(scene: Scene, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody foresaw exits 70, with the traceback and how to report it."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("unforeseen")

    scene.file("h.md")
    monkeypatch.setattr(said_sent, "send", broken)
    code, out, err = say("send-relay", "h.md")
    assert (code, out) == (70, "")
    assert "RuntimeError: unforeseen" in err
    assert "report it" in err
