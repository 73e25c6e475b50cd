"""When a rate limit ends: read as all drivers do."""

from __future__ import annotations

from matcore.engine.resets import until as until
