"""`mat hook BACKEND EVENT`: what an agent program says of itself, as a record in the user's spool.

A hook must never disturb the program that runs it: it takes what it gets on stdin within a second, keeps a few small
fields and no text of the conversation, prints nothing and exits 0 whatever happens.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
import time
from collections.abc import Sequence

from matcore import said_here, spoolfile

MAX_BYTES = 256 * 1024
MAX_TEXT = 200
WAIT_S = 1.0

KEPT = (
    "session_id",
    "turn_id",
    "thread-id",
    "turn-id",
    "hook_event_name",
    "type",
    "message",
    "error",
    "error_type",
    "error_details",
    "notification_type",
    "permission_mode",
    "reason",
    "source",
    "tool_name",
    "trigger",
    "outcome",
    "turn_started_boot_s",
    "stop_reason",
    "attempts",
    "ts_ms",
    "n",
)
"""The fields that may go into a record. Never a transcript, a tool's input or what the agent said last."""

_CUT_FIELD = re.compile(rb'(?<!\\)"([a-z_-]{4,20})"\s*:\s*"([^"\\]{0,200})"')


def hook_main(argv: Sequence[str]) -> int:
    """`argv`: backend, event, and for programs that say it there, the JSON as a third word. Returns 0, always."""
    try:
        _hook(list(argv))
    except (OSError, ValueError):
        # The program that runs the hook would show an error to its user, who can't do anything about it; the driver
        # sees by the screen what a lost hook would have told.
        return 0
    return 0


def _hook(argv: list[str]) -> None:
    session, role, root = (os.environ.get(name, "") for name in said_here.VARIABLES)
    given = argv[2].encode("utf-8", "replace")[:MAX_BYTES] if len(argv) > 2 else _stdin()
    if not (session and role and root) or len(argv) < 2:
        return
    record = {
        "session": session,
        "request": "hook",
        "role": role,
        "backend": argv[0][:MAX_TEXT],
        "event": argv[1][:MAX_TEXT],
        "boot_s": boot_s(),
        "data": small(given),
    }
    spoolfile.write(os.path.join(_state_dir(root, session), "spool"), record)


def boot_s() -> float:
    """Seconds since boot, time asleep included where the system counts it."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def small(given: bytes) -> dict[str, object]:
    """The fields of KEPT, strings cut to MAX_TEXT characters; of a prompt its first line, length and digest.

    JSON that was too long to be read whole gives what can be told for certain, and `cut`.
    """
    try:
        data = json.loads(given)
    except (ValueError, RecursionError):
        return _of_cut(given)
    if not isinstance(data, dict):
        return {}
    kept = {key: short for key in KEPT if key in data and (short := _short(data[key])) is not None}
    prompt = data.get("prompt")
    return {**kept, **_prompt(prompt)} if isinstance(prompt, str) else kept


def _of_cut(given: bytes) -> dict[str, object]:
    # An unescaped quote can't stand inside of a string: what matches is a key of its own.
    found = ((key.decode(), value.decode("utf-8", "replace")) for key, value in _CUT_FIELD.findall(given))
    kept: dict[str, object] = {}
    for key, value in found:
        if key in KEPT:
            kept.setdefault(key, value)
    return {**kept, "cut": True} if kept else {}


def _short(value: object) -> object:
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict):
        value = value.get("message") or value.get("type")
    return value[:MAX_TEXT] if isinstance(value, str) else None


def _prompt(prompt: str) -> dict[str, object]:
    import hashlib  # Here, because most hooks carry no prompt and need not pay for it.

    first = prompt.lstrip().partition("\n")[0]
    digest = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()
    return {"prompt": first[:MAX_TEXT], "prompt_sha256": digest, "prompt_length": len(prompt)}


def _stdin() -> bytes:
    """What stdin gives within WAIT_S, MAX_BYTES at most; the rest is read and dropped, so that no writer is cut off."""
    handle = sys.__stdin__.fileno() if sys.__stdin__ is not None else -1
    if handle < 0 or os.isatty(handle):
        return b""
    parts: list[bytes] = []
    size, end = 0, time.monotonic() + WAIT_S
    while (left := end - time.monotonic()) > 0 and select.select([handle], [], [], left)[0]:
        part = os.read(handle, 65536)
        if not part:
            break
        if size < MAX_BYTES:
            parts.append(part)
        size += len(part)
    return b"".join(parts)[:MAX_BYTES]


def _state_dir(root: str, session: str) -> str:
    """The supervisor's, by `session.json`: the agent's environment may name another."""
    try:
        with open(os.path.join(root, "session.json"), encoding="utf-8") as file:
            about = json.load(file)
    except (OSError, ValueError):
        about = {}
    known = isinstance(about, dict) and about.get("session") == session and about.get("state_dir")
    return str(known or said_here.default_state_dir())
