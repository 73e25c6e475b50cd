"""What holds for every test: a home of its own, no way to the user's tmux server or keys, and nothing left behind."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import leftovers

TESTS = Path(__file__).parent

# Unset in every test: where the user's own sessions, tmux servers and keys could be reached from.
_FOREIGN = (
    "MAT_SESSION",
    "MAT_ROLE",
    "MAT_DIR",
    "TMUX",
    "TMUX_PANE",
    "NOTIFY_SOCKET",
    "DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
)
_FOREIGN_ENDINGS = ("_API_KEY", "_AUTH_TOKEN", "_BASE_URL")

settings.register_profile(
    "default",
    deadline=None,  # machines are noisy; how fast the rules are is measured, not tested
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

_GROUND = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Before any fixture: even a bare `tmux` lands on a socket of this run, and each child carries its mark.

    The folder has a short name of its own because a tmux socket's path may have 107 bytes.
    """
    ground = Path(tempfile.mkdtemp(prefix="mat-t-"))
    config.stash[_GROUND] = ground
    for name in ("tmux", "tmp"):
        (ground / name).mkdir(mode=0o700)
    for name in [*_FOREIGN, *(key for key in os.environ if key.endswith(_FOREIGN_ENDINGS))]:
        os.environ.pop(name, None)
    os.environ[leftovers.MARK] = uuid.uuid4().hex
    os.environ["TMUX_TMPDIR"] = str(ground / "tmux")


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(config.stash[_GROUND], ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The folder says what a test needs; without tmux the live ones are skipped, and the summary says so."""
    for item in items:
        room = item.path.relative_to(TESTS).parts[0] if item.path.is_relative_to(TESTS) else ""
        if room in {"agents", "live"}:
            item.add_marker(room)
        if item.get_closest_marker("slow") and os.environ.get("MAT_SLOW") != "1":
            item.add_marker(pytest.mark.skip(reason="takes long; MAT_SLOW=1 runs it, as .ci/run does"))
        if item.get_closest_marker("live") and not shutil.which("tmux"):
            item.add_marker(pytest.mark.skip(reason="tmux is not installed: apt-get install tmux"))


@pytest.fixture(scope="session", autouse=True)
def nothing_left_behind(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fails the run when a process or a tmux server that the tests started is still there at its end."""
    ground = pytestconfig.stash[_GROUND]
    places = (ground, tmp_path_factory.getbasetemp())
    yield
    left = leftovers.after_grace(os.environ[leftovers.MARK], places)
    assert not left, "left behind by the tests (ended now):\n" + "\n".join(left)
    strays = [str(socket) for socket in (ground / "tmux").glob("tmux-*/default")]
    assert not strays, f"a test used tmux without a socket of its own: {strays}"


@pytest.fixture(autouse=True)
def home(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty HOME for each test, with XDG_STATE_HOME and XDG_CONFIG_HOME below it."""
    ground = pytestconfig.stash[_GROUND]
    folder = Path(tempfile.mkdtemp(prefix="home-", dir=ground))
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.setenv("TMPDIR", str(ground / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
