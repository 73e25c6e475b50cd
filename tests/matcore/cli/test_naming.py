"""A session, a role or a text that was left out: exit 2, and what there is to choose from."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from matcore.cli.main import mat as every
from tests.matcore.cli.conftest import Mat, Tell


def needing_a_session() -> list[tuple[str, ...]]:
    """Every command, those of drivers included, that can't do without a session."""
    ctx = click.Context(every)
    found: list[tuple[str, ...]] = []
    for name in every.list_commands(ctx):
        command = every.get_command(ctx, name)
        assert command is not None
        inner = command.commands if isinstance(command, click.Group) else {"": command}
        for second, each in inner.items():
            if any(parameter.name == "session" and parameter.required for parameter in each.params):
                found.append((name, second) if second else (name,))
    return found


@pytest.mark.parametrize("words", needing_a_session(), ids=" ".join)
def test_the_session_that_is_up_is_named(mat: Mat, tell: Tell, words: tuple[str, ...]) -> None:
    """With the command as it would be right; nothing is guessed."""
    tell("shop-duo").working()
    code, out, err = mat(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"Usage: mat {' '.join(words)} ")
    option = "--session " if words[0] == "cycle" else ""
    assert f"which session? There is shop-duo: mat {' '.join(words)} {option}shop-duo" in err


@pytest.mark.parametrize("words", needing_a_session(), ids=" ".join)
def test_without_any_session_it_says_how_to_start_one(mat: Mat, words: tuple[str, ...]) -> None:
    """Exit 2 as well: the command was not complete."""
    code, _, err = mat(*words)
    assert code == 2
    assert "there is no session; start one: mat up" in err


def test_of_several_this_directory_s_comes_first(mat: Mat, tell: Tell) -> None:
    """Ended ones are no choice for what acts on a session, and one for what reads its journal."""
    for name in ("a-duo", "work-duo"):
        tell(name).working()
    tell("old-duo").working().ended()
    Path("duo.yaml").write_text("roles: {dev: {backend: scripted}}\n")  # no `session:`, so this is `work-duo`
    _, _, err = mat("send")
    assert "There are work-duo (this directory's), a-duo; for example: mat send work-duo ROLE TEXT" in err
    _, _, err = mat("verify")
    assert "There are work-duo (this directory's), a-duo, old-duo (ended); for example: mat verify work-duo" in err


def test_where_all_have_ended(mat: Mat, tell: Tell) -> None:
    """There is nothing to act on."""
    tell("old-duo").working().ended()
    assert "none is up; start one: mat up" in mat("down")[2]
    assert "old-duo (ended): mat verify old-duo" in mat("verify")[2]


def test_of_many_some_are_named(mat: Mat, tell: Tell) -> None:
    """A line, not a page."""
    for number in range(12):
        tell(f"duo-{number:02}")
    err = mat("down")[2]
    assert "duo-07 and 4 more (mat status --all); for example: mat down duo-00" in err
    assert "duo-08" not in err


def test_a_role_or_a_text_that_was_left_out(mat: Mat, tell: Tell) -> None:
    """Which roles there are, and where the text may come from; but a session that was left out goes before them."""
    tell("shop-duo").working()
    for words, said in (
        (("restart", "shop-duo"), "which role? shop-duo has dev, review; for example: mat restart shop-duo dev"),
        (("send", "shop-duo"), "for example: mat send shop-duo dev TEXT"),
        (("send", "shop-duo", "dev"), "what is to be said? TEXT in quotes, or `-`"),
        (("send", "shop-duo", "Hello."), 'has no role "Hello."; its roles: dev, review'),
        (("send", "dev", "Hello."), 'there is no session "dev"; there is shop-duo'),
        (("restart", "review"), 'there is no session "review"; there is shop-duo'),
    ):
        code, out, err = mat(*words)
        assert (code, out) == (2, ""), words
        assert said in err


def test_a_session_that_is_not_there_is_answered_with_those_that_are(mat: Mat, tell: Tell) -> None:
    """Exit 1, and the ones that are up."""
    assert mat("down", "nobody")[::2] == (1, 'mat: there is no session "nobody"; start one: mat up\n')
    tell("old-duo").working().ended()
    assert "none is up; ended ones: mat status --all" in mat("down", "nobody")[2]
    tell("shop-duo").working()
    assert "there is shop-duo" in mat("down", "nobody")[2]


def test_commands_that_may_do_without_take_the_one_that_is_meant(mat: Mat, tell: Tell) -> None:
    """The only one, else this directory's, else the only one that is up, else they ask: exit 2."""
    tell("a-duo").working()
    assert mat("log", "-n1")[1].split()[2] == "a-duo"
    tell("b-duo").working()
    code, _, err = mat("log")
    assert code == 2
    assert "which session? There are a-duo, b-duo; for example: mat log a-duo" in err
    Path("duo.yaml").write_text("session: b-duo\n")
    assert mat("log", "-n1")[1].split()[2] == "b-duo"
    Path("duo.yaml").unlink()
    tell("c-duo").working().ended()
    Path("duo.yaml").write_text("session: c-duo\n")
    assert mat("log", "-n1")[1].split()[2] == "c-duo"


def test_a_duo_yaml_that_is_none_names_no_session(mat: Mat, tell: Tell) -> None:
    """Reading a journal does not need it to be right."""
    tell("a-duo").working()
    tell("old-duo").working().ended()
    for text in ("", "- a list", "session: [x]", "session: &x y", "\x00"):
        Path("duo.yaml").write_text(text)
        assert mat("log", "-n1")[1].split()[2] == "a-duo", text


def test_an_unreadable_journal_hides_no_other(mat: Mat, tell: Tell) -> None:
    """It is named like one that is up: nobody knows that it has ended."""
    told = tell("a-duo").working()
    torn = told.state.session("torn")
    torn.mkdir(parents=True)
    told.state.journal("torn").write_bytes(b"nothing" * 999)
    assert "a-duo, torn; for example: mat down a-duo" in mat("down")[2]


@pytest.mark.parametrize("command", ["attach", "why", "log", "episodes"])
def test_of_several_one_is_to_be_named_where_none_needs_to_be(mat: Mat, tell: Tell, command: str) -> None:
    """Exit 2, like any session that was left out; what shows windows offers those that have some, the others all."""
    for name in ("a-duo", "b-duo"):
        tell(name).working()
    for name in ("a-duo@1", "old-duo"):
        tell(name).working().ended()
    code, out, err = mat(command)
    assert (code, out) == (2, "")
    assert "which session? There are a-duo, b-duo" in err
    assert ("old-duo (ended), a-duo@1 (put aside)" in err) == (command != "attach")


def test_nothing_is_shown_where_nothing_is_up(mat: Mat, tell: Tell) -> None:
    """One that has ended is no choice, and this directory's is named as what has ended."""
    for name in ("old-duo", "work-duo"):
        tell(name).working().ended()
    assert mat("attach")[::2] == (1, "mat: none is up; start one: mat up\n")
    Path("duo.yaml").write_text("roles: {dev: {backend: scripted}}\n")
    code, _, err = mat("attach")
    assert code == 1
    assert 'session "work-duo" has ended; start it again: ' in err
