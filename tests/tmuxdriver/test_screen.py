"""What is read off a screen: marks count only where they can't be quoted, and what is neither is unknown."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmuxdriver import profile
from tmuxdriver.cells import Capture, Rows, Style
from tmuxdriver.compare import holds, normalise
from tmuxdriver.screen import read

RULE = "─" * 60

load = cache(profile.load)


def claude(*body: str, draft: str = "", footer: str = "  ? for shortcuts", title: str = "✳ Claude Code") -> Capture:
    text = "\n".join([*body, "", RULE, f"\u276f {draft}", RULE, footer])
    return Capture(text, {"pane_title": title})


def codex(*body: str, draft: str = "\x1b[2mAsk Codex to do anything\x1b[0m", title: str = "codex") -> Capture:
    text = "\n".join(
        [*body, "", f"\x1b[1m›\x1b[0m {draft}", "", "  m default · /w", "  ← for agents · ? for shortcuts"]
    )
    return Capture(text, {"pane_title": title})


QUOTED = [
    "● You said: esc to interrupt",
    "  esc to interrupt · ← for agents",
    "● ⠋ Working...",
    "• Working (2s • esc to interrupt)",
    "  Do you want to proceed?",
    " \u276f 1. Yes",
    "   2. No",
    "  Esc to cancel · Tab to amend",
    "  Press enter to confirm or esc to cancel",
    "Pane is dead (status 0, Mon Nov 30 14:37:58 2026)",
    "codex resume 01a22cd1-6564-7250-9489-0fbf6c65ea5e",
    "claude --resume 1276558e-b5ba-4e16-942c-bdcc52324dee",
]


@pytest.mark.parametrize("line", QUOTED)
def test_a_reply_that_quotes_a_mark_is_no_mark(line: str) -> None:
    """Whatever a reply says in its last lines, the agent is idle with an empty composer."""
    for name, capture in (("claude", claude(line)), ("codex", codex(line))):
        screen = read(load(name), capture)
        assert (screen.state, screen.dialog) == ("idle", None), name
        assert screen.composer in ("empty", "ghost")


def test_all_quotations_at_once_are_no_mark() -> None:
    """A reply that shows a whole dialog is still a reply."""
    assert read(load("claude"), claude(*QUOTED)).state == "idle"
    assert read(load("codex"), codex(*QUOTED)).state == "idle"


def test_a_dim_suggestion_is_no_draft() -> None:
    """Text that the program offers, with the cursor drawn over its first letter, holds nobody back; a person's does."""
    offered = '\x1b[7mT\x1b[0m\x1b[2mry "fix lint"\x1b[0m'
    assert read(load("claude"), claude(draft=offered)).composer == "ghost"
    assert read(load("claude"), claude(draft="Try\x1b[0m")).composer == "draft"
    assert read(load("claude"), claude(draft="\x1b[7mT\x1b[0m")).composer == "draft"
    assert read(load("claude"), claude(draft="\x1b[7m \x1b[0m")).composer == "empty"


def opencode(draft: str = "", *, right: str = "", cursor: str = "5,5", above: str = "     Done.") -> Capture:
    """opencode at rest with something to the right of its composer."""
    foot = f"  ╹{'▀' * 60}{right}\n   /w{' ' * 40}ctrl+p commands"
    rows = [above, "", "  ┃", f"  ┃  {draft:60}{right}", f"  ┃{right:>80}", "  ┃  Build · gpt · lab"]
    return Capture("\n".join(rows) + "\n" + foot, {"cursor_x": cursor.split(",")[0], "cursor_y": cursor.split(",")[1]})


def test_what_stands_beside_a_composer_is_not_in_it() -> None:
    """A wide window shows a sidebar there: its words are no draft, and a draft is read without them."""
    screen = read(load("opencode"), opencode(right="/home/me/project"))
    assert (screen.state, screen.composer) == ("idle", "empty")
    assert read(load("opencode"), opencode("do not mer", right="/home/me/project")).typed == "do not mer"


def test_a_suggestion_is_known_by_its_words_where_colours_are_a_matter_of_themes() -> None:
    """In any colour; a person's words in the same colour are a draft."""
    for colour in ("38;5;8", "38;2;128;128;128", "38;2;1;2;3"):
        offered = f'\x1b[{colour}mAsk anything… "Fix broken tests"\x1b[0m'
        assert read(load("opencode"), opencode(offered)).composer == "ghost"
        assert read(load("opencode"), opencode(f"\x1b[{colour}mAsk anything\x1b[0m")).composer == "draft"


def test_a_list_over_the_transcript_has_the_cursor_and_a_reply_that_quotes_it_has_not() -> None:
    """What takes the keys is told by the cursor, not by words."""
    listed = "          Commands              esc"
    assert read(load("opencode"), opencode(above=listed)).state == "idle"
    held = read(load("opencode"), opencode(above=listed, cursor="12,0"))
    assert (held.state, held.dialog, held.composer) == ("dialog", "other", "absent")
    assert read(load("opencode"), opencode(cursor="12,0")).state == "unknown"


def test_a_mark_in_a_colour_is_no_mark_in_another() -> None:
    """opencode's errors look like prompts, but for the colour of their bar."""
    red, blue = "\x1b[38;5;168m", "\x1b[38;5;75m"
    block = "  {}┃\x1b[0m  Usage limit. Try again in 5m\n     ▣  Build · gpt"
    limited = read(load("opencode"), opencode(above=block.format(red)))
    assert (limited.notes, limited.detail) == (("rate-limited", "error"), "Usage limit. Try again in 5m")
    assert read(load("opencode"), opencode(above=block.format(blue))).notes == ()


def test_a_draft_of_several_lines_is_read_whole() -> None:
    """Continuation rows lose their indent, a blank line inside stays inside."""
    screen = read(load("codex"), codex(draft="one\n  two\n\n  three"))
    assert (screen.composer, screen.typed) == ("draft", "one\ntwo\n\nthree")


def test_a_title_that_says_busy_outweighs_a_quiet_screen() -> None:
    """Programs stream without any mark on the screen."""
    assert read(load("codex"), codex("• text", title="⠇ task | codex")).state == "busy"


def test_without_the_title_it_needs_a_screen_is_unknown() -> None:
    """Codex that streams looks exactly like codex at rest."""
    assert read(load("codex"), codex("• text", title="")).state == "unknown"


def test_a_title_that_the_program_never_set_says_nothing() -> None:
    """tmux shows the host's name until a program sets a title; where titles are off, that is no sign of rest."""
    unset = codex("• text", title="vm")
    assert read(load("codex"), Capture(unset.text, {**unset.variables, "host": "vm"})).state == "unknown"
    assert read(load("codex"), Capture(unset.text, {**unset.variables, "host": "other"})).state == "idle"


def test_an_unknown_menu_is_a_dialog() -> None:
    """A numbered menu in the composer's place is never idle, whatever it asks."""
    menu = Capture("  Pick one\n\n \u276f 1. This\n   2. That\n\n  arrows to choose", {"pane_title": "✳ Claude Code"})
    screen = read(load("claude"), menu)
    assert (screen.state, screen.dialog, screen.composer) == ("dialog", "other", "absent")


def test_a_blank_screen_is_starting_and_a_strange_one_unknown() -> None:
    """Neither is idle."""
    assert read(load("claude"), Capture("\n\n\n")).state == "starting"
    assert read(load("claude"), Capture("bash-5.2$ ")).state == "unknown"


def test_a_prompt_that_is_not_ready_is_starting() -> None:
    """Codex paints its prompt a second before the trust dialog takes its place."""
    text = "\n\n\x1b[1m›\x1b[0m \x1b[2mAsk Codex to do anything\x1b[0m\n\n  loading"
    assert read(load("codex"), Capture(text, {"pane_title": "codex"})).state == "starting"


@given(st.text(max_size=400), st.sampled_from(["claude", "codex", "pi", "opencode", "qwen", "scripted"]))
def test_no_screen_breaks_the_reader(text: str, name: str) -> None:
    """Whatever a pane shows, there is an answer, the same each time."""
    capture = Capture(text, {"pane_title": text[:20]})
    assert read(load(name), capture) == read(load(name), capture)
    assert normalise(text) == normalise(text)


def test_styles_go_on_from_row_to_row() -> None:
    """A row's style depends on what stands above it."""
    rows = Rows(Capture("\x1b[2ma\nb\x1b[0mc\x1b[38;5;246md\x1b[38;2;1;2;3me\x1b[39;1;7mf"))
    assert rows.text == ["a", "bcdef"]
    assert rows.styles(1) == [
        Style(dim=True),
        Style(),
        Style(fg="38;5;246"),
        Style(fg="38;2;1;2;3"),
        Style(bold=True, reverse=True),
    ]


def test_what_moves_on_its_own_is_no_change() -> None:
    """Spinners, clocks, counters and colours don't tell two screens apart; words do."""
    one = normalise("\x1b[2m⠋ Working (3s)\x1b[0m  12.4k tokens 14:02:11 ")
    assert one == normalise("⠙ Working (14s)  13k tokens 14:02:25")
    assert one != normalise("⠙ Waiting (14s)  13k tokens 14:02:25")


def test_a_composer_holds_a_text_only_whole_and_alone() -> None:
    """However it is wrapped; not when a person has typed before, behind or inside it."""
    text = "[relay r-1 from dev]\nRead handoffs/1.md and answer with send-relay dev FILE."
    pasted = r"\[Pasted text #\d+ \+\d+ lines\]"
    assert holds(text.replace(" ", "\n"), text, pasted)
    assert holds("[Pasted text #3 +2 lines]", text, pasted)
    assert not holds("", text, pasted)
    assert not holds("do not mer" + text, text, pasted)
    assert not holds(text + "x", text, pasted)
    assert not holds("[Pasted text #3 +2 lines] and more", text, pasted)
    assert not holds(text[:30], text, pasted)


def test_a_small_composer_shows_the_end_of_a_text() -> None:
    """There it is proof, for that is where a person's words would be; any other piece of that size is not."""
    text = "[relay r-1 from dev]\nRead " + "handoffs/" * 20 + "1.md\nand answer with `send-relay dev FILE`."
    assert holds(text[-120:], text, None)
    assert not holds(text[-120:] + "x", text, None)
    assert not holds(text[-60:], text, None)
    assert not holds(text[20:140], text, None)
