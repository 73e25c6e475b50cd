"""One step that the tmux server takes only if the pane is still as we saw it: checked and acted upon in one go.

A pane may die and a person may scroll or type between our look and our keys; `paste-buffer` into a dead pane ends a
3.3a server. So the server itself compares, right before it acts.
"""

from __future__ import annotations

from tmuxdriver.panes import Identity

_DONE, _HELD = "mat-done", "mat-held"
_FREE = ("pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized")
"""None of these may hold."""


def step(identity: Identity, act: str, otherwise: str = "", *, touched: str, cursor: str | None) -> list[str]:
    """The argv that does `act` in the pane `identity`, if it is alive, ours, in no mode, with input on and not
    synchronized; else `otherwise`. `was_done` reads what the server answers.

    And only if nobody has pressed a key at the session since it was `touched` (`session_activity`): tmux knows of the
    key that begins a draft before any screen shows it. Its clock has whole seconds, so this is for the first key, not
    for each; the `cursor` (`x/y`) tells of keys that the program has taken. None: it is not compared.
    """
    flags = ".".join(f"#{{?{name},1,0}}" for name in _FREE)
    place, stood = ("", "") if cursor is None else ("#{cursor_x}/#{cursor_y}", cursor)
    wanted = f"{identity.server_pid}.{identity.server_start}.{identity.pane_pid}.{touched}.{stood}.0.0.0.0"
    seen = f"#{{pid}}.#{{start_time}}.#{{pane_pid}}.#{{session_activity}}.{place}.{flags}"
    branches = [f"{act} ; display-message -p {_DONE}", f"{otherwise} ; display-message -p {_HELD}".lstrip(" ;")]
    return ["if-shell", "-F", "-t", identity.pane_id, f"#{{==:{seen},{wanted}}}", *branches]


def was_done(said: str) -> bool:
    """Whether the server took the step."""
    return _DONE in said.split("\n")
