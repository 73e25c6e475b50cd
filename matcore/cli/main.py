"""The composition root of the commands: which there are, in which group of `--help`, and what an error becomes.

Each command is a module of its own and imported when it is called: `mat --help` and `mat status` cost what they need.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import select
import sys
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from matcore.errors import BadConfig, MatError, OurMistake, Unavailable
from matcore.said_run import with_streams
from matcore.show.text import plain

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

SECTIONS: dict[str, dict[str, str]] = {
    "Begin": {
        "init": "Write a commented duo.yaml for the agent programs found here.",
        "up": "Launch a session and watch it; again: re-attach.",
        "attach": "Show a session's windows, or the logs of its turns.",
        "doctor": "What this machine lacks, each failure with its fix; changes nothing.",
        "demo": "A duo of scripted agents that stalls and recovers; no key needed.",
        "down": "End a session; keeps its journal and handoffs.",
        "prune": "Remove ended sessions, after saying which.",
    },
    "Look": {
        "status": "Who works, who owes what, what waits for you; --watch for live.",
        "why": "In sentences: who owes what, and what happens next.",
        "log": "The journal, one line an entry; -f follows.",
        "episodes": "One row for each run of the ladder.",
        "recap": "The morning page: cycles, stalls, what you were told, what waits.",
        "metrics": "OpenMetrics text, for a textfile collector.",
    },
    "Act": {
        "send": "A message from you to a role.",
        "answer": "Answer the open question.",
        "pause": "Wake nobody, for a time or until mat resume.",
        "resume": "Wake again after mat pause.",
        "restart": "Restart one role's agent, resuming its session.",
        "cycle": "Open the next goal, or end the one that is open.",
        "notify": "Test the notification channels.",
    },
    "For agents and services": {
        "wait": "Declare work that is under way (called by agents).",
        "hook": "Report an event of an agent program (called by hooks).",
        "supervise": "The supervisor in the foreground (systemd, containers).",
    },
    "The core": {
        "simulate": "Run scenarios in virtual time; --check compares.",
        "explain": "Print the rules' tables as Markdown.",
        "verify": "Fold a journal again and compare every decision.",
    },
}
_PLUGGED_HELP = {
    "screen": "What a profile makes of captured screens.",
    "record": "Save a pane's screen for a new profile or a report.",
    "worker": "Serve a headless session's roles in the foreground.",
}
_HELP = {name: text for section in SECTIONS.values() for name, text in section.items()}


PLUGGED = "mat.commands"
_INTERRUPTED = 130
_OF_THE_MACHINE = (
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENOTDIR, errno.EISDIR,
    errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE,
)  # fmt: skip
"""What a file system or a full machine says; anything else that escapes is a mistake of ours."""


def plugged() -> list[EntryPoint]:
    """The commands of drivers and other packages. Looked up when needed only: it reads every installed package."""
    from importlib.metadata import entry_points

    return sorted(entry_points(group=PLUGGED), key=lambda point: point.name)


class Commands(click.Group):
    """Built-in commands by module, those of drivers and other packages by the entry-point group `mat.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return [*_HELP, *(point.name for point in plugged())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name in _HELP:
            found: click.Command = importlib.import_module(f"matcore.cli.{cmd_name}").command
            return found
        for point in plugged():
            if point.name == cmd_name:
                from matcore.cli.naming import complete_names

                loaded: click.Command = point.load()
                complete_names(loaded)
                return loaded
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        found = self.get_command(ctx, name)
        if found is None and not name.startswith("-"):
            import difflib

            close = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f' Did you mean "mat {close[0]}"?' if close else " See: mat --help"
            raise click.UsageError(f'There is no command "{plain(name)}".{hint}')
        return (name, found, args[1:]) if found is not None else super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names and what they do, without importing a command."""
        options = super(click.Group, self).shell_complete(ctx, incomplete)
        named = [*_HELP.items(), *((point.name, _origin(point)) for point in plugged())]
        return [*(CompletionItem(name, help=text) for name, text in named if name.startswith(incomplete)), *options]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl(list(commands.items()))
        others = [(point.name, _told_by(point)) for point in plugged()]
        if others:
            with formatter.section("Of drivers and other packages"):
                formatter.write_dl(others)


def _told_by(point: EntryPoint) -> str:
    """What a plugged-in command says of itself; `--help` has the time to load one that we don't know."""
    if point.name in _PLUGGED_HELP:
        return _PLUGGED_HELP[point.name]
    try:
        command: click.Command = point.load()
        return command.get_short_help_str(80) or _origin(point)
    except Exception as error:  # noqa: BLE001 - somebody else's package; help is needed all the more
        return f"can't be loaded from {_module(point)}: {plain(error)}"


def _origin(point: EntryPoint) -> str:
    """What a plugged-in command does, where we know it, else where it comes from; loads nothing."""
    return _PLUGGED_HELP.get(point.name, f"A command of {_module(point)}.")


def _module(point: EntryPoint) -> str:
    return point.value.partition(":")[0]


_EPILOG = """\b
Names complete in your shell after, for example, in ~/.bashrc:
  eval "$(_MAT_COMPLETE=bash_source mat)"
(zsh_source in ~/.zshrc; in fish: _MAT_COMPLETE=fish_source mat | source)

\b
Exit codes: 0 done, 1 refused and nothing changed, 2 usage or configuration,
3 not available, 70 a mistake in mat itself."""


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.version_option(package_name="mat-supervisor", prog_name="mat")
def mat() -> None:
    """mat supervises groups of coding agents: it carries what they hand to each other, notices when the work has
    stopped, wakes the one who holds the baton, then its peer, then tells you exactly once.

    First: mat demo. Then, in your project: mat init, mat up."""


def main(argv: list[str] | None = None) -> None:
    """The console script. Exit codes: 0 done, 1 refused, 2 usage or config, 3 not available, 70 our own mistake."""
    sys.exit(run(argv))


def run(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code; errors are one sentence on stderr."""
    with_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 still gets the rest
    try:
        code = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_left()
    except SystemExit as e:  # click and rich both end the process themselves when the reader of a pipe has left
        left = isinstance(e.__context__, BrokenPipeError) or _has_no_reader()
        return _reader_left() if left else int(e.code or 0)
    return code


def _run(argv: list[str] | None) -> int:
    try:
        colour = False if os.environ.get("NO_COLOR") else None  # None: where stdout is a terminal
        code = mat.main(args=argv, prog_name="mat", standalone_mode=False, color=colour)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        return _INTERRUPTED
    except click.MissingParameter as e:
        return _missing(e)
    except click.ClickException as e:
        e.show()
        return BadConfig.exit_code
    except BrokenPipeError:
        raise
    except Exception as e:  # noqa: BLE001 - whatever escapes from a command is our own mistake, and says so
        return _failed(e)
    return code if isinstance(code, int) else 0


def _missing(error: click.MissingParameter) -> int:
    """Say what was left out, and what there is to choose from."""
    from matcore.cli import naming

    asked = naming.question(error)
    if asked is None:
        error.show()
        return BadConfig.exit_code
    click.echo(f"Usage: {asked[0]}", err=True)
    return _failed(BadConfig([asked[1]]))


def _failed(error: Exception) -> int:
    """Say it and return its exit code. Several faults are several lines, each harmless."""
    if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
        where = f"{error.filename}: " if error.filename else ""
        error = Unavailable(f"{where}{error.strerror}; see: mat doctor")
    elif isinstance(error, FileNotFoundError) and _stands_nowhere():
        error = Unavailable("this shell's directory is gone; cd to one that is there")
    elif not isinstance(error, MatError):
        import traceback

        traceback.print_exception(error)
        error = OurMistake(f"{type(error).__name__}: {error}")
    click.echo("\n".join(plain(line) for line in f"mat: {error}".splitlines()), err=True)
    return error.exit_code


def _stands_nowhere() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - as light as it gets
    except FileNotFoundError:
        return True
    return False


def _has_no_reader() -> bool:
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    except (OSError, ValueError):
        return False


def _reader_left() -> int:
    """`mat log | head`: whoever read has seen enough, and that is no fault. What is still buffered goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return 0


if __name__ == "__main__":
    main()
