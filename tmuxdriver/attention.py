"""Who has touched a client lately: a person who is at it may defer us, a forgotten tab may not do so for ever."""

from __future__ import annotations

from collections.abc import Iterable

from tmuxdriver.panes import Client, Identity, Pane

RECENT_S = 60.0


class Attention:
    """tmux tells a client's last activity by the wall clock; what counts here is that the value changes."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, str, float]] = {}
        self._modes: dict[Identity, float] = {}

    def saw(self, clients: Iterable[Client], now_s: float, wall_s: float) -> None:
        """The clients that are attached now. A value that stands still grows old, whatever the wall clock does."""
        seen: dict[str, tuple[str, str, float]] = {}
        for client in clients:
            known = self._seen.get(client.name)
            if known is not None and known[1] == client.activity:
                touched_s = known[2]
            else:
                ago_s = wall_s - float(client.activity or wall_s)
                touched_s = now_s - min(max(ago_s, 0.0), 10 * RECENT_S)
            seen[client.name] = (client.session_id, client.activity, touched_s)
        self._seen = seen

    def is_on(self, pane: Pane, now_s: float) -> bool:
        """Whether somebody reads in a mode of that pane: it was entered, or a client of its tmux session was touched,
        within the last `RECENT_S`. A mode may be entered by a command, for a person whose last key is older; where no
        client is attached nobody reads.
        """
        if not pane.in_mode:
            self._modes.pop(pane.identity, None)
            return False
        entered_s = self._modes.setdefault(pane.identity, now_s)
        return any(
            where == pane.session_id and now_s - max(touched_s, entered_s) < RECENT_S
            for where, _, touched_s in self._seen.values()
        )
