"""`notify-user`: what an agent tells or asks the human. The supervisor passes it on; nothing here reaches a channel."""

from __future__ import annotations

import os
import sys

from matcore import spoolfile
from matcore.errors import BadConfig, Refused
from matcore.said_here import here
from matcore.said_run import asked, fact, parsed, waiting

NOTIFY_USAGE = """\
usage: notify-user [--action] MESSAGE    tell the human; --action: they have to do something
       notify-user --ask MESSAGE         ask the human; the answer comes as a message
MESSAGE `-` is read from stdin."""

MAX_MESSAGE_BYTES = 16 * 1024


def notify_user(argv: list[str]) -> str:
    """Tell or ask the human. Returns what is printed."""
    options, words = parsed(argv, NOTIFY_USAGE, flags=("--action", "--ask"))
    if "--help" in options:
        return NOTIFY_USAGE
    seat = here(os.environ, "notify-user")
    if not words or {"--action", "--ask"} <= options:
        raise BadConfig([f"{NOTIFY_USAGE}\nnothing sent"])
    text = _message(words)
    if "--ask" not in options:
        request = {"request": "notify-user", "action": "--action" in options, "text": text}
        spoolfile.write(seat.spool, {"session": seat.session, **request})
        return f"noted for the human{waiting(seat, 'the message')}"
    question = f"q-{spoolfile.new_id()[:12]}"
    spoolfile.write(seat.spool, fact(seat, "question.asked", question=question, role=seat.role, text=text))
    return asked(seat, question)


def _message(words: list[str]) -> str:
    data = sys.stdin.buffer.read(MAX_MESSAGE_BYTES + 1) if words == ["-"] else os.fsencode(" ".join(words))
    if len(data) > MAX_MESSAGE_BYTES:
        raise Refused("the message is longer than 16 KiB: write it to a file and name the file; nothing sent")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"the message is not UTF-8 (byte {error.start + 1}); nothing sent") from error
    if not text.strip():
        raise Refused("the message is empty; nothing sent")
    return text
