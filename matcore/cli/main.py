"""The composition root of the commands: which there are, in which group of `--help`, and what an error becomes.

Each command is a module of its own and imported when it is called: `mat --help` and `mat status` cost what they need.
"""

from __future__ import annotations

import difflib
import importlib
import sys
import traceback
from importlib.metadata import entry_points

import click

from matcore.errors import MatError, OurMistake

SECTIONS: dict[str, dict[str, str]] = {
    "Begin": {
        "init": "Write a commented duo.yaml for the agent programs found here.",
        "up": "Launch a session and watch it; again: re-attach.",
        "attach": "Show a session's windows.",
        "demo": "A duo of scripted agents that stalls and recovers; no key needed.",
        "down": "End a session; keeps its journal and handoffs.",
    },
    "Look": {
        "status": "The ladder at a glance; --watch for live.",
        "why": "In sentences: who owes what, and what happens next.",
        "log": "The journal, one line an entry; -f follows.",
        "episodes": "One row for each run of the ladder.",
    },
    "Act": {
        "send": "A message from you to a role.",
        "pause": "Hold the ladder.",
        "resume": "Free the ladder.",
        "restart": "Restart one role's agent, resuming its session.",
        "cycle": "Open, complete or block a cycle.",
        "notify": "Prove the notification channels.",
    },
    "For agents and services": {
        "wait": "Declare work that is under way (called by agents).",
        "hook": "Report an event of an agent program (called by hooks).",
        "supervise": "The supervisor in the foreground (systemd, containers).",
    },
    "The core": {
        "simulate": "Run scenarios in virtual time; --check compares.",
        "explain": "Print the rules' tables as Markdown.",
    },
}
_HELP = {name: text for section in SECTIONS.values() for name, text in section.items()}


class Commands(click.Group):
    """Built-in commands by module, those of drivers and other packages by the entry-point group `mat.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_HELP, *sorted(point.name for point in entry_points(group="mat.commands"))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _HELP:
            found: click.Command = importlib.import_module(f"matcore.cli.{cmd_name}").command
            return found
        for point in entry_points(group="mat.commands"):
            if point.name == cmd_name:
                loaded: click.Command = point.load()
                return loaded
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            close = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f' Did you mean "mat {close[0]}"?' if close else " See: mat --help"
            raise click.UsageError(f'There is no command "{name}".{hint}')
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl(list(commands.items()))
        others = [(p.name, f"from {p.value.partition(':')[0]}") for p in entry_points(group="mat.commands")]
        if others:
            with formatter.section("Of drivers and other packages"):
                formatter.write_dl(sorted(others))


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
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
    try:
        code = mat.main(args=argv, prog_name="mat", standalone_mode=False)
    except click.exceptions.Exit as e:
        return e.exit_code
    except click.Abort:
        click.echo("stopped; nothing else was changed", err=True)
        return 130
    except click.ClickException as e:
        e.show()
        return 2
    except MatError as e:
        click.echo(f"mat: {e}", err=True)
        return e.exit_code
    except BrokenPipeError:
        return 0
    except Exception as e:  # noqa: BLE001 - whatever escapes from a command is our own mistake, and says so
        traceback.print_exc()
        click.echo(f"mat: {OurMistake(f'{type(e).__name__}: {e}')}", err=True)
        return OurMistake.exit_code
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    main()
