"""`baton.message/v1`: one message in one file, readable by any program; fields that are not ours are kept.

What mat delivers carries `delivery`, which names the delivery and not the message: the same relay may be delivered
again on purpose. Whatever else lies in a mailbox was put there by somebody, and is the human's word.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

SCHEMA = "baton.message/v1"
MAX_BYTES = 8 * 1024 * 1024


class EnvelopeError(ValueError):
    """The file is no envelope. Its text is the reason."""


class _Fields(msgspec.Struct):
    """The shape that is checked; everything else in the file passes through."""

    schema: str
    message_id: str
    to: str
    body: str
    conversation_id: str | None = None
    in_reply_to: str | None = None
    kind: str = "request"
    ts_ms: int = 0
    delivery: str | None = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """`data` is the whole object as it stands in the file."""

    message_id: str
    sender: str
    to: str
    body: str
    delivery: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    def encode(self) -> bytes:
        return msgspec.json.encode(dict(self.data))


def deliver(*, message_id: str, sender: str, to: str, body: str, cycle: str | None) -> Envelope:
    """A delivery of mat's own, new each time."""
    delivery = uuid.uuid4().hex
    data = {
        "schema": SCHEMA,
        "message_id": message_id,
        "conversation_id": cycle,
        "from": sender,
        "to": to,
        "in_reply_to": None,
        "kind": "request",
        "body": body,
        "ts_ms": time.time_ns() // 1_000_000,
        "delivery": delivery,
    }
    return Envelope(message_id, sender, to, body, delivery, data)


def decode(raw: bytes) -> Envelope:
    """Raises `EnvelopeError` for what is no envelope."""
    if len(raw) > MAX_BYTES:
        raise EnvelopeError(f"it has more than {MAX_BYTES} bytes")
    try:
        data = msgspec.json.decode(raw, type=dict[str, Any])
        fields = msgspec.convert(data, _Fields, strict=True)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise EnvelopeError(f"it is no {SCHEMA}: {error}") from error
    if fields.schema != SCHEMA:
        raise EnvelopeError(f"its schema is {fields.schema[:60]!r}, not {SCHEMA}")
    if not fields.body.strip() or not fields.message_id.strip():
        raise EnvelopeError("its body or its message_id is empty")
    sender = data.get("from")
    return Envelope(
        fields.message_id, sender if isinstance(sender, str) else "", fields.to, fields.body, fields.delivery, data
    )
