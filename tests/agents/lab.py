"""Everything that a real agent program needs to run without a key: a home, a model, a network, and an end.

    def test_something(pi: Lab) -> None:
        model = pi.model(rules)
        terminal = pi.terminal(pi.argv("--session", …))

Programs are looked for in `$MAT_AGENTS_DIR`, else in the repository's `.agents/node_modules/.bin`, where
`.ci/install-agents` puts them. A test whose program is not there is skipped with the reason; with
`MAT_REQUIRE_AGENTS=1` it fails where CI has the program, with `MAT_REQUIRE_AGENTS=all` it always fails. opencode takes
0.8 GB and up to 20 s to start: only with `all`, in `make test-agents`, is it started at all, and one at a time.

Programs run in a network namespace with loopback only. Where none can be made the test is skipped (or fails) likewise,
unless `MAT_AGENTS_OPEN_NETWORK=1` says that the machine's own network will do: the keys are dummies and every address
leads to the scripted model, but what a program calls home with can't be known.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests import leftovers
from tests.agents import model as scripted
from tests.agents.namespace import NoNamespace, loopback_only
from tests.agents.terminal import Terminal

REPOSITORY = Path(__file__).resolve().parents[2]
DUMMY_KEY = "dummy-key-of-the-lab"
IN_CI = ("pi", "claude")
HEAVY = ("opencode",)


def opencode_with(*values: object) -> Any:
    """opencode and further values, for a test that is parametrised by program: its tests run one after the other."""
    return pytest.param("opencode", *values, marks=pytest.mark.xdist_group("opencode"))


OPENCODE = opencode_with()


def program(name: str) -> Path | None:
    """The agent program `name`, if it is installed."""
    folder = os.environ.get("MAT_AGENTS_DIR") or str(REPOSITORY / ".agents" / "node_modules" / ".bin")
    path = Path(folder) / name
    return path if os.access(path, os.X_OK) and shutil.which("node") else None


def cannot(reason: str, name: str) -> NoReturn:
    """Skip with the reason, or fail where the tests of the program `name` are required."""
    required = os.environ.get("MAT_REQUIRE_AGENTS")
    if required == "all" or (required == "1" and name in IN_CI):
        pytest.fail(f"MAT_REQUIRE_AGENTS={required}, but {reason}")
    pytest.skip(reason)


@dataclass(frozen=True, slots=True)
class Model:
    """A scripted model that runs beside the agents. Its log is the judge of what arrived."""

    port: int
    log: Path

    def requests(self) -> list[dict[str, Any]]:
        return scripted.requests(self.log)

    def arrivals(self, pattern: str, *, system: str = "") -> int:
        return scripted.arrivals(self.requests(), pattern, system=system)

    def told(self, pattern: str) -> int:
        """How often texts that match were submitted, over all conversations."""
        return scripted.submissions(self.requests(), pattern)


@dataclass(slots=True)
class Lab:
    """One agent program with a home of its own. `home` and `work` have short paths; TMPDIR holds neither."""

    binary: Path
    root: Path
    prefix: tuple[str, ...]
    port: int = 0
    ends: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __post_init__(self) -> None:
        for folder in (self.home, self.work, self.temporary):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def home(self) -> Path:
        return self.root / "h"

    @property
    def work(self) -> Path:
        return self.root / "w"

    @property
    def temporary(self) -> Path:
        return self.root / "t"

    def env(self, **more: str) -> dict[str, str]:
        """All that a process of the lab sees. PATH leads to the program, node, mat's commands and the system."""
        node = shutil.which("node") or "node"
        folders = [self.binary.parent, Path(node).parent, Path(sys.executable).parent]
        clean = {
            "PATH": ":".join([*map(str, folders), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"]),
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENAI_API_KEY": DUMMY_KEY,
            "ANTHROPIC_API_KEY": DUMMY_KEY,
            "SCRIPTED_API_KEY": DUMMY_KEY,
        }
        mark = os.environ.get(leftovers.MARK)
        return clean | claude_env(self.port) | ({leftovers.MARK: mark} if mark else {}) | more

    def inside(self, argv: Sequence[str | Path]) -> list[str]:
        """The argv that runs `argv` in the lab's network."""
        return [*self.prefix, *map(str, argv)]

    def run(
        self, argv: Sequence[str | Path], *, env: Mapping[str, str] | None = None, timeout_s: float = 60.0
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end in `work`, with nothing on stdin. `env` is added to the lab's."""
        return subprocess.run(
            self.inside(argv),
            cwd=self.work,
            env=self.env(**(env or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def model(self, rules: Sequence[Mapping[str, object]] | Path = ()) -> Model:
        """Start the scripted model with a reply script and point the program at it."""
        log, script = self.root / "model.log", self.root / "replies.json"
        if isinstance(rules, Path):
            script = rules
        else:
            script.write_text(json.dumps(list(rules)), encoding="utf-8")
        server = subprocess.Popen(
            self.inside([sys.executable, REPOSITORY / "tests" / "agents" / "model.py", "0", log, script]),
            env=self.env(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.ends.callback(_end, server)
        assert server.stdout is not None
        self.port = int(server.stdout.readline())
        for configure in (configure_pi, configure_claude, configure_codex, configure_opencode):
            configure(self.home, self.work, self.port)
        return Model(self.port, log)

    def terminal(
        self, argv: Sequence[str | Path], *, env: Mapping[str, str] | None = None, size: tuple[int, int] = (120, 40)
    ) -> Terminal:
        """Start `argv` in a pane of a tmux server of its own."""
        terminal = Terminal(self.root / "tmux", self.prefix, self.env(**(env or {})))
        self.ends.callback(terminal.stop)
        terminal.start(list(map(str, argv)), self.work, size)
        return terminal


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.wait(timeout=5)
    if process.stdout is not None:
        process.stdout.close()


def configure_pi(home: Path, _work: Path, port: int) -> None:
    """pi's own configuration: one model, behind 127.0.0.1:PORT. pi asks nothing at its start."""
    folder = home / ".pi" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    provider = {
        "baseUrl": f"http://127.0.0.1:{port}/v1",
        "api": "openai-completions",
        "apiKey": "SCRIPTED_API_KEY",
        "models": [{"id": "scripted", "contextWindow": 200_000, "maxTokens": 8_000}],
    }
    settings = {
        "defaultProvider": "lab",
        "defaultModel": "scripted",
        "quietStartup": True,
        "enableInstallTelemetry": False,
        "retry": {"enabled": True, "maxRetries": 2, "baseDelayMs": 500, "provider": {"maxRetries": 0}},
    }
    (folder / "models.json").write_text(json.dumps({"providers": {"lab": provider}}), encoding="utf-8")
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")


def claude_env(port: int) -> dict[str, str]:
    """Where Claude Code finds its model, and what it leaves alone."""
    return {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "DISABLE_AUTOUPDATER": "1",
    }


def configure_claude(home: Path, work: Path, _port: int) -> None:
    """Claude Code's memory of what it has asked before: theme, API key (by its last 20 characters), trusted folder."""
    remembered = {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": "2.1.197",
        "theme": "dark",
        "customApiKeyResponses": {"approved": [DUMMY_KEY[-20:]], "rejected": []},
        "projects": {str(work): {"hasTrustDialogAccepted": True}},
    }
    (home / ".claude.json").write_text(json.dumps(remembered), encoding="utf-8")


def configure_codex(home: Path, work: Path, port: int) -> None:
    """Codex's own configuration: one model, a trusted folder, no question at its start."""
    folder = home / ".codex"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(
        f"""\
model = "scripted"
model_provider = "lab"
check_for_update_on_startup = false

[model_providers.lab]
name = "lab"
base_url = "http://127.0.0.1:{port}/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[projects."{work}"]
trust_level = "trusted"
""",
        encoding="utf-8",
    )


def configure_opencode(home: Path, _work: Path, port: int) -> None:
    """opencode's own configuration: one model. It asks nothing at its start. No plugin folder, and so no hooks: with
    one it waits more than a minute for a package registry before it paints anything."""
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "lab",
        "options": {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "{env:SCRIPTED_API_KEY}"},
        "models": {"scripted": {"name": "scripted", "limit": {"context": 200_000, "output": 8_000}}},
    }
    settings = {
        "provider": {"lab": provider},
        "model": "lab/scripted",
        "small_model": "lab/scripted",
        "autoupdate": False,
        "share": "disabled",
    }
    (folder / "opencode.json").write_text(json.dumps(settings), encoding="utf-8")


@contextlib.contextmanager
def lab(name: str, root: Path) -> Iterator[Lab]:
    """A lab for the program `name` below `root`; all that it started has ended afterwards."""
    binary = program(name)
    if name in HEAVY and os.environ.get("MAT_REQUIRE_AGENTS") != "all":
        pytest.skip(f"{name} is heavy: make test-agents runs it")
    if binary is None:
        cannot(f"{name} is not installed: run .ci/install-agents{'' if name in IN_CI else ' --all'}", name)
    with contextlib.ExitStack() as ends:
        prefix: tuple[str, ...] = ()
        if os.environ.get("MAT_AGENTS_OPEN_NETWORK") != "1":
            try:
                prefix = ends.enter_context(loopback_only()).prefix
            except NoNamespace as error:
                cannot(
                    f"no network namespace can be made here ({error}): run as root, or set MAT_AGENTS_OPEN_NETWORK=1",
                    name,
                )
        made = Lab(binary, root, prefix)
        ends.push(made.ends)
        yield made


@pytest.fixture
def pi(home: Path) -> Iterator[Lab]:
    """pi in a lab of its own."""
    with lab("pi", home / "pi") as made:
        yield made


@pytest.fixture
def claude(home: Path) -> Iterator[Lab]:
    """Claude Code in a lab of its own."""
    with lab("claude", home / "claude") as made:
        yield made


@pytest.fixture
def codex(home: Path) -> Iterator[Lab]:
    """Codex in a lab of its own."""
    with lab("codex", home / "codex") as made:
        yield made
