"""What a user gets wrong, through the real commands: the exit code, what is wrong and where, and what to do next."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

BIN = Path(sys.executable).parent
Run = Callable[..., subprocess.CompletedProcess[str]]
DUO = {"session": "duo", "roles": {"dev": {"backend": "scripted"}, "review": {"backend": "scripted"}}}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`run(program, *words, **env)` in `tmp_path/work`, with a state folder and a home of its own."""
    (tmp_path / "work").mkdir()

    def call(program: str, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        whole = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state"), **env}
        return subprocess.run(
            [BIN / program, *words], cwd=tmp_path / "work", env=whole, capture_output=True, text=True, timeout=30,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    return call


def write(folder: Path, data: object) -> None:
    socket = {"tmux": {"socket": str(folder / "s")}}
    text = data if isinstance(data, str) else yaml.safe_dump({**data, **socket}, sort_keys=False)  # type: ignore[dict-item]
    (folder / "work" / "duo.yaml").write_text(text, encoding="utf-8")


def started(folder: Path) -> list[str]:
    """What a launch leaves: a journal, a tmux server, the session's folder."""
    left = (*(folder / "state").rglob("journal.db"), *folder.glob("s"), *(folder / "work" / ".mat").glob("**"))
    return [str(path) for path in left]


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_all_faults_of_a_duo_yaml_in_one_answer(run: Run, tmp_path: Path, dry: tuple[str, ...]) -> None:
    """Unknown key, misspelt backend, a window of -5, two roles of one name: each with its line."""
    write(
        tmp_path,
        "session: duo\n"
        "drivr: tmux\n"
        "roles:\n"
        "  dev: {backend: cluade}\n"
        "  dev: {backend: claude}\n"
        "  review: {backend: codex}\n"
        "recovery: {window: -5}\n",
    )
    done = run("mat", "up", *dry)
    assert done.returncode == 2
    assert done.stdout == ""
    for line in (
        'duo.yaml:2: no key "drivr" here; did you mean "driver"?',
        'duo.yaml:4: roles.dev.backend: no backend "cluade"; did you mean "claude"?',
        'duo.yaml:5: roles: "dev" is there twice, first on line 4; keep one',
        "duo.yaml:7: recovery.window: must be more than 0 seconds",
    ):
        assert line in done.stderr
    assert started(tmp_path) == []


def test_prompts_that_do_not_exist(run: Run, tmp_path: Path) -> None:
    """Exit 2, the key's path, and where they were looked for; nothing starts."""
    roles = {name: {"backend": "scripted", "prompt": f"no-{name}"} for name in ("dev", "review")}
    write(tmp_path, {**DUO, "roles": roles})
    done = run("mat", "up")
    assert done.returncode == 2
    assert "duo.yaml:5: roles.dev.prompt: there is no prompt 'no-dev.md'" in done.stderr
    assert "roles.review.prompt" in done.stderr
    assert started(tmp_path) == []


@pytest.mark.parametrize("driver", ["tmux", "baton"])
def test_a_program_that_is_not_on_path(run: Run, tmp_path: Path, driver: str) -> None:
    """Exit 3 and which, and nothing is left behind; a dry run warns of it."""
    roles = {**DUO["roles"], "review": {"backend": "opencode"}}  # type: ignore[dict-item]
    write(tmp_path, {**DUO, "driver": driver, "roles": roles})
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = run("mat", "up", PATH=path)
    assert done.returncode == 3
    assert re.search(r"'?opencode'? is not on PATH", done.stderr)
    assert started(tmp_path) == []
    dry = run("mat", "up", "--dry-run", PATH=path)
    assert dry.returncode == 0
    assert "opencode is not on PATH" in dry.stderr


def test_a_tmux_that_is_missing(run: Run, tmp_path: Path) -> None:
    """Exit 3 with the command that installs it, from `up` and from `demo`; the demo leaves nothing behind."""
    (tmp_path / "bin").mkdir()
    write(tmp_path, DUO)
    for words in (("up",), ("demo",)):
        done = run("mat", *words, PATH=str(tmp_path / "bin"), TMPDIR=str(tmp_path / "bin"))
        assert done.returncode == 3
        assert "tmux is not on PATH; nothing was started. First: " in done.stderr
        assert not list((tmp_path / "bin").iterdir())
    assert started(tmp_path) == []


def test_a_directory_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    """Exit 1 with the path, and no traceback."""
    write(tmp_path, DUO)
    (tmp_path / "work" / ".mat").write_text("in the way")
    done = run("mat", "up")
    assert done.returncode == 1
    assert str(tmp_path / "work" / ".mat") in done.stderr
    assert "Traceback" not in done.stderr
    assert started(tmp_path) == []


def test_a_file_that_is_not_there(run: Run) -> None:
    """Exit 2 and the command that writes one."""
    done = run("mat", "up")
    assert done.returncode == 2
    assert "mat init" in done.stderr


def test_what_init_writes_is_valid(run: Run) -> None:
    """`mat up --dry-run` takes it as it is; a second `mat init` does not write over it."""
    assert run("mat", "init").returncode == 0
    done = run("mat", "up", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "no notification would reach a person" in done.stderr
    again = run("mat", "init")
    assert again.returncode == 1
    assert "--force" in again.stderr
    assert run("mat", "init", "--force", "--json").returncode == 0


def test_send_relay_outside_of_a_session(run: Run) -> None:
    """Exit 2 and a sentence that says how to name one, and what a human says instead."""
    done = run("send-relay", "review", "HANDOFF.md")
    assert done.returncode == 2
    assert "MAT_SESSION" in done.stderr
    assert "mat send SESSION ROLE TEXT" in done.stderr
    assert "nothing sent" in done.stderr


@pytest.mark.parametrize("content", [None, ""])
def test_send_relay_with_no_file_or_an_empty_one(run: Run, tmp_path: Path, content: str | None) -> None:
    """Exit 1, and it ends with `nothing sent`."""
    root = tmp_path / "work" / ".mat" / "duo"
    root.mkdir(parents=True)
    about = '{"v":1,"session":"duo","workdir":"%s","state_dir":"%s","roles":[{"name":"dev","dir":"%s"},{"name":"review","dir":"%s"}]}'  # noqa: E501
    work = tmp_path / "work"
    (root / "session.json").write_text(about % (work, tmp_path / "state" / "mat", work, work))
    if content is not None:
        (work / "HANDOFF.md").write_text(content)
    done = run("send-relay", "review", "HANDOFF.md", MAT_SESSION="duo", MAT_ROLE="dev", MAT_DIR=str(root))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.strip().endswith("nothing sent")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("stauts",), 2, 'Did you mean "mat status"?'),
        (("status", "nobody"), 1, "start one: mat up"),
        (("why",), 1, "start one: mat up"),
        (("send", "nobody", "dev", "x"), 1, "start one: mat up"),
        (("down", "nobody"), 1, "start one: mat up"),
        (("attach",), 1, "start one: mat up"),
        (("restart", "nobody", "dev"), 1, "start one: mat up"),
        (("pause", "nobody"), 1, "start one: mat up"),
        (("cycle", "open"), 2, "--session"),
        (("screen", "cluade", "x"), 2, "did you mean"),
        (("notify", "--test"), 2, "duo.yaml"),
    ],
)
def test_every_refusal_says_what_to_do(run: Run, words: tuple[str, ...], code: int, said: str) -> None:
    """One sentence on stderr, nothing on stdout, and the exit code of the table."""
    done = run("mat", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


def test_without_a_home(run: Run) -> None:
    """Commands that only read still answer."""
    assert run("mat", "status", HOME="", XDG_STATE_HOME="").returncode == 0


@pytest.mark.parametrize("env", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_any_terminal_will_do(run: Run, env: dict[str, str]) -> None:
    """No encoding and no kind of terminal is a fault."""
    for words in (("--help",), ("status",), ("doctor",), ("explain",)):
        done = run("mat", *words, **env)
        assert done.returncode in (0, 1)
        assert "Traceback" not in done.stderr
        assert "\x1b" not in done.stdout


def test_a_full_disk_is_no_mistake_of_ours() -> None:
    """Exit 3, in words."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([BIN / "mat", "explain"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert "No space left" in done.stderr


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_is_no_mistake_of_ours(streams: str) -> None:
    """What it would have said goes nowhere, and the exit code is the same."""
    words = ["sh", "-c", f'exec "$@" {streams}', "sh", str(BIN / "mat"), "explain"]
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("command", ["init", "up", "doctor", "status"])
def test_a_directory_that_is_gone_is_no_mistake_of_ours(tmp_path: Path, command: str) -> None:
    """Whatever can't be done without one says so."""
    words = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh", str(BIN / "mat"), command]
    env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1, 2, 3)
    assert "Traceback" not in done.stderr
