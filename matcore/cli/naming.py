"""Which session and which role is meant: the arguments SESSION and ROLE, how the shell completes them, what is said
where one is left out, and which session a command takes that may do without.

A session that is needed and not named is never guessed, for what follows acts on it; but the sessions are named, so
that the next attempt is right.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from matcore.cli.common import SHOWN, book_of, known, live_book, places, role_of, running
from matcore.errors import BadConfig, MatError, Refused
from matcore.places import CONFIG_FILE, StatePlaces
from matcore.show.text import plain

_OF_ENDED = ("verify",)
"""Commands that need a session and take one that has ended."""
Command = Callable[..., Any]


def the_only(state: StatePlaces, *, ended_too: bool = True) -> str:
    """The session that is meant where none was named: the only one, this directory's, or the only one that is up.

    `ended_too`: whether one that has ended may be meant by not naming it. Raises `BadConfig` where one has to be
    named, `Refused` where there is none that could be.
    """
    up = running(state)
    names = known(state) if ended_too else up
    mine = here(state)
    if len(names) == 1 and (ended_too or mine is None):
        return names[0]
    if mine is None and len(up) == 1:
        return up[0]
    if mine is None:
        asked = which(state, click.get_current_context().command_path, ended_too=ended_too)
        raise BadConfig([asked]) if names else Refused(asked)
    return mine


def here(state: StatePlaces) -> str | None:
    """The session that the duo.yaml of this directory describes, if there is one of that name."""
    from matcore.engine import yamltree
    from matcore.engine.config import default_session

    file = Path(CONFIG_FILE)
    tree = yamltree.read(file, yamltree.Faults(file)) if file.is_file() else None
    if tree is None or not isinstance(tree.value, dict):
        return None
    named = tree.value.get("session")
    name = named.raw if named is not None and named.raw else default_session(Path.cwd().name)
    return name if name in known(state) else None


def which(state: StatePlaces, words: str, rest: str = "", *, ended_too: bool = True) -> str:
    """The question which session is meant, with those that there are and the command for the likeliest of them."""
    mine, up = here(state), running(state)
    names = sorted(
        known(state) if ended_too else up, key=lambda name: (name != mine, name not in up, "@" in name, name)
    )
    if not names:
        return "none is up; start one: mat up" if known(state) else "there is no session; start one: mat up"
    told = [plain(name) + _about(name, mine, up) for name in names[:SHOWN]]
    more = f" and {len(names) - SHOWN} more (mat status --all)" if len(names) > SHOWN else ""
    example = " ".join(word for word in (words, plain(names[0]), rest) if word)
    if len(names) == 1:
        return f"which session? There is {told[0]}: {example}"
    return f"which session? There are {', '.join(told)}{more}; for example: {example}"


def _about(name: str, mine: str | None, up: list[str]) -> str:
    over = "put aside" if "@" in name else "ended"
    said = [*(["this directory's"] if name == mine else []), *([over] if name not in up else [])]
    return f" ({', '.join(said)})" if said else ""


def question(error: click.MissingParameter) -> tuple[str, str] | None:
    """How the command is called, and what is asked where a session, a role or a text was left out, with what there is
    to choose from. None for any other parameter."""
    ask = _ASKED.get(error.param.name or "") if error.param is not None else None
    if ask is None or error.ctx is None or error.param is None:
        return None
    return _usage(error.ctx), ask(error.ctx, error.param)


def _usage(ctx: click.Context) -> str:
    """`mat send SESSION ROLE TEXT`: how the command is called at least."""
    return " ".join([ctx.command_path, *(word for each in ctx.command.params for word in _needed(ctx, each))])


def _needed(ctx: click.Context, parameter: click.Parameter) -> list[str]:
    """How a parameter that has to be given is written."""
    if not parameter.required:
        return []
    return [*parameter.opts[:1], "SESSION"] if isinstance(parameter, click.Option) else [parameter.make_metavar(ctx)]


def _after(ctx: click.Context, parameter: click.Parameter) -> list[str]:
    """What has to be given after it."""
    left = ctx.command.params[ctx.command.params.index(parameter) + 1 :]
    return [word for each in left for word in _needed(ctx, each)]


def _which_session(ctx: click.Context, parameter: click.Parameter) -> str:
    named = [ctx.command_path, *(parameter.opts[:1] if isinstance(parameter, click.Option) else [])]
    reads = ctx.info_name in _OF_ENDED
    return which(places(), " ".join(named), " ".join(_after(ctx, parameter)), ended_too=reads)


def _which_role(ctx: click.Context, parameter: click.Parameter) -> str:
    """Once the session is known to be there: what was left out is rather its name."""
    session = ctx.params["session"]
    try:
        book = live_book(places(), session)
    except MatError as error:
        return str(error)
    book.close()
    roles = list(book.ledger.config["roles"])
    example = " ".join(map(plain, [ctx.command_path, session, roles[0], *_after(ctx, parameter)]))
    return f"which role? {plain(session)} has {', '.join(map(plain, roles))}; for example: {example}"


def _what_text(ctx: click.Context, parameter: click.Parameter) -> str:
    """Once it is known to whom."""
    try:
        book = live_book(places(), ctx.params["session"])
        book.close()
        role_of(book, ctx.params["role"])
    except MatError as error:
        return str(error)
    return f"what is to be said? {parameter.make_metavar(ctx)} in quotes, or `-` to read it from standard input"


_ASKED: dict[str, Callable[[click.Context, click.Parameter], str]] = {
    "session": _which_session,
    "role": _which_role,
    "text": _what_text,
}


class SessionName(click.types.StringParamType):
    """A session's name; the shell completes it from those that have a journal."""

    name = "session"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        return [CompletionItem(name) for name in known(places()) if name.startswith(incomplete)]


class SessionOrFile(SessionName):
    """A session's name, or the path of a file."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        # The file's item comes first: in bash it empties what was offered before it.
        return [CompletionItem(incomplete, type="file"), *super().shell_complete(ctx, param, incomplete)]


class DriverName(click.types.StringParamType):
    """An installed driver."""

    name = "driver"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        from matcore.engine.drivers import names

        return [CompletionItem(name) for name in names() if name.startswith(incomplete)]


class RoleName(click.types.StringParamType):
    """A role of the session that was named before it."""

    name = "role"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        return [CompletionItem(role) for role in _roles(ctx) if role.startswith(incomplete)]


def _roles(ctx: click.Context) -> list[str]:
    session = ctx.params.get("session")
    if not session:
        return []
    try:
        book = book_of(places(), session)
    except MatError:
        return []
    with book.journal:
        return list(book.ledger.config.get("roles", {}))


def session_argument(*, required: bool = True, or_file: bool = False) -> Callable[[Command], Command]:
    """The argument SESSION, completed by the shell; with `or_file` SESSION|FILE."""
    kind, metavar = (SessionOrFile(), "SESSION|FILE") if or_file else (SessionName(), None)
    return click.argument("session", type=kind, required=required, metavar=metavar)


def role_argument(*, required: bool = True) -> Callable[[Command], Command]:
    """The argument ROLE, completed by the shell."""
    return click.argument("role", type=RoleName(), required=required)


def complete_names(command: click.Command) -> None:
    """Have the shell complete a session and a role where a command of another package takes one as plain text."""
    kinds = {"session": SessionName, "role": RoleName}
    for parameter in command.params:
        if parameter.name in kinds and type(parameter.type) is click.types.StringParamType:
            parameter.type = kinds[parameter.name]()
