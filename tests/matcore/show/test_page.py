"""`mat status` in every state, at every width, with any number of sessions: nothing that matters is lost."""

from __future__ import annotations

import io
import json
import time

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.screen import Screen

from matcore.places import StatePlaces
from matcore.show import status, waits
from matcore.show.shapes import Supervisor
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import WINDOW_S, Told, supervised
from tests.matcore.show.states import STATES, at_a_dialog, rung_1

WIDE = "漢字かな混じり文"


def drawn(state: StatePlaces, sessions: list[str], width: int, height: int | None = None) -> str:
    """The page as a terminal of that size shows it, without colours; with a height as `--watch` draws it."""
    out = io.StringIO()
    console = Console(file=out, width=width, height=height or 1000, highlight=False, legacy_windows=False)
    page = status.render(status.look(state, sessions), on_screen=height is not None)
    console.print(page if height is None else Screen(page))
    return out.getvalue()


def squeezed(text: str) -> str:
    """Without frames and breaks: what a person reads, wherever lines end."""
    return "".join(text.replace("│", " ").split())


def at_most(out: str, width: int) -> bool:
    return all(cell_len(line) <= width for line in out.splitlines())


@pytest.mark.parametrize("name", STATES)
def test_each_state_says_what_matters_and_what_to_do(tell: Tell, state: StatePlaces, name: str) -> None:
    """On a wide terminal, on one of eighty, sixty and forty columns."""
    build, words = STATES[name]
    build(tell)
    with supervised(state, "duo"):
        for width in (160, 80, 60, 40):
            out = drawn(state, ["duo"], width)
            assert at_most(out, width), out
            for word in (*words[0].split(), *words[1:]):
                assert "".join(word.split()) in squeezed(out), (width, word, out)


@pytest.mark.parametrize("name", ["at a dialog", "told", "asks", "mat asks", "dead", "blind", "not told", "blocked"])
def test_the_first_line_says_that_somebody_is_needed(tell: Tell, state: StatePlaces, mat: Mat, name: str) -> None:
    """And the next ones what to type."""
    build, words = STATES[name]
    build(tell)
    with supervised(state, "duo"):
        first, second = drawn(state, ["duo"], 160).splitlines()[1:3]
        shot = json.loads(mat("status", "--json")[1])["sessions"][0]
    assert words[0] in first
    assert ": mat " in second
    assert shot["needs"] is not None


def test_what_a_stall_comes_from_goes_before_it(tell: Tell, state: StatePlaces) -> None:
    """To start the agent that is gone helps; to write to it does not."""
    told = tell(ago=4 * WINDOW_S).working().fact("role.gone", role="review", evidence="pane is gone")
    told.pass_time(3 * WINDOW_S + 1)
    with supervised(state, "duo"):
        labels = [wait.label for wait in waits.of(status.look(state, ["duo"]).sessions[0])]
    assert labels == ["GONE", "STALLED"]


@pytest.mark.parametrize("name", ["working", "quiet", "settling", "paused", "undelivered", "completed", "no goal"])
def test_where_nobody_is_needed_the_first_line_says_what_goes_on(tell: Tell, state: StatePlaces, name: str) -> None:
    """In plain words, and not in red."""
    STATES[name][0](tell)
    with supervised(state, "duo"):
        out = drawn(state, ["duo"], 160)
        assert out.splitlines()[1].startswith("│ now ")
        assert status.look(state, ["duo"]).sessions[0].needs is None


def test_names_goals_and_texts_of_any_length_break_nothing(tell: Tell, state: StatePlaces) -> None:
    """Names as long as they may be, a goal of a page, wide characters: cut with a mark, or folded."""
    long = "a" * 32
    told = tell(long, ago=WINDOW_S + 100)
    told.working(cycle="c" * 200, goal=f"{WIDE * 100} [bold]not bold[/bold] #(id)")
    told.fact("question.asked", question="q" * 99, role="dev", text=f"{WIDE} " * 200)
    told.fact("gate.raised", gate="g" * 60, role="dev", reason=WIDE * 99)
    told.fact("relay.sent", id="r" * 99, from_="dev", to="review", kind="fyi", seq=2)
    with supervised(state, long):
        for width in (160, 80, 60, 40, 30):
            out = drawn(state, [long], width)
            assert at_most(out, width), out
            assert WIDE in squeezed(out)
            assert "…" in out
            assert f"g{'g' * 59}/dev" in squeezed(out)
            assert "review" in out


def test_markup_and_formats_stay_what_was_written(tell: Tell, state: StatePlaces) -> None:
    """In a goal, a question and a notification."""
    evil = "[bold red]x[/bold red] #(touch /tmp/x) %s {role}"
    told = tell(ago=100).working(goal=evil)
    told.fact("question.asked", question="q-1", role="dev", text=evil)
    told.note("engine.telling", notice="n1", kind="notify-user", action=True, text=f"duo: dev says:\n{evil}")
    told.note("engine.told", notice="n1", ok=False, said=evil)
    with supervised(state, "duo"):
        assert squeezed(drawn(state, ["duo"], 80)).count(squeezed(evil)) == 4


def many(tell: Tell, count: int) -> list[str]:
    """Sessions of which every fifth waits at a dialog and every seventh is in an episode."""
    names = [f"shop-{number:02d}" for number in range(count)]
    for number, name in enumerate(names):

        def told(_session: str = "", name: str = name, **options: float) -> Told:
            return tell(name, **options)

        if number % 5 == 3:
            at_a_dialog(told)
        elif number % 7 == 2:
            rung_1(told)
        else:
            told(ago=100).working()
    return names


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_of_twenty_sessions_none_is_lost(tell: Tell, state: StatePlaces, width: int) -> None:
    """Those that need somebody come first by name and are shown in full; those that need nobody take a line or two."""
    names = many(tell, 20)
    with supervised(state, *names):
        out = drawn(state, names, width)
    words = squeezed(out)
    assert at_most(out, width)
    assert out.startswith("4 of 20 sessions need you:")
    assert words.count("adialogonreview'sscreenwaitsforyou(mat") == 4
    assert words.count("DIALOG") == 4
    assert words.count("EPISODE1,rung1of3") == 3
    for name in names:
        assert name in words
    assert len(words.split("batonreview")) - 1 == 20


@pytest.mark.parametrize(("width", "height"), [(80, 24), (80, 50), (160, 60), (60, 30), (40, 50)])
def test_the_live_view_of_twenty_sessions_fits_its_terminal(
    tell: Tell, state: StatePlaces, width: int, height: int
) -> None:
    """Nothing that needs somebody is off the screen, nor is who watches; each session has its name on it."""
    names = many(tell, 20)
    with supervised(state, *names):
        out = drawn(state, names, width, height)
    assert len(out.splitlines()) == height
    assert at_most(out, width)
    words = squeezed(out)
    assert words.startswith("4of20sessionsneedyou:")
    for number in (3, 8, 13, 18):
        assert f"shop-{number:02d}:adialogonreview'sscreen" in words
    assert "supervisorwatching" in words


def test_the_live_view_of_more_than_fits_says_how_many_are_not_on_it(tell: Tell, state: StatePlaces) -> None:
    """And those that need somebody are on it."""
    names = many(tell, 20)
    with supervised(state, *names):
        words = squeezed(drawn(state, names, 60, 16))
    for number in (3, 8, 13, 18):
        assert f"shop-{number:02d}:adialog" in words
    assert "moresessions,noneofthemneedsyou" in words
    assert "supervisorwatching" in words


def test_a_dead_supervisor_is_on_top_of_a_full_live_view(tell: Tell, state: StatePlaces) -> None:
    """With twenty sessions that nobody watches any more, that is what the first line says."""
    names = many(tell, 20)
    out = drawn(state, names, 80, 24)
    assert out.startswith("supervisor NOT RUNNING")
    assert "20 of 20 sessions need you" in out


def test_nothing_that_nobody_watches_has_a_colour_of_life(tell: Tell, state: StatePlaces) -> None:
    """A role that worked when it was last seen is dim, not green, and is said to be last seen."""
    STATES["working"][0](tell)
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system="standard", highlight=False)
    console.print(status.render(status.look(state, ["duo"])))
    green = "\x1b[32m"
    assert green not in out.getvalue()
    assert "last seen" in out.getvalue()
    with supervised(state, "duo"):
        console.print(status.render(status.look(state, ["duo"])))
    assert green in out.getvalue()


@pytest.mark.parametrize(("age_s", "colour"), [(0.5, "dim"), (6.0, "yellow"), (16.0, "bold red"), (3600.0, "bold red")])
def test_a_heartbeat_grows_from_well_to_late_to_red(age_s: float, colour: str) -> None:
    """It is never a stale green."""
    seen = Supervisor(alive=True, stale=age_s > 15, pid=1, heartbeat_age_s=age_s)
    assert [line.style for line in status.watcher(seen, time.time())] == [colour]
