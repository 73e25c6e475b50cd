"""The rendered prompt of each role, made at `mat up` and again where somebody cleaned it away."""

from __future__ import annotations

from pathlib import Path

from matcore.engine.heartbeat import replace
from matcore.engine.jobs import places_of
from matcore.engine.ledger import Ledger
from matcore.words import prompts


def write(ledger: Ledger, goal: str | None, *, only_missing: bool = False) -> list[str]:
    """Render the prompts into the session's folder. Returns the roles. Raises `BadConfig` (a prompt), `OSError`."""
    folder = places_of(ledger).prompts
    names = list(ledger.config["roles"])
    written = []
    for name, role in ledger.config["roles"].items():
        path = folder / f"{name}.md"
        if only_missing and ("prompt" not in role or path.exists()):
            continue
        others = [other for other in names if other != name]
        text = prompts.render(
            role["prompt"],
            workdir=Path(ledger.workdir),
            variables={
                "role": name,
                "peer": others[0] if others else name,
                "peers": ", ".join(others),
                "session": ledger.session,
                "goal": goal or ledger.config.get("goal") or "",
                "send_relay": ledger.command,
            },
        )
        replace(path, text.encode())
        written.append(name)
    return written
