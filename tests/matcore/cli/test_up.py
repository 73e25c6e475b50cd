"""What `mat up` and its dry run tell of a duo.yaml before the night does."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from matcore.engine import launch
from matcore.engine.launch import Launched
from matcore.words.prompts import shipped_agents
from tests.matcore.cli.conftest import Mat

DUO = """\
session: duo
driver: {driver}
roles:
  dev:    {{backend: scripted, env: [MAT_TEST_HERE]}}
  review: {{backend: scripted, env: [MAT_TEST_HERE, MAT_TEST_NOT]}}
notify: [{notify}]
"""


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is there, if only as an empty text, and one that is not."""
    monkeypatch.setenv("MAT_TEST_HERE", "")
    monkeypatch.delenv("MAT_TEST_NOT", raising=False)


@pytest.fixture(params=["dry", "up", "again"])
def told(request: pytest.FixtureRequest, mat: Mat, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`told(notify)`: what a dry run, an `up` and a second `up` say on stderr."""
    started = ("dev", "review") if request.param == "up" else ()
    monkeypatch.setattr(launch, "up", lambda *_, **__: Launched("duo", started, bool(started)))

    def tell(notify: str, driver: str = "tmux") -> str:
        Path("duo.yaml").write_text(DUO.format(notify=notify, driver=driver))
        code, _, err = mat("up", *(["--dry-run"] if request.param == "dry" else []))
        assert code == 0, err
        return err if request.param != "again" else f"again\n{err}"

    return tell


def test_variables_that_are_not_set(told: Any) -> None:
    """Each with its role and what to do, before an agent that is started lacks it; a running one has what it has."""
    said = told("{command: [cat]}")
    assert "MAT_TEST_HERE" not in said
    if said.startswith("again"):
        assert "MAT_TEST_NOT" not in said
    else:
        assert "WARNING: roles.review.env: MAT_TEST_NOT is not set in this shell" in said
        assert "First: export MAT_TEST_NOT=" in said
        assert "MAT_TEST_NOT is not set" in told("{command: [cat]}", "baton")


def test_channels_that_cannot_work(told: Any) -> None:
    """A program that is not there, by name or by path; all of them: nobody would be told."""
    said = told("{command: [mat-no-such]}, {command: [./tell.sh]}")
    assert "WARNING: notify: mat-no-such would reach nobody: it is not on PATH; install it, or name another." in said
    assert "WARNING: notify: ./tell.sh would reach nobody: it is no program that can be run; install it" in said
    assert "no notification would reach a person" in said
    assert "mend one of them, and try it: mat notify --test" in said
    Path("tell.sh").write_text("#!/bin/sh\n")
    Path("tell.sh").chmod(0o755)
    said = told("{command: [mat-no-such]}, {command: [./tell.sh]}")
    assert "tell.sh" not in said
    assert "no notification would reach a person" not in said
    assert "WARNING: notify: mat-no-such" in said


def test_a_url_without_apprise(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it, and without the URL, which may hold a token."""
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "apprise" else found(name, *rest)
    )
    said = told('"tgram://secret/chat"')
    assert "WARNING: notify: tgram://… would reach nobody: Apprise is missing; install it" in said
    assert "secret" not in said


@pytest.mark.parametrize("new", [True, False])
def test_a_goal_for_a_session_that_is_up(mat: Mat, monkeypatch: pytest.MonkeyPatch, new: bool) -> None:
    """It is not taken for the next one in silence."""
    monkeypatch.setattr(launch, "up", lambda *_, **__: Launched("duo", (), new))
    Path("duo.yaml").write_text(DUO.format(notify="{command: [cat]}", driver="tmux"))
    assert mat("up")[2] == ""
    err = mat("up", "--goal", "more")[2]
    assert new == (err == "")
    assert new or "keeps its goal; to open the next one: mat cycle open --session duo --goal TEXT" in err


def test_the_plan_as_json(mat: Mat) -> None:
    """The same as keys; stdout holds nothing else."""
    Path("duo.yaml").write_text(DUO.format(notify="{command: [mat-no-such]}", driver="baton"))
    code, out, _ = mat("up", "--dry-run", "--json")
    plan = json.loads(out)
    assert code == 0
    assert plan["missing"] == []
    assert plan["unset"] == ["review.MAT_TEST_NOT"]
    assert plan["silent"] == ["mat-no-such"]
    assert plan["config"]["session"] == "duo"


@pytest.mark.parametrize("words", [("up",), ("up", "--dry-run")])
@pytest.mark.parametrize(
    ("driver", "review", "said"),
    [
        (
            "tmux",
            "claude, permissions: mad",
            "duo.yaml:4: roles.review.permissions: claude has no 'mad'; it has default",
        ),
        (
            "baton",
            "claude, permissions: mad",
            "duo.yaml:4: roles.review.permissions: there is no 'mad' for headless turns",
        ),
        ("baton", "qwen", "qwen has no `headless:`; it can't be used with driver: baton"),
    ],
)
def test_what_the_driver_would_refuse(mat: Mat, words: tuple[str, ...], driver: str, review: str, said: str) -> None:
    """A dry run refuses what `up` refuses, all of it at once, and neither starts or writes anything."""
    lines = f"driver: {driver}\nroles:\n  dev: {{backend: codex, permissions: bad}}\n  review: {{backend: {review}}}\n"
    Path("duo.yaml").write_text(lines)
    code, out, err = mat(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert "roles.dev.permissions" in err
    assert not Path(".mat").exists()


def test_a_profile_of_the_project_s_own(mat: Mat) -> None:
    """Its program is looked for like any other's, and its faults are found."""
    profiles = Path(".mat/agents/backends")
    profiles.mkdir(parents=True)
    whole = (shipped_agents() / "backends" / "qwen.yaml").read_text()
    (profiles / "mine.yaml").write_text(whole.replace("name: qwen", "name: mine").replace("[qwen]", "[mat-no-such]"))
    (profiles / "torn.yaml").write_text("name: torn\n")
    Path("duo.yaml").write_text("roles: {dev: {backend: mine}}\nnotify: [{command: [cat]}]\n")
    code, out, err = mat("up", "--dry-run")
    assert code == 0, err
    assert out.startswith(f"{Path.cwd().name}-duo: valid; once mat-no-such can be found, mat up would start on tmux:")
    assert "WARNING: mat-no-such is not on PATH" in err
    Path("duo.yaml").write_text("roles: {dev: {backend: torn}}\n")
    code, _, err = mat("up", "--dry-run")
    assert code == 2
    assert "torn.yaml" in err


def test_all_faults_are_said_at_once_each_with_its_line(mat: Mat) -> None:
    """Prompts with the name that may have been meant, and their includes, beside folders, backends and channels."""
    Path(".mat/agents").mkdir(parents=True)
    Path(".mat/agents/own.md").write_text("{{include shared/idle-recovry.md}}\n{{nothing}}\n")
    Path("duo.yaml").write_text(
        "roles:\n"
        "  dev:\n"
        "    backend: scriptd\n"
        "    dir: nowhere\n"
        "  review:\n"
        "    backend: scripted\n"
        "    prompt: duo-reveiw\n"
        "  own: {backend: scripted, prompt: own}\n"
        "  plain: {backend: scripted}\n"
        "notify: [nothing]\n"
    )
    code, _, err = mat("up", "--dry-run")
    assert code == 2
    for said in (
        "duo.yaml:3: roles.dev.backend: no backend",
        "duo.yaml:4: roles.dev.dir: there is no directory",
        "duo.yaml:7: roles.review.prompt: there is no prompt 'duo-reveiw.md'",
        '; did you mean "duo-review"?',
        '; did you mean "shared/idle-recovery"?',
        "duo.yaml:8: roles.own.prompt: own.md: there is no prompt 'shared/idle-recovry.md'",
        "duo.yaml:8: roles.own.prompt: own.md: unknown variable {{nothing}}",
        "duo.yaml:9: roles.plain.prompt: there is no prompt 'duo-plain.md'",
        "duo.yaml:10: notify[0]: is no URL",
    ):
        assert said in err
    assert "roles.dev.prompt" not in err


@pytest.mark.parametrize("driver", ["tmux", "baton"])
def test_what_the_driver_refuses_has_its_line_too(mat: Mat, driver: str) -> None:
    """Beside a prompt that is not there."""
    Path("duo.yaml").write_text(
        f"driver: {driver}\n"
        "roles:\n"
        "  dev:\n"
        "    backend: claude\n"
        "    permissions: anything\n"
        "  review: {backend: claude, prompt: duo-reveiw}\n"
    )
    code, _, err = mat("up", "--dry-run")
    assert code == 2
    assert "duo.yaml:5: roles.dev.permissions: " in err
    assert "duo.yaml:6: roles.review.prompt: " in err
