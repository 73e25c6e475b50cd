"""The rendered prompt of each role, made at `mat up`, again where somebody cleaned it away, and for each new goal: an
agent that is started later must not find an old one in it."""

from __future__ import annotations

from pathlib import Path

from matcore.engine import wholefile
from matcore.engine.ledger import Ledger
from matcore.words import prompts


def write(ledger: Ledger, goal: str | None, *, only_missing: bool = False) -> list[str]:
    """Render the prompts into the session's folder; `goal` None is the session's own, as it is now.

    Returns the roles whose prompt is another now. Raises `BadConfig` (a prompt), `OSError`.
    """
    folder = ledger.places.prompts
    names = list(ledger.config["roles"])
    written = []
    for name, role in ledger.config["roles"].items():
        path = folder / f"{name}.md"
        if "prompt" not in role or (only_missing and path.exists()):
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
                "goal": goal or ledger.goal or "",
                "send_relay": ledger.command,
            },
        )
        if not _holds(path, text):
            wholefile.write(path, text.encode())
            written.append(name)
    return written


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode()
    except OSError:
        return False
