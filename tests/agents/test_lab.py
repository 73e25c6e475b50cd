"""The lab: what is missing is said, the network holds nothing but loopback, and nothing outlives it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.agents.lab import Lab, lab
from tests.agents.namespace import NoNamespace, loopback_only
from tests.waiting import wait_for


@pytest.mark.parametrize(
    ("name", "required", "outcome", "words"),
    [
        ("pi", None, "Skipped", r"^pi is not installed: run \.ci/install-agents$"),
        ("pi", "1", "Failed", "but pi is not installed"),
        ("codex", "1", "Skipped", r"^codex is not installed: run \.ci/install-agents --all$"),
        ("codex", "all", "Failed", "but codex is not installed"),
        ("opencode", "1", "Skipped", "^opencode is heavy: make test-agents runs it$"),
        ("opencode", "all", "Failed", "but opencode is not installed"),
    ],
)
def test_a_missing_program_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, required: str | None, outcome: str, words: str
) -> None:
    """Skipped with the reason and what to do; failed where the programs are required: in CI two, by name all."""
    monkeypatch.setenv("MAT_AGENTS_DIR", str(tmp_path / "nothing"))
    monkeypatch.delenv("MAT_REQUIRE_AGENTS", raising=False)
    if required is not None:
        monkeypatch.setenv("MAT_REQUIRE_AGENTS", required)
    with pytest.raises(BaseException, match=words) as caught, lab(name, tmp_path):
        pytest.fail("there is no such program")
    assert caught.typename == outcome


def test_no_address_but_loopback_is_reached(pi: Lab) -> None:
    """Whatever a program calls home with, nobody hears it."""
    if not pi.prefix:
        pytest.skip("MAT_AGENTS_OPEN_NETWORK=1")
    assert pi.run(["ip", "-brief", "address"]).stdout.split()[0] == "lo"
    assert pi.run(["ip", "route"]).stdout == ""


def test_the_environment_is_the_labs_own(pi: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the caller's gets in, keys least of all."""
    monkeypatch.setenv("SECRET_OF_THE_CALLER", "x")
    assert "SECRET_OF_THE_CALLER" not in pi.run(["env"]).stdout
    assert str(pi.home) in pi.run(["env"]).stdout


def test_a_namespace_ends_with_all_that_is_in_it() -> None:
    """Daemons too: they are found by the namespace, not by their parents."""
    try:
        with loopback_only() as namespace:
            daemon = subprocess.Popen([*namespace.prefix, "setsid", "sh", "-c", "trap '' TERM; sleep 1000 & wait"])
            wait_for(lambda: len(namespace.members()) > 2, 10, "the daemon and its child")
            members = namespace.members()
    except NoNamespace as error:
        pytest.skip(str(error))
    daemon.wait(10)
    assert not [process for process in members if process.is_running()]
