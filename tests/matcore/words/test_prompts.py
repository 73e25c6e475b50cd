"""Prompts: includes, variables, and where they are looked up."""

from __future__ import annotations

from pathlib import Path

import pytest

import matcore
from matcore.errors import BadConfig
from matcore.words import prompts

VARIABLES = {"role": "dev", "peer": "review"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory whose `.mat/agents` can be written to, with an empty user configuration."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / ".mat" / "agents" / "shared").mkdir(parents=True)
    (tmp_path / "config" / "mat" / "agents").mkdir(parents=True)
    return tmp_path


def write(project: Path, name: str, text: str) -> None:
    (project / ".mat" / "agents" / name).write_text(text, encoding="utf-8")


def test_includes_and_variables_are_filled_in(project: Path) -> None:
    """Tags become what they name, in included files too, and values are put in as they are."""
    write(project, "p.md", "{{ include shared/rule.md }}\n\nYou are {{role}}.\n\n\n")
    write(project, "shared/rule.md", "Ask {{ peer }}.\n")
    assert prompts.render("p", workdir=project, variables=VARIABLES) == "Ask review.\n\nYou are dev.\n"
    odd = {**VARIABLES, "role": "{{peer}}"}
    assert "You are {{peer}}." in prompts.render("p.md", workdir=project, variables=odd)


def test_the_project_comes_first_then_the_user(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same name is taken from the project, else from the user's configuration, else from what is shipped."""
    assert "the developer" in prompts.render("duo-dev", workdir=project, variables=shipped_variables())
    user = project / "config" / "mat" / "agents" / "duo-dev.md"
    user.write_text("the user's", encoding="utf-8")
    assert prompts.render("duo-dev", workdir=project, variables={}) == "the user's\n"
    write(project, "duo-dev.md", "the project's")
    assert prompts.render("duo-dev", workdir=project, variables={}) == "the project's\n"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(project))
    assert prompts.folders(project)[1] == project / ".config" / "mat" / "agents"


def test_all_faults_are_told_at_once(project: Path) -> None:
    """Each fault names its file: an unknown variable, a missing include, a tag that is not closed."""
    write(project, "p.md", "{{rolle}} {{include shared/no.md}} {{include ../../etc}} {{role\n")
    with pytest.raises(BadConfig) as caught:
        prompts.render("p", workdir=project, variables=VARIABLES)
    told = caught.value.faults
    assert len(told) == 4
    assert "never closed" in told[0]
    assert "rolle" in told[1]
    assert "known are peer, role" in told[1]
    assert "shared/no.md" in told[2]
    assert "../../etc" in told[3]
    assert all("p.md" in fault for fault in told)


def test_a_prompt_that_is_nowhere_is_a_fault(project: Path) -> None:
    """The fault says where it was looked for."""
    with pytest.raises(BadConfig, match=r"no prompt 'q\.md' \(looked in .*agents"):
        prompts.render("q", workdir=project, variables=VARIABLES)


def test_a_circle_is_a_fault(project: Path) -> None:
    """A file that includes itself, even by way of another, is named and not followed."""
    write(project, "p.md", "{{include shared/a.md}}")
    write(project, "shared/a.md", "{{include p.md}}")
    with pytest.raises(BadConfig, match=r"p\.md > shared/a\.md > p\.md"):
        prompts.render("p", workdir=project, variables=VARIABLES)


def test_the_shipped_ones_are_found_in_a_wheel_and_in_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package carries its prompts inside; a checkout has them beside it."""
    assert (prompts.shipped_agents() / "duo-dev.md").is_file()
    package = tmp_path / "matcore"
    (package / "_agents").mkdir(parents=True)
    monkeypatch.setattr(matcore, "__file__", str(package / "__init__.py"))
    assert prompts.shipped_agents() == package / "_agents"
    (package / "_agents").rmdir()
    assert prompts.shipped_agents() == tmp_path / "agents"


def shipped_variables() -> dict[str, str]:
    return {
        "role": "dev",
        "peer": "review",
        "peers": "review",
        "session": "shop-duo",
        "goal": "TASK.md is done",
        "send_relay": "send-relay",
    }


@pytest.mark.parametrize("name", ["duo-dev", "duo-review", "dev", "plan", "review"])
def test_each_shipped_prompt_teaches_the_two_rules_once(name: str, project: Path) -> None:
    """Each includes the shared pages exactly once, renders with the variables of `mat up`, and names every command."""
    raw = (prompts.shipped_agents() / f"{name}.md").read_text(encoding="utf-8")
    for page in ("communication", "idle-recovery"):
        assert raw.count(f"{{{{include shared/{page}.md}}}}") == 1
    text = prompts.render(name, workdir=project, variables=shipped_variables())
    assert "{{" not in text
    for word in ("send-relay", "notify-user", "mat wait", "mat cycle complete", "mat cycle blocked", "--ack"):
        assert word in text
    for rule in ("Plain text is local", "Classify before you write", "If nobody needs an answer, stop"):
        assert text.count(rule) == 1


def test_the_idle_recovery_rule_stands_in_one_place() -> None:
    """`agents/shared/idle-recovery.md` is the one page with the rule, and says all of it."""
    shipped = prompts.shipped_agents()
    holders = [path for path in shipped.rglob("*.md") if "IDLE RECOVERY" in path.read_text(encoding="utf-8")]
    assert holders == [shipped / "shared" / "idle-recovery.md"]
    rule = holders[0].read_text(encoding="utf-8")
    for part in (
        "[relay-redelivery=idle-recovery]",
        "fresh work",
        "read",
        "processed but undelivered",
        "no reason to ask",
    ):
        assert part in rule
