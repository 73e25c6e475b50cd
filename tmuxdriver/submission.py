"""A text that was submitted, and how a hook's report is known to be about it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from tmuxdriver.compare import squeeze

_RECOGNISED = 100
"""So many characters of a first line that was cut are enough to know it by."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A text of ours and the boot time of its first Enter."""

    text: str
    entered_s: float

    def is_in(self, data: Mapping[str, object]) -> bool:
        """Whether a prompt that a hook reported is, or carries, this text.

        A record has the digest of the prompt and the beginning of its first line. Programs trim prompts, and a draft
        may have been merged with ours: the first line, which names the message, is enough.
        """
        if data.get("prompt_sha256") == hashlib.sha256(self.text.encode()).hexdigest():
            return True
        first, heard = squeeze(self.text.strip().partition("\n")[0]), squeeze(str(data.get("prompt") or ""))
        return bool(first) and (first in heard or (len(heard) >= _RECOGNISED and heard in first))
