"""Every key of `duo.yaml`, typed: what it may be, what it is where it is left out, and what it is for.

Each field carries the reader that makes its value of what a person wrote, and a `Meta` for `docs/duo-yaml.md`, which is
drawn from here: `title` is the kind of value, `description` a sentence or two, `examples` one that can be copied.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from matcore.engine import configchecks as checks
from matcore.engine.shaped import by_name, in_order, number, several, struct, text
from matcore.engine.yamltree import Faults, Tree

DURATION, SIZE, LIST, SECTION = "duration", "size", "list", "keys, see below"
"""Kinds of value that come more than once."""


def _variables(tree: Tree, path: str, faults: Faults) -> object:
    if isinstance(tree.value, dict):
        return faults.add(
            tree.line, path, "must be a list of names such as [OPENAI_API_KEY]; values are taken from your environment"
        )
    return several(text(checks.variable), "[OPENAI_API_KEY]")(tree, path, faults)


class NotifyCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A program that gets the message on its stdin. Exit code 0 means that it took the message.

    It runs in the file's directory, started by the supervisor, and has ten seconds.
    """

    command: Annotated[
        tuple[str, ...],
        in_order(text(), "[notify-send, mat]"),
        Meta(title="list: program and arguments", description="Run as it stands, without a shell.",
             examples=["[notify-send, mat]"]),
    ]  # fmt: skip


def _channel(tree: Tree, path: str, faults: Faults) -> object:
    if isinstance(tree.value, dict):
        return struct(NotifyCommand)(tree, path, faults)
    return text(checks.url)(tree, path, faults)


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """One agent seat. Its name is chosen by you: lower-case letters, digits and hyphens, a letter first, 32 at most;
    `agents` and `human` are no names. The order of the roles decides ties, and who is meant first."""

    backend: Annotated[
        str,
        text(checks.backend),
        Meta(title="name of a profile", examples=["claude"],
             description="The agent program. Profiles that come with mat: {backends}; your own: "
             "[writing a backend profile](writing-a-backend-profile.md)."),
    ]  # fmt: skip
    prompt: Annotated[
        str,
        text(checks.matching(checks.PATH_LIKE, "prompt's name")),
        Meta(title="name of a Markdown file", examples=["duo-dev"],
             description="Looked up in `.mat/agents/` beside the file, then in `~/.config/mat/agents/`, then among "
             "those that come with mat: {prompts}.", extra={"default": "`duo-ROLE`"}),
    ] = ""  # fmt: skip
    kick: Annotated[
        str | None,
        text(),
        Meta(title="text", examples=['"Work on TASK.md"'],
             description="Said once, as you, when the agent is ready for the first time.",
             extra={"default": "nothing is said"}),
    ] = None  # fmt: skip
    dir: Annotated[
        str | None,
        text(checks.folder),
        Meta(title="directory", examples=["../shop-review"],
             description="Where the agent works; a relative one counts from the file's directory.",
             extra={"default": "the file's directory"}),
    ] = None  # fmt: skip
    permissions: Annotated[
        str,
        text(checks.matching(checks.PATH_LIKE, "word for permissions")),
        Meta(title="word of the profile", examples=["acceptEdits"],
             description="What the agent may do without asking. `default` leaves it to the program; other words are "
             "those of the program: {permissions}."),
    ] = "default"  # fmt: skip
    args: Annotated[
        tuple[str, ...],
        in_order(text(), "[--model, NAME]"),
        Meta(title=LIST, examples=["[--model, opus]"], description="More arguments for the program, after mat's own.",
             extra={"default": "none"}),
    ] = ()  # fmt: skip
    env: Annotated[
        tuple[str, ...],
        _variables,
        Meta(title="list of names", examples=["[OPENAI_API_KEY]"],
             description="Variables of your shell that the agent needs. Names only: values stay out of every file and "
             "every command line. `mat up` warns of those that are not set.", extra={"default": "none"}),
    ] = ()  # fmt: skip


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    """When a standstill is noticed, and what is done about an agent that ends."""

    window: Annotated[
        float,
        number(checks.positive),
        Meta(title=DURATION, examples=["10m"],
             description="How long all must be quiet before the role that owes is woken; as long again before its peer "
             "is, and again before you are told."),
    ] = 600.0  # fmt: skip
    gate_settle: Annotated[
        float,
        number(checks.seconds),
        Meta(title=DURATION, examples=["30s"],
             description="How long a [gate](daily-use.md#gates) still holds after its reason is gone."),
    ] = 30.0  # fmt: skip
    progress_deadline: Annotated[
        float | None,
        number(checks.seconds),
        Meta(title=DURATION, examples=["6h"],
             description="You are told when nothing was handed over for this long, whatever moves meanwhile. 0 is off: "
             "agents that move without a handoff are then never reported.", extra={"default": "36 windows"}),
    ] = None  # fmt: skip
    restart: Annotated[
        str,
        text(checks.one_of("auto", "never")),
        Meta(title="`auto` or `never`", examples=["never"],
             description="Whether an agent that ended by itself is started again in its agent session, or left to "
             "`mat restart`."),
    ] = "auto"  # fmt: skip


class Handoff(msgspec.Struct, frozen=True, kw_only=True):
    """What is checked before a handoff is sent. The checks: {checks}."""

    require: Annotated[
        tuple[str, ...],
        several(text(checks.matching(checks.FRONT_KEY, "key of a front matter")), "[issue]"),
        Meta(title="list of keys", examples=["[issue]"],
             description="Keys that every handoff's front matter must have.", extra={"default": "none"}),
    ] = ()  # fmt: skip
    max_blocks: Annotated[
        int,
        number(checks.count),
        Meta(title="whole number, 1 or more", examples=["3"],
             description="After this many refusals in a row of one file by one role you are told, once."),
    ] = 3  # fmt: skip
    gates: Annotated[
        tuple[str, ...],
        several(text(checks.check), "[required-keys]"),
        Meta(title="list of checks", examples=["[verdict]"],
             description="Checks that must run inside `send-relay`. All do that are not in `commands`; a check that "
             "stands in both is refused.", extra={"default": "none"}),
    ] = ()  # fmt: skip
    commands: Annotated[
        tuple[str, ...],
        several(text(checks.check), "[required-keys]"),
        Meta(title="list of checks", examples=["[required-keys]"],
             description="Checks that are left to the agents, as `send-relay --check FILE`.",
             extra={"default": "none"}),
    ] = ()  # fmt: skip


class Tmux(msgspec.Struct, frozen=True, kw_only=True):
    """For `driver: tmux`."""

    socket: Annotated[
        str,
        text(checks.matching(checks.SOCKET, "socket's name or absolute path")),
        Meta(title="name or absolute path", examples=["mat"],
             description="The tmux server that the windows are in: a name as for `tmux -L`, a path as for `tmux -S`. "
             "By default one of mat's own, so that your sessions and your tmux.conf are not touched."),
    ] = "mat"  # fmt: skip


class Baton(msgspec.Struct, frozen=True, kw_only=True):
    """For `driver: baton`, see [headless duos](headless.md)."""

    turn_timeout: Annotated[
        float,
        number(checks.positive),
        Meta(title=DURATION, examples=["1h"], description="A turn that takes longer is ended."),
    ] = 3600.0
    output: Annotated[
        int,
        number(checks.size),
        Meta(title=SIZE, examples=["8MiB"],
             description="How much of what a turn prints is kept in its log, from 4KiB to 1TiB."),
    ] = 8 * 1024 * 1024  # fmt: skip


class Cycle(msgspec.Struct, frozen=True, kw_only=True):
    """Of one goal."""

    max_rounds: Annotated[
        int | None,
        number(checks.count),
        Meta(title="whole number, 1 or more", examples=["30"],
             description="After this many rounds (a handoff each way) mat asks you whether to go on; handoffs wait "
             "until you answer.", extra={"default": "no limit"}),
    ] = None  # fmt: skip


_ROLES = by_name(checks.name, struct(Role), "{dev: {backend: claude}, review: {backend: codex}}")


class SessionConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A whole configuration. The order of `roles` decides ties."""

    roles: Annotated[
        dict[str, Role],
        _ROLES,
        Meta(title="names with keys, see below", examples=["{dev: {backend: claude}, review: {backend: codex}}"],
             description="The agents: two for a duo, three or more for a team, or a single one."),
    ]  # fmt: skip
    session: Annotated[
        str,
        text(checks.name),
        Meta(title="name", examples=["shop-duo"],
             description="How every command calls it: lower-case letters, digits and hyphens, a letter first, 32 at "
             "most.", extra={"default": "the directory's name reduced to that, with `-duo`"}),
    ] = ""  # fmt: skip
    driver: Annotated[
        str,
        text(checks.driver),
        Meta(title="{drivers}", examples=["baton"],
             description="How agents are run: each in a window of its own, or as headless turns; or by a driver of "
             "[another package](writing-a-driver.md)."),
    ] = "tmux"  # fmt: skip
    goal: Annotated[
        str | None,
        text(),
        Meta(title="text", examples=['"TASK.md is done and reviewed"'],
             description="What the first cycle is to reach; it stands in the roles' prompts. `mat up --goal` takes its "
             "place.", extra={"default": "none"}),
    ] = None  # fmt: skip
    recovery: Annotated[Recovery, struct(Recovery), Meta(title=SECTION)] = Recovery()
    handoff: Annotated[Handoff, struct(Handoff), Meta(title=SECTION)] = Handoff()
    tmux: Annotated[Tmux, struct(Tmux), Meta(title=SECTION)] = Tmux()
    baton: Annotated[Baton, struct(Baton), Meta(title=SECTION)] = Baton()
    cycle: Annotated[Cycle, struct(Cycle), Meta(title=SECTION)] = Cycle()
    notify: Annotated[
        tuple[str | NotifyCommand, ...],
        several(_channel, '["ntfy://my-topic"]'),
        Meta(title="list of URLs and commands", examples=['["ntfy://my-topic", {command: [notify-send, mat]}]'],
             description="How you are reached: any [Apprise](https://github.com/caronc/apprise/wiki) URL (with the "
             "package `apprise`), or a program, see below. They are tried in this order until one takes the message. "
             "Test them: `mat notify --test`.", extra={"default": "nobody is told; `mat up` warns"}),
    ] = ()  # fmt: skip
    heartbeat: Annotated[
        str | None,
        text(checks.web_url),
        Meta(title="http(s) URL", examples=["https://example.org/ping/my-host"],
             description="Fetched once a minute while the session is watched: a dead-man's switch of your choice, for "
             "the case that the whole machine is gone.", extra={"default": "none"}),
    ] = None  # fmt: skip
