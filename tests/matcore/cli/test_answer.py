"""`mat answer`: which question is meant, where the text comes from, and what is refused with nothing changed."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from matcore.cli.main import run
from tests.stories.world import World

Mat = Callable[..., tuple[int, str, str]]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A duo whose reviewer has asked twice, and the commands in the same state folder."""
    world = World(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("time.time", world.clock.wall_s)
    (tmp_path / "mat").symlink_to(world.places.root)
    world.up()
    world.says("review", fact="question.asked", question="q-1", text="Is 0\nan error?")
    world.says("dev", fact="question.asked", question="q-2", text="Which name?")
    yield world
    world.end()


@pytest.fixture
def mat(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Mat:
    """`mat(*words, stdin=b"")`: exit code, stdout, stderr."""

    def call(*words: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = run(list(words))
        return code, *capsys.readouterr()

    return call


def test_the_oldest_is_meant_by_default(world: World, mat: Mat) -> None:
    """Question and answer go to the role that asked; the other stays open."""
    code, out, _ = mat("answer", "duo", "No.", "--json")
    said = json.loads(out)
    assert (code, said["question"], said["role"], said["message"]) == (0, "q-1", "review", "r-000001")
    world.settle()
    assert list(world.session().ledger.questions) == ["q-2"]
    assert world.driver.seats["duo", "review"].texts == [
        "[relay r-000001 from human] Answer to your question q-1: Is 0 an error?\nNo."
    ]


def test_a_question_is_named_by_its_id(world: World, mat: Mat) -> None:
    """What is printed names the question that was answered."""
    code, out, _ = mat("answer", "duo", "--question", "q-2", "Ann")
    assert code == 0
    assert out.startswith("answered q-2 of dev (Which name?) by r-000001 (#1)")
    world.settle()
    assert list(world.session().ledger.questions) == ["q-1"]


@pytest.mark.parametrize("words", [(), ("-",), ("--file", "-")])
def test_a_text_of_any_length_comes_from_stdin(world: World, mat: Mat, words: tuple[str, ...]) -> None:
    """The delivered text points to the file that holds all of it."""
    body = "long\n" * 500_000
    assert mat("answer", "duo", *words, stdin=b"\xef\xbb\xbf" + body.encode())[0] == 0
    world.settle()
    (text,) = world.driver.seats["duo", "review"].texts
    assert Path(text.splitlines()[1].removeprefix("Read ")).read_text() == body


def test_a_text_comes_from_a_file(world: World, mat: Mat, tmp_path: Path) -> None:
    """Or the refusal says why it could not be read."""
    (tmp_path / "a.txt").write_text("from a file")
    assert mat("answer", "duo", "--file", str(tmp_path / "a.txt"))[0] == 0
    world.settle()
    assert world.driver.seats["duo", "review"].texts[0].endswith("\nfrom a file")
    code, _, err = mat("answer", "duo", "--file", str(tmp_path / "none.txt"))
    assert code == 1
    assert "can't be read: No such file" in err


@pytest.mark.parametrize(
    ("words", "stdin", "code", "says"),
    [
        ((), b"", 1, "the answer is empty, q-1 stays open"),
        (("-",), b" \n", 1, "the answer is empty"),
        (("",), b"", 1, 'stays open; say it: mat answer duo "TEXT", or a text on standard input'),
        (("-",), b"\xff", 1, "not UTF-8 (byte 1)"),
        (("No.", "--file", "x"), b"", 2, "not both"),
        (("No.", "--question", "q-9"), b"", 1, "there is no question q-9; open: q-1, q-2"),
    ],
)
def test_what_is_refused_changes_nothing(
    world: World, mat: Mat, words: tuple[str, ...], stdin: bytes, code: int, says: str
) -> None:
    """It says so, loudly, and the question stays open."""
    got, out, err = mat("answer", "duo", *words, stdin=stdin)
    assert (got, out) == (code, "")
    assert says in err
    assert "nothing was changed" in err
    world.settle()
    assert list(world.session().ledger.questions) == ["q-1", "q-2"]
    assert world.entries("relay.sent") == []


def test_a_question_is_answered_once(world: World, mat: Mat) -> None:
    """Refused while the first answer still waits for a supervisor, and afterwards."""
    mat("answer", "duo", "No.")
    code, _, err = mat("answer", "duo", "Yes.")
    assert code == 1
    assert "an answer to q-1 already waits for the supervisor" in err
    world.settle()
    code, _, err = mat("answer", "duo", "--question", "q-1", "Yes.")
    assert code == 1
    assert "q-1 was answered already" in err
    mat("answer", "duo", "Ann")
    world.settle()
    assert "no question is open in duo" in mat("answer", "duo", "Bob")[2]
    assert "none is open" in mat("answer", "duo", "--question", "q-9", "Bob")[2]
    assert len(world.entries("question.answered")) == 2


def test_a_dialog_is_answered_on_its_screen(world: World, mat: Mat) -> None:
    """By its id it is refused with the command that shows it; by default a question for a text is meant."""
    world.human(fact="question.answered", question="q-1", text="No.")
    world.driver.see("duo", "question.asked", "review", question="dialog-7", dialog=True)
    world.settle()
    code, _, err = mat("answer", "duo", "--question", "dialog-7", "yes")
    assert code == 1
    assert "mat attach duo review; nothing was changed" in err
    assert mat("answer", "duo", "Ann")[1].startswith("answered q-2")
    world.settle()
    assert "mat attach duo review" in mat("answer", "duo", "yes")[2]


def test_the_page_of_the_morning_tells_the_night(world: World, mat: Mat) -> None:
    """What waits comes first, with its command; cycles, handoffs, stalls and what was told follow."""
    window_s = 600.0
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    for question in ("q-1", "q-2"):
        world.human(fact="question.answered", question=question, text="yes")
    world.relay("dev", "review", 3)
    world.advance(3 * window_s + 30)
    world.relay("review", "dev", 4)
    world.says("review", fact="question.asked", question="q-3", text="Go on?")
    code, out, _ = mat("recap", "--since", "2h")
    lines = out.splitlines()
    assert code == 0
    assert lines[2] == "duo (unwatched)"
    assert lines[4].endswith(" && mat up")
    assert lines[5].startswith("  waits for you: review asks you, ")
    assert lines[5].endswith(" ago: Go on?")
    assert lines[6] == '                 mat answer duo "TEXT"'
    assert any(line.startswith("  cycle c1: open, ") and "2 handoffs, 1 stall" in line for line in lines)
    assert "  handoffs: 2 (dev 1, review 1)" in lines
    assert any("review owed r-000003; ended by a handoff, you were told; lasted 20m" in line for line in lines)
    assert "  answered by you: 2" in lines
    page = json.loads(mat("recap", "duo", "--json")[1])
    (session,) = page["sessions"]
    assert [stall["nudges"] for stall in session["stalls"]] == [2]
    assert {told["kind"] for told in session["told"]} == {"question", "idle-recovery"}
    assert session["cycles"][0]["outcome"] == "open"


def test_a_night_in_which_nothing_happened_is_one_line(world: World, mat: Mat) -> None:
    """A session without anything to tell is only named; without a session the page says how to begin."""
    for question in ("q-1", "q-2"):
        world.human(fact="question.answered", question=question, text="yes")
    world.says("dev", fact="cycle.completed", cycle="c1")
    world.says("dev", fact="cycle.opened", goal="more")
    world.human(fact="cycle.blocked", cycle="c2", reason="no key")
    out = mat("recap")[1]
    assert "cycle c1: completed by dev at " in out
    assert "cycle c2: blocked by human at " in out
    assert "(no key): more" in out
    assert mat("recap", "nobody")[0] == 1


def test_without_a_session_there_is_nothing_to_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mat: Mat) -> None:
    """The page says how to begin."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert mat("recap")[1].splitlines()[-1] == "There is no session. Start one: mat up"
