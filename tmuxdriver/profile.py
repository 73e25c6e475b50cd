"""What an agent program looks like, read from `agents/backends/<name>.yaml` into types.

A profile is data that a person recorded from real screens of one version. It says how the program is launched, how
its hooks are switched on for that launch, and which marks on title and screen mean busy, idle, dialog or trouble. All
patterns are Python regular expressions; those for rows are matched against one row of the screen with its trailing
blanks removed. Keys that nobody reads are refused, for a misspelt mark would silently be no mark at all.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
import yaml

from matcore.engine.shaped import suggestion
from matcore.errors import BadConfig
from matcore.words import prompts
from tmuxdriver.profilechecks import bad_patterns, unknown_keys

Region: TypeAlias = Literal["footer", "live", "turn", "bottom", "screen"]
DialogKind: TypeAlias = Literal["permission", "trust", "login", "other"]


class Finds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a program keeps what it was told, when it tells nobody the id of its agent session.

    `file`: an SQLite file, the paths that it may have (`~` and `$NAME` in them). `query`: gives the ids of the sessions
    in which `:text` was submitted at or after `:since_ms` (Unix time in milliseconds).
    """

    file: tuple[str, ...]
    query: str


class Launch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the program is started in a pane: argv, never a shell.

    Placeholders in every string: `{python}`, `{mat}` (the command's absolute path, quoted for a shell), `{bin}` (the
    folder of our commands), `{prompt_file}`, `{prompt_toml}` (its text as a TOML string), `{session_id}`, `{mat_dir}`,
    `{files}` (the folder that `files` are written to), `{backends}` (the folder of the profile), `{role}`,
    `{session}`, `{dir}`, and around them `{sha256(TEXT)}`. Other words in braces stay as they are.
    """

    argv: tuple[str, ...]
    env: dict[str, str] = {}
    prompt: tuple[str, ...] = ()
    """Arguments that hand the role prompt over. Where there are none and no variable of `env` names `{prompt_file}`,
    the first delivery points to it."""
    fresh: tuple[str, ...] = ()
    """Arguments of a new agent session, when the program takes an id of ours (`{session_id}`)."""
    resume: tuple[str, ...] = ()
    """Arguments that take up the agent session `{session_id}`; empty: the program can't."""
    saved: tuple[str, ...] = ()
    """Where the program keeps a session in which something was said: patterns of paths, `~` and `$NAME` in them. Where
    none matches there is nothing to take up, and a new session is begun; empty: the program takes up any."""
    saved_holds: str = ""
    """What a line of that file has as soon as there is something to take up."""
    finds: Finds | None = None
    """How the id of an agent session is found that the program makes itself and has no hook to tell."""
    confined: bool = False
    """Whether the program keeps its agent to the role's `dir`; without `add_dir` it must hold the session's folder."""
    add_dir: tuple[str, ...] = ()
    """Arguments that let a role with a `dir` of its own read and write `{mat_dir}`."""
    allow: tuple[str, ...] = ()
    """Arguments that allow our own commands, and nothing else, for this launch."""
    permissions: dict[str, tuple[str, ...]] = {}
    """Arguments for each value of `permissions:` other than `default`."""
    files: dict[str, str] = {}
    """Files written for this launch, by name, below `{files}`."""


class Hooks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the program's own events reach `mat hook`, and what they are called here."""

    args: tuple[str, ...] = ()
    events: dict[str, str] = {}
    """The program's name of an event → ours; names that stand here on neither side are ignored."""
    exhausted: str | None = None
    """Finds in what the hook of a failed turn says of its error that the context is full, for good."""


class Title(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the window title says. `required`: without one the screen can't be told from idle."""

    busy: str | None = None
    idle: str | None = None
    dialog: str | None = None
    required: bool = False


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row that means something, anchored to a region.

    `footer`: the rows below the composer (without one: the last three). `live`: the last `rows` non-blank rows above
    the composer. `turn`: the rows since the last prompt, at most `rows`. `bottom`: the last `rows` non-blank rows.
    `styled`: where styles are known, the match must not begin in the default colour (replies do, chrome does not).
    `style`: the match must begin in one of these, as they are named in `composer.ghost`; where styles are not known
    there is no such row.
    """

    match: str
    where: Region = "live"
    rows: int = 4
    styled: bool = False
    style: tuple[str, ...] = ()


class Dialog(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question that takes the composer's place. `foot` stands in the last `rows` non-blank rows.

    `framed`: it is drawn in the composer's frame or below it; without that a composer in its frame rules it out.
    `over`: it is drawn over the transcript and has taken the cursor from a composer that stays where it is, which a
    reply that looks like it has not.
    """

    kind: DialogKind
    foot: str
    body: str | None = None
    rows: int = 3
    framed: bool = False
    over: bool = False


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that is worth telling: `error`, `rate-limited`, `context-full`, `login` (each a failed turn, the last
    one a gate, too, until another turn begins), `compacting` (a gate while it stands), `compacted`, `retrying`, …

    A group named `said` is the part of the row that is told, else it is all of it.
    `ends`: it is the last thing that a turn shows of which no hook tells the end. On an idle screen that stands still
    it ends the turn that runs, though its hooks say busy; one that stood there before the turn began does not.
    """

    note: str
    match: str
    where: Region = "turn"
    rows: int = 8
    styled: bool = False
    style: tuple[str, ...] = ()
    ends: bool = False


class Composer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the program takes text in.

    Either framed by a row that matches `top` and one that matches `bottom`, or begun by a row with `mark`, or both.
    `mark` is taken off the first row, `indent` off the others. `foot_rows` non-blank rows may stand below it: a
    composer that is further up is an old one.
    """

    mark: str | None = None
    indent: str | None = None
    right: str | None = None
    """The right side of a box, taken off each row."""
    top: str | None = None
    bottom: str | None = None
    ghost: tuple[str, ...] = ("dim",)
    """Styles of a suggestion: `dim`, `fg:8`, `fg:38;5;103`, … All visible text must have one of them. Empty: it is
    known by its words alone, for a program whose colours are a matter of themes."""
    placeholders: tuple[str, ...] = ()
    """What a suggestion reads like where styles are not known."""
    chrome: str | None = None
    """Rows inside the frame that are not text (a model line); dropped before the text is read."""
    pasted: str | None = None
    """How a collapsed paste is shown. What it counts as `lines` or `chars` must be what we have typed."""
    edge: bool = False
    """Whether the match of `bottom` is as wide as the composer: what is further right is another column (a sidebar)."""
    cursor: bool = False
    """Whether the program keeps the terminal's cursor in its composer while that takes text: with the cursor elsewhere,
    or where it is not known, the screen can't be told from one that doesn't."""
    scrolls: bool = False
    """Whether a long text pushes the row with `mark` out of sight: the first row may then be one with `indent`."""
    rows: int = 24
    foot_rows: int = 4


class Submit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a text is sent off. `settle_s` lies between the paste and the first Enter."""

    key: str = "Enter"
    settle_s: float = 0.15
    verify_s: float = 2.0
    """How long evidence is waited for after each Enter."""
    begins_s: float = 0.0
    """How long the program may show nothing of its work on a text that it took. For so long a screen that stands still
    ends no turn of which neither the work was seen nor, by a mark of `done`, the end."""


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One agent program as it was recorded."""

    name: str
    recorded: str
    """The version that the screens were recorded with."""
    launch: Launch
    composer: Composer
    process: tuple[str, ...]
    """Names of the program in the process tree (base name of argv[0] or argv[1], or `-m` module)."""
    hooks: Hooks = Hooks()
    title: Title = Title()
    busy: tuple[Mark, ...] = ()
    starting: tuple[Mark, ...] = ()
    ready: tuple[Mark, ...] = ()
    """One of them must stand on an empty composer's screen, else the program is still starting."""
    exited: tuple[Mark, ...] = ()
    dialogs: tuple[Dialog, ...] = ()
    menu: str = "^\\W*[\u276f\u203a>\u25b6\u2192]\\W*\\d+[.)] "
    """A chosen entry of a numbered menu: without a composer below it, that is a dialog of an unknown kind."""
    turn_start: str | None = None
    """A row that shows a submitted prompt. Without hooks a new one says that a turn has begun, if nothing marks it."""
    done: tuple[Mark, ...] = ()
    """Rows that a turn leaves as the last thing above the composer when it has ended well."""
    notes: tuple[Note, ...] = ()
    resets: str | None = None
    """Finds in the row of a `rate-limited` note, or in what a hook says of it, when that ends: its first group that
    matched, as `14:30`, `3pm`, `5m`, an ISO date with its time, or a number of seconds."""
    submit: Submit = Submit()
    sandbox: str | None = None
    """One sentence for `mat init`: what the program does not do unless it is asked or allowed to."""
    headless: dict[str, Any] = {}
    """For headless turns; read by the baton driver alone."""
    folder: str = ""
    """Where the profile was found. Set by the loader."""

    @property
    def program(self) -> str | None:
        """What has to be on PATH for it; None for the scripted agent, which is a part of mat (`{python} …`)."""
        first = self.launch.argv[0]
        return None if first.startswith("{") else first


@lru_cache(maxsize=1024)
def pattern(text: str) -> re.Pattern[str]:
    """The compiled form of a profile's pattern."""
    return re.compile(text)


def load(name: str, *, folders: tuple[Path, ...] = ()) -> Profile:
    """The profile `name`, from `folders`, then the user's, then those that are shipped.

    Raises `BadConfig` with every fault that was found, each with the file and the path of the key.
    """
    searched = (*folders, user_folder(), shipped_folder())
    for folder in searched:
        path = folder / f"{name}.yaml"
        if path.is_file():
            return read(path)
    known = sorted({p.stem for folder in searched if folder.is_dir() for p in folder.glob("*.yaml")})
    raise BadConfig([f"There is no profile for the agent program {name!r}; {suggestion(name, known)}"])


def read(path: Path) -> Profile:
    """The profile in one file. Raises `BadConfig`."""
    try:
        about = path.stat()
    except OSError as err:
        raise BadConfig([f"{path}: {err}"]) from err
    return _read(path, (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns))


@lru_cache(maxsize=64)
def _read(path: Path, _as_of: tuple[int, ...]) -> Profile:
    """Read once while the file is the same: a supervisor takes up a hundred sessions with the same few programs."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as err:
        raise BadConfig([f"{path}: {err}"]) from err
    faults = [f"{path}: {fault}" for fault in unknown_keys(data, Profile)]
    if faults:
        raise BadConfig(faults)
    try:
        profile = msgspec.convert(data, Profile)
    except msgspec.ValidationError as err:
        raise BadConfig([f"{path}: {err}"]) from err
    faults = [f"{path}: {fault}" for fault in bad_patterns(msgspec.to_builtins(profile))]
    if profile.name != path.stem:
        faults.append(f"{path}: `name` must be {path.stem!r} like the file")
    if faults:
        raise BadConfig(faults)
    return msgspec.structs.replace(profile, folder=str(path.parent))


def project_folder(workdir: Path) -> Path:
    """Profiles of a project, below its working directory."""
    return workdir / ".mat" / "agents" / "backends"


def user_folder() -> Path:
    """Profiles of the user's own."""
    return prompts.own_agents() / "backends"


def shipped_folder() -> Path:
    """Profiles that come with mat."""
    return prompts.shipped_agents() / "backends"
