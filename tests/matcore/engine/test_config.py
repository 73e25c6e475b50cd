"""`duo.yaml`: what is right is typed data, what is wrong is said all at once, each fault with its place."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcore.engine.config import (
    DoubleWired,
    NotifyCommand,
    SessionConfig,
    default_session,
    duration_s,
    from_json,
    load,
    to_json,
)
from matcore.errors import BadConfig

MINIMAL = "roles: {dev: {backend: claude}}\n"
WHOLE = """\
session: shop-duo
driver: tmux
roles:
  dev:    {backend: claude, prompt: duo-dev, kick: "Work on TASK.md"}
  review: {backend: codex, prompt: duo-review, dir: ../shop-review, permissions: default, env: [OPENAI_API_KEY]}
goal: "TASK.md is done and reviewed"
recovery: {window: 10m, gate_settle: 30s, progress_deadline: 6h}
handoff: {require: [issue], max_blocks: 3, gates: [], commands: []}
tmux: {socket: mat}
baton: {turn_timeout: 1h, output: 8MiB}
cycle: {max_rounds: 30}
notify: ["ntfy://my-topic", {command: [notify-send, mat]}]
heartbeat: https://example.org/ping/abc
"""


KEYS = ["roles", "dev", "backend", "notify", "command", "recovery", "window", "handoff", "gates", "env"]
SHAPES = st.recursive(
    st.sampled_from(["x", "1", "~", "true", "-1", '""']),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4).map(
            lambda pairs: f"{{{', '.join(f'{key}: {value}' for key, value in pairs.items())}}}"
        )
    ),
    max_leaves=12,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory `shop`, which is the current one, beside `shop-review`."""
    for name in ("shop", "shop-review"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path / "shop"


def loaded(text: str | bytes) -> SessionConfig:
    path = Path("duo.yaml")
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load(path, backends={"claude", "codex", "scripted"}, drivers={"tmux", "baton"})


def faults(text: str | bytes) -> list[str]:
    with pytest.raises(BadConfig) as raised:
        loaded(text)
    for fault in raised.value.faults:
        assert fault.startswith("duo.yaml")
        assert fault.isprintable()
    return list(raised.value.faults)


@pytest.mark.usefixtures("folder")
class TestWhatIsRight:
    def test_every_key_of_the_page(self, folder: Path) -> None:
        """The documented example is read into types, with durations in seconds and directories absolute."""
        config = loaded(WHOLE)
        assert config.session == "shop-duo"
        assert config.driver == "tmux"
        assert list(config.roles) == ["dev", "review"]
        assert config.roles["dev"].kick == "Work on TASK.md"
        assert config.roles["dev"].dir is None
        review = config.roles["review"]
        assert review.dir == str(folder.parent / "shop-review")
        assert (review.backend, review.prompt, review.permissions) == ("codex", "duo-review", "default")
        assert review.env == ("OPENAI_API_KEY",)
        assert config.goal == "TASK.md is done and reviewed"
        assert config.recovery.window == 600.0
        assert config.recovery.gate_settle == 30.0
        assert config.recovery.progress_deadline == 21_600.0
        assert (config.handoff.require, config.handoff.max_blocks) == (("issue",), 3)
        assert config.tmux.socket == "mat"
        assert (config.baton.turn_timeout, config.baton.output) == (3600.0, 8 * 1024 * 1024)
        assert config.cycle.max_rounds == 30
        assert config.notify == ("ntfy://my-topic", NotifyCommand(command=("notify-send", "mat")))
        assert config.heartbeat == "https://example.org/ping/abc"

    def test_one_role_is_enough(self) -> None:
        """Everything but the roles and their agent programs has a default."""
        config = loaded(MINIMAL)
        assert config.session == "shop-duo"
        assert config.driver == "tmux"
        assert config.roles["dev"].prompt == "duo-dev"
        assert config.roles["dev"].permissions == "default"
        assert config.recovery.window == 600.0
        assert config.recovery.progress_deadline is None
        assert config.notify == ()
        assert config.heartbeat is None

    @pytest.mark.parametrize("text", [MINIMAL, WHOLE])
    def test_it_goes_through_json_and_back(self, text: str) -> None:
        """What is journalled is plain data and makes the same configuration again."""
        config = loaded(text)
        assert from_json(to_json(config)) == config
        assert list(to_json(config)["roles"]) == list(config.roles)

    def test_what_is_no_journalled_configuration_is_named(self) -> None:
        """Other data raises `BadConfig` instead of half a configuration."""
        with pytest.raises(BadConfig, match="journalled configuration"):
            from_json({"roles": {"dev": {"backend": 7}}})

    def test_roles_stay_in_order(self) -> None:
        """The order of the file decides ties, not the alphabet."""
        config = loaded("roles: {zoe: {backend: claude}, abe: {backend: codex}, mia: {backend: claude}}")
        assert list(config.roles) == ["zoe", "abe", "mia"]

    def test_zero_turns_the_deadline_off(self) -> None:
        """`progress_deadline: 0` is kept apart from its being left out."""
        assert loaded(f"{MINIMAL}recovery: {{progress_deadline: 0}}").recovery.progress_deadline == 0.0

    def test_words_of_yaml_stay_words(self) -> None:
        """`no`, `on`, a version or a time of day is the text that was written."""
        config = loaded("roles: {dev: {backend: claude, kick: no}}\ngoal: 10:30\nhandoff: {require: [on]}")
        assert config.roles["dev"].kick == "no"
        assert config.goal == "10:30"
        assert config.handoff.require == ("on",)

    def test_a_key_left_empty_is_left_out(self) -> None:
        """An optional key without a value has its default."""
        config = loaded(f"{MINIMAL}goal:\nheartbeat: null\nrecovery:\nnotify:\n")
        assert config.goal is None
        assert config.recovery.window == 600.0

    def test_a_byte_order_mark_is_no_part_of_it(self) -> None:
        """Files of some editors begin with one."""
        assert loaded(b"\xef\xbb\xbf" + MINIMAL.encode()).session == "shop-duo"

    def test_installed_drivers_are_known(self) -> None:
        """Without a list, the drivers are those of the entry points."""
        Path("duo.yaml").write_text(MINIMAL)
        assert load(Path("duo.yaml")).driver == "tmux"
        Path("duo.yaml").write_text(f"{MINIMAL}driver: zellij")
        with pytest.raises(BadConfig, match=r'no driver "zellij"; there are: .*tmux'):
            load(Path("duo.yaml"))

    @pytest.mark.parametrize("home", ["~/agents", "/tmp"])
    def test_directories_may_be_absolute(self, home: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """`~` is the user's, an absolute directory stays."""
        monkeypatch.setenv("HOME", str(folder.parent))
        (folder.parent / "agents").mkdir()
        found = loaded(f"roles: {{dev: {{backend: claude, dir: {home}}}}}").roles["dev"].dir
        assert found == str(Path(home).expanduser())


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("10m", 600.0),
        ("1h30m", 5400.0),
        ("45s", 45.0),
        ("2d", 172_800.0),
        ("1h 5s", 3605.0),
        ("1.5s", 1.5),
        ("90", 90.0),
    ],
)
def test_durations(given: str, seconds: float) -> None:
    """People write 10m, 1h30m, 45s, or a number of seconds."""
    assert duration_s(given) == seconds


@pytest.mark.parametrize("given", ["", "m", "10m5h", "-5m", "ten", "1e3", "5 minutes", "0s", "9999999d", "1.5h", "nan"])
def test_what_is_no_duration(given: str) -> None:
    """Anything else is refused with a sentence that shows how it is written."""
    with pytest.raises(BadConfig, match=r"^the duration must be (written like|more than|between)"):
        duration_s(given)


@pytest.mark.parametrize(
    ("directory", "session"),
    [
        ("shop", "shop-duo"),
        ("My Shop (2)", "my-shop-2-duo"),
        ("2024-shop", "shop-duo"),
        ("Müller_Söhne", "muller-sohne-duo"),
        ("日本", "mat-duo"),
        ("x" * 60, "x" * 28 + "-duo"),
        ("", "mat-duo"),
    ],
)
def test_the_default_name(directory: str, session: str) -> None:
    """A session without a name gets its directory's, reduced to what a name may be."""
    assert default_session(directory) == session


@given(st.text())
def test_any_directory_gives_a_name(directory: str) -> None:
    """Whatever a directory is called, the default is a name."""
    assert re.fullmatch(r"[a-z][a-z0-9-]{0,31}", default_session(directory))


@pytest.mark.usefixtures("folder")
class TestWhatIsWrong:
    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("sesion: x", '1: no key "sesion" here; did you mean "session"?'),
            ("window: 5m", '1: no key "window" here; did you mean "recovery.window"?'),
            ("goal: x", "1: has no roles; add for example `roles: {dev: {backend: claude}, review: {backend: codex}}`"),
            ("goal: [a]", "1: goal: must be text, not a list"),
            ("driver: baten", '1: driver: no driver "baten"; did you mean "baton"?'),
            ("roles: {}", "1: roles: must be a mapping such as {dev: {backend: claude}, "),
            ("roles:\n  dev: {prompt: x}", "2: roles.dev: has no backend; add for example `backend: claude`"),
            ("roles: {dev: {backend: ~}}", "1: roles.dev.backend: is empty; write a text"),
            ("roles: {dev: {backend: claud}}", '1: roles.dev.backend: no backend "claud"; did you mean "claude"?'),
            (
                "roles: {dev: {backend: clod}}",
                '1: roles.dev.backend: no backend "clod"; did you mean "codex" or "claude"? There are: claude, codex, ',
            ),
            ("roles: {dev: {backend: vim}}", '1: roles.dev.backend: no backend "vim"; there are: claude, codex, '),
            ("roles: {human: {backend: claude}}", '1: roles: "human" is no name here, for mat uses it itself'),
            ("roles: {Dev: {backend: claude}}", '1: roles: "Dev" is no name: lower-case letters, digits and hyphens'),
            ("roles: {dev: {dir: ../nowhere}}", "1: roles.dev.dir: there is no directory"),
            ("roles: {dev: {prompt: ../x}}", '1: roles.dev.prompt: "../x" is no prompt'),
            ("session: agents", '1: session: "agents" is no name here, for mat uses it itself; choose another'),
            ("baton: {output: 8 bananas}", '1: baton.output: must be a size such as "8MiB" or a number of bytes'),
            ("baton: {output: 1KiB}", "1: baton.output: must be between 4KiB and 1TiB"),
            ("baton: {output: true}", '1: baton.output: must be a size such as "8MiB" or a number of bytes'),
            ("baton: {turn_timeout: 0}", "1: baton.turn_timeout: must be more than 0 seconds"),
            ("output: 8MiB", '1: no key "output" here; did you mean "baton.output"?'),
            ("recovery: {window: 0}", "1: recovery.window: must be more than 0 seconds"),
            ("recovery: {window: -5}", "1: recovery.window: must be more than 0 seconds"),
            ("recovery: {window: 0m}", "1: recovery.window: must be more than 0 seconds"),
            ("recovery: {window: true}", '1: recovery.window: must be a duration such as "10m" or a number of'),
            ("recovery: {window: [1]}", '1: recovery.window: must be a duration such as "10m" or a number of'),
            ("recovery: {gate_settle: -1}", "1: recovery.gate_settle: must be between 0 seconds and a year"),
            ("recovery: {progress_deadline: 1e99}", "1: recovery.progress_deadline: must be between 0 seconds and a"),
            ("handoff: {max_blocks: 1.5}", "1: handoff.max_blocks: must be a whole number, 1 or more"),
            ("handoff: {gates: [front-mater]}", '1: handoff.gates[0]: no check "front-mater"; did you mean "front-'),
            ("notify: ntfy://x", '1: notify: must be a list such as ["ntfy://my-topic"], not text'),
            ("notify: [hello]", "1: notify[0]: is no URL"),
            ("notify:\n- {command: []}", "2: notify[0].command: must be a list such as [notify-send, mat], not an e"),
            ("heartbeat: ftp://x", "1: heartbeat: must be a URL that begins with https:// or http://"),
            ("tmux: {socket: ../x}", '1: tmux.socket: "../x" is no socket\'s name or absolute path'),
            ("tmux: mat", "1: tmux: must be a mapping with socket; it is text"),
        ],
    )
    def test_each_fault_has_its_line_and_its_key(self, text: str, fault: str) -> None:
        """A sentence for each fault that says where it is and what may have been meant."""
        assert any(found.startswith(f"duo.yaml:{fault}") for found in faults(text)), faults(text)

    def test_all_faults_at_once(self) -> None:
        """Every fault of a file is said in one go, in order of the lines."""
        found = faults(
            "sesion: x\nroles:\n  dev: {backend: claud, promt: y}\n  agents: {backend: codex}\n"
            "recovery: {window: 0, gate_settle: soon}\nnotify: [x]\n"
        )
        assert [int(fault.split(":")[1]) for fault in found] == [1, 3, 3, 4, 5, 5, 6]

    def test_two_roles_of_one_name(self) -> None:
        """Plain YAML keeps the second and says nothing; here it is a fault."""
        found = faults("roles:\n  dev: {backend: claude}\n  dev: {backend: codex}\n")
        assert found == ['duo.yaml:3: roles: "dev" is there twice, first on line 2; keep one']

    def test_values_of_variables_are_not_shown(self) -> None:
        """A secret that somebody wrote where its name belongs is not repeated in the fault."""
        for env in ("{OPENAI_API_KEY: sk-secret}", '["OPENAI_API_KEY=sk-secret"]', "sk-secret"):
            found = faults(f"roles: {{dev: {{backend: claude, env: {env}}}}}")
            assert "secret" not in " ".join(found)
            assert "roles.dev.env" in found[0]

    def test_a_check_wired_twice(self) -> None:
        """The same check as a gate and as a command is `DoubleWired`, beside whatever else is wrong."""
        Path("duo.yaml").write_text(f"{MINIMAL}handoff: {{gates: [front-matter], commands: [front-matter]}}\nsesion: x")
        with pytest.raises(DoubleWired, match='"front-matter" is wired twice') as raised:
            load(Path("duo.yaml"))
        assert len(raised.value.faults) == 2
        assert raised.value.exit_code == 2

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("", "duo.yaml: is empty; `mat init` writes one"),
            (
                "# only a comment\n",
                "duo.yaml: holds no keys; write at least `roles:`, or have one written: `mat init -",
            ),
            ("- a\n- b\n", "duo.yaml:1: must be a mapping of keys such as `roles:`, not a list"),
            ("hello", "duo.yaml:1: must be a mapping of keys such as `roles:`, not text"),
            ("roles:\n\tdev: x\n", "duo.yaml:2: a tab where YAML wants spaces"),
            ("roles: {dev: {backend: claude}", "duo.yaml:1: is no YAML: "),
            ("a: 1\n---\nb: 2\n", "duo.yaml:2: is no YAML: "),
            (b"\x00\x01\x02", "duo.yaml: is not a text in UTF-8"),
            (b"\xff\xfe\x00", "duo.yaml: is not a text in UTF-8"),
            ("goal: \x07x", "duo.yaml: is no YAML: it holds characters that YAML does not allow"),
            ("a: &x [1]\nb: *x\n", "duo.yaml:1: anchors and aliases (& and *) are not read here; write the value out"),
            ("roles: !!python/object:os.system {}\n", "duo.yaml:1: tags (!) are not read here; write the plain value"),
            ("[" * 5000, "duo.yaml:1: is nested more than 16 levels deep"),
            ("? [a]\n: b\n", "duo.yaml:1: a key must be text"),
            ("x" * 300_000, "duo.yaml: is larger than 256 KiB, so it is no configuration"),
        ],
    )
    def test_what_is_no_configuration_at_all(self, text: str | bytes, fault: str) -> None:
        """Anything that is no YAML mapping of ours is one sentence, and takes no time or memory."""
        found = faults(text)
        assert found[0].startswith(fault), found

    def test_a_bomb_of_aliases(self) -> None:
        """A few lines that would unfold to gigabytes are refused before they are unfolded."""
        bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
        assert len(faults(bomb)) == 1

    def test_a_missing_file(self) -> None:
        """The sentence says how to make one."""
        with pytest.raises(BadConfig, match=r"nowhere\.yaml: there is no such file; `mat init` writes a duo\.yaml"):
            load(Path("nowhere.yaml"))

    def test_a_directory(self) -> None:
        """It is a sentence, not a traceback, and names the file that may have been meant."""
        Path("shop").mkdir()
        with pytest.raises(BadConfig, match=r"shop: is a directory; name a file, such as shop/duo\.yaml"):
            load(Path("shop"))

    @pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
    def test_a_file_that_may_not_be_read(self) -> None:
        """No permission is a sentence, too."""
        Path("duo.yaml").write_text(MINIMAL)
        Path("duo.yaml").chmod(0)
        with pytest.raises(BadConfig, match="Permission denied"):
            load(Path("duo.yaml"))

    @given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
    def test_any_text_is_a_configuration_or_bad(self, text: str) -> None:
        """Whatever stands in the file, loading it ends in a configuration or in faults."""
        try:
            loaded(text)
        except BadConfig as error:
            assert error.faults  # noqa: PT017 - either outcome is right

    @given(SHAPES)
    def test_any_shape_is_a_configuration_or_bad(self, text: str) -> None:
        """Whatever is put in place of whatever, the answer is typed data or faults."""
        try:
            loaded(text)
        except BadConfig as error:
            assert error.faults  # noqa: PT017 - either outcome is right
