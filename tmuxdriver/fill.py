"""Fills the placeholders of a profile's strings: `{name}`, and `{sha256(TEXT)}` for programs that know a hook by that.

Codex runs a hook only when the digest of its definition is trusted; with the digests of our own hooks in its arguments
a launch trusts these and no others, and writes nothing into the user's settings.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

_DIGEST = re.compile(r"\{sha256\((.*?)\)\}", re.DOTALL)


def filled(text: str, values: Mapping[str, str]) -> str:
    """`text` with the values of the names that are known; other words in braces stay as they are."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return _DIGEST.sub(lambda found: hashlib.sha256(found[1].encode()).hexdigest(), text)
