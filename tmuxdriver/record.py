"""Saves what a pane shows, for a new profile or a report: a screen without its title and cursor is half a screen."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from matcore.errors import Unavailable
from tmuxdriver import panes
from tmuxdriver.cells import Rows
from tmuxdriver.server import NoServer, Tmux, TmuxError


def record(tmux: Tmux, pane_id: str) -> tuple[str, str, Mapping[str, str]]:
    """A pane's screen plain and with styles, and tmux's variables of the same moment. Raises `Unavailable`."""
    try:
        found = panes.capture(tmux, [pane_id]).get(pane_id)
    except NoServer as err:
        raise Unavailable(f"no tmux server runs on {tmux.socket}; --socket names another") from err
    except TmuxError as err:
        raise Unavailable(f"tmux does not answer on {tmux.socket}: {err}; --socket names another server") from err
    if found is None:
        asking = shlex.join([*tmux.prefix, "list-panes", "-a"])
        raise Unavailable(f"There is no pane {pane_id} on {tmux.socket}. Those that there are: {asking}")
    plain = "\n".join(Rows(found[1]).text).rstrip("\n") + "\n"
    variables = {name: value for name, value in found[0].values.items() if not name.startswith("@")}
    return plain, found[1].text.rstrip("\n") + "\n", variables
