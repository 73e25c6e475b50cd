"""What a person does at a real program's screen while mat has something to say: drafts and permission dialogs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.agents.duo import NUDGE, LabDuo, lab_duo
from tests.agents.lab import HEAVY, OPENCODE, lab, opencode_with
from tests.waiting import wait_for

WINDOW_S = 5.0
ENDS_S = 12.0
"""For a turn whose end no hook tells; a screen that only stands still overrules hooks after a minute."""
AFTER_THE_QUESTION_S = 16.0
"""Two of these and a rung is due while the dialog stands; the question is asked after half a minute."""
DRAFT, REST = "do not mer", "ge this yet"
# What each program asks about: Codex what leaves its sandbox, opencode what leaves its folder, Claude Code what it was
# not told to allow.
MADE = {"claude": "made-by-the-agent", "codex": "made-by-the-agent", "opencode": "../made-by-the-agent"}
ASKS = {"claude": "SCRIPT:tool[touch {}]", "codex": "SCRIPT:asktool[touch {}]", "opencode": "SCRIPT:tool[touch {}]"}
DIALOG = {"claude": "Do you want to", "codex": "Would you like to", "opencode": "Permission required"}

Make = Callable[..., LabDuo]


@pytest.fixture
def make(home: Path) -> Iterator[Make]:
    """Makes a duo of which only the reviewer runs: `make(program, window=…)`."""
    with ExitStack() as ends:

        def made(program: str, window: float = WINDOW_S) -> LabDuo:
            there = ends.enter_context(lab(program, home / program))
            return ends.enter_context(lab_duo(there, program, window=window)).alone("review")

        yield made


def count_keys(duo: LabDuo) -> None:
    """From now on the tmux server writes down each paste and each key that a command sends."""
    for command in ("paste-buffer", "send-keys"):
        duo.tmux("set-hook", "-g", f"after-{command}", "set-option -sa @typed x")


def keys_sent(duo: LabDuo) -> int:
    return len(duo.tmux("show-options", "-sqv", "@typed").strip())


def submits(duo: LabDuo) -> None:
    """A person presses Enter, and again when the program has swallowed it, as Codex does right after a key."""
    for _ in range(5):
        duo.keys("review", "Enter")
        with suppress(AssertionError):
            wait_for(lambda: duo.arrived(f"^{DRAFT}{REST}$"), 2, "the person's words at the model")
            return


@pytest.mark.parametrize("program", ["pi", "claude", "codex", OPENCODE])
def test_a_relay_waits_for_the_end_of_a_persons_sentence(make: Make, program: str) -> None:
    """A draft stands as it was typed, and is sent as its writer ends it; the relay follows once, by itself."""
    duo = make(program, WINDOW_S * (4 if program in HEAVY else 1))  # nothing may be due before the draft is there
    duo.up()
    duo.at_rest()
    count_keys(duo)
    duo.keys("review", "-l", DRAFT)
    duo.wait("gate.raised", gate="human-typing", role="review")
    before, shown = keys_sent(duo), written(duo)
    assert before == len(shown) == 1, "the tmux server counts, and there is one draft"
    duo.mat("send", "duo", "review", "Merge it.")
    deferred = duo.wait("ladder.deferred", 30)
    assert "human-typing/review" in str(deferred.data["gates"])
    assert written(duo) == shown
    assert keys_sent(duo) == before
    assert not duo.entries("relay.delivered")
    duo.keys("review", "-l", REST)
    wait_for(lambda: DRAFT + REST in duo.screen("review"), 20, "the whole sentence")
    submits(duo)
    duo.wait("relay.delivered", 40)
    duo.wait_arrived(r"^\[relay")
    duo.at_rest()
    assert duo.arrived(f"^{DRAFT}{REST}$") == 1, duo.story()
    assert duo.arrived(r"^\[relay r-000001 from human\]\nMerge it\.") == 1
    assert others(duo) == 2
    told = program != "opencode"  # nothing but a hook tells who typed a prompt
    assert len(duo.entries("human.acted")) == told


def others(duo: LabDuo) -> int:
    """How many texts reached the model, but for nudges: on a slow machine one may be due before the test has looked."""
    return duo.arrived("") - duo.arrived(NUDGE)


def written(duo: LabDuo) -> list[str]:
    """The rows of the screen that hold the draft."""
    return [row.rstrip() for row in duo.screen("review").splitlines() if DRAFT in row]


@pytest.mark.parametrize("program", ["claude", "codex", OPENCODE])
def test_a_permission_dialog_holds_everything_until_it_is_approved(make: Make, program: str) -> None:
    """For three windows in which a rung is due not a byte reaches the pane; the human is asked once and reminded once;
    an approval at the screen lets the turn and the relay that waited go on."""
    duo = make(program, window=AFTER_THE_QUESTION_S * (2 if program in HEAVY else 1))
    duo.up()
    duo.at_rest()
    count_keys(duo)
    made = duo.work / MADE[program]
    duo.mat("send", "duo", "review", ASKS[program].format(MADE[program]))
    wait_for(lambda: DIALOG[program] in duo.screen("review"), 30 * duo.patience, "the dialog")
    before = keys_sent(duo)
    assert before >= 2, "the tmux server counts a paste and an Enter"
    duo.mat("send", "duo", "review", "Go on.")
    asked = duo.wait("question.asked", 45)
    duo.wait("engine.told", 90, count=2, ok=True)
    assert [e.data["kind"] for e in duo.entries("notify")] == ["question", "gate"]
    assert "awaiting-human" in str(duo.entries("notify")[-1].data["gates"])
    assert DIALOG[program] in duo.screen("review")
    assert keys_sent(duo) == before
    assert not made.exists()
    duo.keys("review", "Enter")
    answered = duo.wait("question.answered", 20, question=asked.data["question"])
    wait_for(made.exists, 20 * duo.patience, "what was approved")
    duo.wait("relay.delivered", 40, count=2)
    duo.wait_arrived("Go on.$")
    duo.at_rest()
    assert others(duo) == 2
    assert not [e for e in duo.entries("nudge") if e.at <= answered.at]
    assert len(duo.entries("question.asked")) == 1
    assert duo.told().count("duo: a dialog on review's screen waits for you") == 1


@pytest.mark.parametrize(
    ("program", "word", "shows"),
    [
        ("claude", "slow20", "piece 3"),
        ("claude", "silent20", "SCRIPT:silent20"),  # its prompt comes back into the composer
        ("codex", "slow20", "piece 3"),
        ("pi", "slow20", "piece 3"),
        opencode_with("slow20", "piece 3"),
    ],
)
def test_an_interrupt_at_the_screen_ends_the_turn(make: Make, program: str, word: str, shows: str) -> None:
    """Escape is told by no hook of Claude Code and Codex; their screens tell it, and the seat is free in seconds."""
    duo = make(program, 600)
    duo.up()
    duo.at_rest()
    duo.mat("send", "duo", "review", f"SCRIPT:{word}")
    wait_for(lambda: shows in duo.screen("review"), 30, "work on the screen")
    duo.wait("role.busy", role="review")
    duo.wait_arrived(f"SCRIPT:{word}")
    duo.keys("review", "Escape")
    if program == "opencode":
        wait_for(lambda: "esc again to interrupt" in duo.screen("review"), 20, "its wish for a second one")
        duo.keys("review", "Escape")
    pressed = time.time()
    ended = duo.wait("turn.ended", 20)
    assert ended.data["outcome"] == "error", duo.story()
    assert ended.wall - pressed < ENDS_S * duo.patience, duo.story()
    assert [e.data["status"] for e in duo.entries("wake.closed")] == ["failed"]
    duo.at_rest()
    if word.startswith("silent"):
        duo.wait("gate.raised", gate="human-typing")
        assert duo.arrived("") == 1
        return
    duo.mat("send", "duo", "review", "Go on.")
    duo.wait_arrived("Go on.$")
