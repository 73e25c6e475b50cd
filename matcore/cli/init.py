"""`mat init`: writes a commented duo.yaml for the agent programs that are here."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from matcore.cli.common import backends, echo_json, json_option
from matcore.errors import MatError, Refused
from matcore.places import CONFIG_FILE

if TYPE_CHECKING:
    from tmuxdriver.profile import Profile

FIRST = ("claude", "codex", "pi", "opencode")
"""Of several that are here the earlier ones are proposed; all others with a profile follow by name."""
_TEMPLATE = """\
# One group of coding agents that mat supervises. Start it: mat up
# Every key is in docs/duo-yaml.md of mat; mat up --dry-run says what is wrong here, line by line.

# session: shop-duo          # default: this directory's name with -duo
driver: tmux                 # each role in a window of a tmux server of mat's own

roles:                       # agents are started in this order
  dev:
    backend: {dev}
    prompt: duo-dev          # shipped; your own: .mat/agents/duo-dev.md
    kick: "Work on TASK.md"  # said once, as you, when the agent is ready
    # args: [--model, NAME]  # more arguments for the program
    # env: [SOME_API_KEY]    # variables of your shell that it needs, by name
  review:
    backend: {review}
    prompt: duo-review
    # dir: ../shop-review    # a directory of its own

goal: "TASK.md is done and reviewed"

recovery:
  window: 10m                # how long all must be quiet before anybody is woken
  # progress_deadline: 6h    # how long may pass without a handoff, whatever moves
  # restart: never           # leave an agent that ended by itself to `mat restart`; by default it is resumed

# handoff: {{require: [issue]}}  # front-matter keys that every handoff must have

# How mat reaches you. Try it: mat notify --test
notify: []
#  - {{command: [notify-send, mat]}}   # any program; the message is on its stdin
#  - "ntfy://my-topic"               # any Apprise URL; in mat's folder: .venv/bin/pip install 'apprise>=1.8'
"""


@click.command()
@click.option("--force", is_flag=True, help="Write over a duo.yaml that is there.")
@json_option
def command(force: bool, as_json: bool) -> None:
    """Write a commented duo.yaml here, for the agent programs that are found on PATH."""
    path = Path(CONFIG_FILE)
    if not force and _is_used(path):
        raise Refused("duo.yaml is there already; edit it, or write over it: mat init --force")
    known = programs(Path.cwd())
    found = [backend for backend, each in known.items() if shutil.which(str(each.program))]
    dev = found[0] if found else FIRST[0]
    review = next((name for name in found if name != dev), dev)
    _write(path, _TEMPLATE.format(dev=dev, review=review))
    if as_json:
        echo_json({"file": str(path.absolute()), "dev": dev, "review": review, "found": found})
    else:
        _say(list(dict.fromkeys((dev, review))), found, known)


def programs(folder: Path) -> dict[str, Profile]:
    """The profiles of agent programs, those of `folder` and of the user included, by name; the proposed ones first."""
    from tmuxdriver import profile

    known = {}
    for backend in sorted(
        backends(folder), key=lambda name: (name not in FIRST, FIRST.index(name) if name in FIRST else 0, name)
    ):
        with suppress(MatError):  # a broken profile is for `mat doctor` to tell
            each = profile.load(backend, folders=(profile.project_folder(folder),))
            if each.program is not None:
                known[backend] = each
    return known


def _is_used(path: Path) -> bool:
    """Whether something stands in it: an empty file is as good as none."""
    try:
        return bool(path.read_bytes().strip())
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _write(path: Path, text: str) -> None:
    """Whole, or not at all: on a full disk a file that was there stays. Raises `Refused`."""
    whole = path.resolve()
    fresh = whole.with_name(f".{whole.name}.new")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(whole)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise Refused(f"{path.absolute()} can't be written: {error.strerror}; see to that, then: mat init") from error


def _say(named: list[str], found: list[str], known: Mapping[str, Profile]) -> None:
    if found:
        click.echo(f"wrote duo.yaml for {' and '.join(named)}; next: edit it, then mat up --dry-run, then mat up")
    else:
        programs = ", ".join(str(each.program) for each in known.values())
        click.echo(f"wrote duo.yaml; none of {programs} is on PATH, so install one first, and name it there")
        click.echo("until then `backend: scripted` plays one, without a model or a key: docs/scripted-agent.md of mat")
    for name in named:
        if name in found and known[name].sandbox:
            click.echo(f"note: {known[name].sandbox}")
