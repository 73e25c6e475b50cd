"""What records of `mat hook` mean for a seat, by its program's profile, without a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from matcore.engine.driver import RoleSpec, SessionSpec, Sighting
from tmuxdriver.driver import TmuxDriver

SEAT = {"server_pid": "1", "server_start": "1", "pane_id": "%0", "pane_pid": "2"}
TOO_LONG = (
    '400 {"type":"error","error":{"type":"invalid_request_error","code":"invalid_request_error",'
    '"message":"prompt is too long: 213462 tokens > 200000 maximum"}}'
)


def heard(folder: Path, program: str, *events: tuple[str, dict[str, object]]) -> list[str]:
    """What follows from these hooks, one second after the other."""
    driver = TmuxDriver({"socket": "none"})
    role = RoleSpec("dev", program, folder, folder / "prompt.md")
    driver.adopt(SessionSpec("duo", folder, (role,), "/bin"), {"dev": SEAT})
    found: list[Sighting] = []
    for number, (event, data) in enumerate(events, start=1):
        hook = {"backend": program, "event": event, "boot_s": float(number), "data": data}
        found += driver.heard("duo", "dev", hook)
    return [" ".join([s.name, *(str(s.fields[k]) for k in ("gate", "outcome") if k in s.fields)]) for s in found]


def test_a_prompt_that_is_too_long_for_claude_is_a_full_context(tmp_path: Path) -> None:
    """It has compacted before it gives up; told before the turn's end, so that what it owed ends for that reason."""
    failure: dict[str, object] = {"error": "invalid_request", "error_details": TOO_LONG[:200]}
    found = heard(tmp_path, "claude", ("prompt-submitted", {}), ("turn-failed", failure))
    assert found[-3:] == ["context.exhausted", "turn.ended error", "role.idle"]


@pytest.mark.parametrize("failure", [{"error": "server_error"}, {"error": "invalid_request", "error_details": "400"}])
def test_another_failure_is_none(tmp_path: Path, failure: dict[str, object]) -> None:
    """A turn that failed, and nothing more."""
    found = heard(tmp_path, "claude", ("prompt-submitted", {}), ("turn-failed", failure))
    assert "context.exhausted" not in found
    assert found[-2:] == ["turn.ended error", "role.idle"]


def test_a_compaction_of_claude_holds_from_its_first_hook_to_its_second(tmp_path: Path) -> None:
    """However long it takes."""
    assert heard(tmp_path, "claude", ("compaction", {}), ("compacted", {})) == [
        "gate.raised compacting",
        "gate.cleared compacting",
    ]


def test_pi_tells_of_a_compaction_that_is_done(tmp_path: Path) -> None:
    """Nothing is held for it any more."""
    assert heard(tmp_path, "pi", ("compaction", {"tokens_before": 1000})) == []
