"""`mat screen` and `mat record`: what a profile makes of a captured screen, and how one is captured.

Found through the entry-point group `mat.commands`, like the commands of any other driver.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from matcore.errors import BadConfig, Refused, Unavailable
from tmuxdriver import layout, profile
from tmuxdriver.record import record
from tmuxdriver.screen import screen_json
from tmuxdriver.server import Tmux, TmuxError

VARIABLES = ".vars.json"
_CURSOR = re.compile(r"(\d+),(\d+)")


class Backend(click.types.StringParamType):
    """An agent program that has a profile."""

    name = "backend"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        folders = (_project(), profile.user_folder(), profile.shipped_folder())
        names = {path.stem for folder in folders for path in folder.glob("*.yaml")}
        return [CompletionItem(name) for name in sorted(names) if name.startswith(incomplete)]


class PaneName(click.types.StringParamType):
    """An agent's pane as SESSION/ROLE, on the socket that was named before it."""

    name = "pane"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        try:
            names = layout.names(Tmux(socket=ctx.params.get("socket") or "mat"))
        except TmuxError:
            return []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command()
@click.argument("backend", type=Backend())
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--var", "given", multiple=True, metavar="NAME=VALUE", help="What tmux said, as title=… or cursor_x=…")
@click.option("--json", "as_json", is_flag=True, help="As always: one JSON object a line.")
def screen(backend: str, files: tuple[Path, ...], given: tuple[str, ...], as_json: bool) -> None:  # noqa: ARG001 - JSON is all there is
    """What BACKEND's profile makes of each captured screen, one JSON object a line.

    Files with styles (`.ansi.txt`, as `mat record` and `capture-pane -e` write them) say more than plain ones. The
    variables that `mat record` saved beside a file are read, too; --var goes before them."""
    known = profile.load(backend, folders=(_project(),))
    variables = _variables(given)
    for file in files:
        said = screen_json(known, _text(file), {**_saved(file), **variables})
        named = {"file": str(file), **said} if len(files) > 1 else said
        text = json.dumps(named, ensure_ascii=False, separators=(",", ":"))
        click.echo("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text))


@click.command("record")
@click.argument("pane", type=PaneName())
@click.option("--socket", default="mat", show_default=True, help="tmux's socket: a name, or an absolute path.")
@click.option("--name", help="How the files are called; by default after the pane and the time.")
@click.option(
    "--to", type=click.Path(path_type=Path, file_okay=False), default=Path(), help="The folder for the files."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object: the files' paths.")
def record_command(pane: str, socket: str, name: str | None, to: Path, as_json: bool) -> None:
    """Save the screen of PANE (SESSION/ROLE, or `%3`) plain, with styles, and with tmux's variables of that moment.

    What stands on the screen stands in the files: look before you hand them on."""
    tmux = Tmux(socket=socket)
    plain, styled, variables = record(tmux, pane if pane.startswith("%") else _pane_of(tmux, pane))
    stem = name or f"{re.sub(r'[^A-Za-z0-9]+', '-', pane).strip('-')}-{time.strftime('%Y%m%d-%H%M%S')}"
    contents = {
        "text": (f"{stem}.txt", plain),
        "styled": (f"{stem}.ansi.txt", styled),
        "variables": (f"{stem}{VARIABLES}", json.dumps(dict(variables), ensure_ascii=False, indent=1) + "\n"),
    }
    written = {key: _write(to / file, text) for key, (file, text) in contents.items()}
    if as_json:
        click.echo(json.dumps(written))
    else:
        click.echo("\n".join(f"wrote {path}" for path in written.values()))
        click.echo(f"next: mat screen BACKEND {written['styled']}")


def _project() -> Path:
    return Path(".mat") / "agents" / "backends"


def _variables(given: tuple[str, ...]) -> dict[str, str]:
    """`title=… cur=2,35` as tmux names them. Raises `BadConfig`."""
    wrong = [each for each in given if "=" not in each or each.startswith("=")]
    if wrong:
        raise BadConfig([f"--var {each!r}: say NAME=VALUE, as --var title=…" for each in wrong])
    found = dict(each.split("=", 1) for each in given)
    cursor = _CURSOR.fullmatch(found.pop("cur", ""))
    return {**found, "cursor_x": cursor[1], "cursor_y": cursor[2]} if cursor else found


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise BadConfig([f"{file}: {error.strerror}; name a screen that `mat record` or capture-pane wrote"]) from error


def _saved(file: Path) -> Mapping[str, str]:
    """What `mat record` wrote beside it."""
    beside = file.with_name(file.name.removesuffix(".txt").removesuffix(".ansi") + VARIABLES)
    if not beside.is_file():
        return {}
    try:
        data = json.loads(beside.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadConfig([f"{beside}: can't be read as JSON ({error})"]) from error
    return {str(key): str(value) for key, value in data.items()} if isinstance(data, dict) else {}


def _pane_of(tmux: Tmux, words: str) -> str:
    session, _, role = words.partition("/")
    if not session or not role:
        raise BadConfig([f"{words!r} is no pane: say %3 (tmux list-panes -a names them), or SESSION/ROLE"])
    try:
        found = layout.find(tmux, session)
        there = layout.names(tmux)
    except TmuxError as error:
        raise Unavailable(f"tmux does not answer on {tmux.socket}: {error}; --socket names another server") from error
    if role not in found:
        more = f"there is: {', '.join(there)}" if there else "none of mat's is there; --socket names another server"
        raise Refused(f"there is no pane {words} on {tmux.socket}; {more}")
    return found[role].identity.pane_id


def _write(path: Path, text: str) -> str:
    try:
        with path.open("x", encoding="utf-8", errors="surrogateescape") as file:
            path.chmod(0o600)
            file.write(text)
    except FileExistsError as error:
        raise Refused(f"{path} is there already; say another --name") from error
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error
    return str(path)
