"""Sessions, windows and panes: one tmux session for each mat session, one window for each role, each an agent itself.

Everything is found again by the pane's user options, so that a second `up` starts nothing twice. Values of variables
never stand in argv: they go by `update-environment`, which keeps them for later restarts too. Every `#` in a name or a
path is doubled where tmux expands formats, for `#(…)` runs commands. Sessions are asked for and ended by libtmux; a
pane is started and marked in one invocation and from an argv: libtmux has a call for each, and a string for a shell.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from matcore.engine.clock import boot_s
from matcore.engine.driver import RoleSpec, SessionSpec, new_session
from matcore.errors import BadConfig, Refused, Unavailable
from matcore.places import SessionPlaces
from tmuxdriver import panes
from tmuxdriver.fill import filled
from tmuxdriver.panes import Identity, Pane
from tmuxdriver.process import end_tree
from tmuxdriver.profile import Profile
from tmuxdriver.server import NoServer, Tmux, TmuxError

_KEPT = ("DISPLAY", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_CONNECTION", "WINDOWID", "XAUTHORITY")
"""tmux's own default of `update-environment`."""

NESTED = "This is a tmux inside of yours, which takes C-b first. To leave: C-b C-b d. Next role: C-b C-b n"
NESTED_MS = 15_000


@dataclass(frozen=True, slots=True)
class Start:
    """What is to run in a seat: argv with an absolute path, variables that are no secrets, the agent session's id."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    agent_session: str | None
    started_s: float
    needs_prompt: bool = False
    """A new agent session of a program that can't be handed the role's prompt at its start."""

    @property
    def seat(self) -> dict[str, object]:
        """What is journalled of it beside the pane's identity."""
        return {
            "started_s": self.started_s, "agent_session": self.agent_session, "needs_prompt": self.needs_prompt,
        }  # fmt: skip


def plan(spec: SessionSpec, role: RoleSpec, profile: Profile, *, resume: str | None, hooks: bool = True) -> Start:
    """How a role's agent is launched. Writes the profile's files for the launch.

    Raises `BadConfig` for what its program can't do, `Unavailable` for a program that is not there.
    """
    root = SessionPlaces.of(spec.workdir, spec.session).root
    fresh = profile.launch.fresh
    resume = resume if resume and _is_saved(profile, resume) else None
    agent_session = resume or (new_session() if any("{session_id}" in word for word in fresh) else None)
    files = root / "launch" / role.name
    values = {
        "python": sys.executable,
        "mat": shlex.quote(str(Path(sys.executable).with_name("mat"))),
        "bin": str(Path(sys.executable).parent),
        "prompt_file": str(role.prompt_file),
        "prompt_toml": _toml(role.prompt_file) if "{prompt_toml}" in "".join(profile.launch.prompt) else "",
        "session_id": agent_session or "",
        "mat_dir": str(root),
        "files": str(files),
        "role": role.name,
        "session": spec.session,
        "dir": str(role.dir),
        "backends": profile.folder,
    }
    _write_files(profile, files, values)
    env = {name: filled(value, values) for name, value in profile.launch.env.items()}
    env |= own(spec, role.name)
    words = [filled(word, values) for word in _words(spec, role, profile, resume=resume is not None, hooks=hooks)]
    found = words[0] if Path(words[0]).is_absolute() else shutil.which(words[0], path=spec.path)
    if not role.dir.is_dir():
        raise Unavailable(f"{role.name}: there is no folder {role.dir}. Make it, or change `dir`.")
    if found is None:
        raise Unavailable(f"{role.name}: {words[0]!r} is not on PATH. Install it, or choose another backend.")
    untold = resume is None and not _hands_prompt_over(profile) and bool(role.prompt_file.name)
    return Start((found, *words[1:]), env, role.dir, agent_session, boot_s(), untold)


def own(spec: SessionSpec, role: str) -> dict[str, str]:
    """The variables by which an agent knows, and is known, whose it is."""
    root = SessionPlaces.of(spec.workdir, spec.session).root
    return {"MAT_SESSION": spec.session, "MAT_ROLE": role, "MAT_DIR": str(root)}


def _hands_prompt_over(profile: Profile) -> bool:
    return bool(profile.launch.prompt) or any("{prompt_file}" in value for value in profile.launch.env.values())


def check(spec: SessionSpec, role: RoleSpec, profile: Profile, *, hooks: bool) -> None:
    """Raises `BadConfig` for what its program can't do, as `plan` does; writes nothing."""
    _words(spec, role, profile, resume=False, hooks=hooks)


def _words(spec: SessionSpec, role: RoleSpec, profile: Profile, *, resume: bool, hooks: bool) -> list[str]:
    launch = profile.launch
    if resume and not launch.resume:
        raise Unavailable(f"{role.name}: {profile.name} can't resume an agent session.")
    if role.permissions != "default" and role.permissions not in launch.permissions:
        known = ", ".join(["default", *launch.permissions])
        raise BadConfig([f"roles.{role.name}.permissions: {profile.name} has no {role.permissions!r}; it has {known}."])
    apart = not spec.workdir.is_relative_to(role.dir)
    if apart and launch.confined and not launch.add_dir:
        why = f"{profile.name} can't be given a second folder, so it must hold {spec.workdir}."
        raise BadConfig([f"roles.{role.name}.dir: {why}"])
    return [
        *launch.argv,
        *(launch.resume if resume else launch.fresh),
        *(launch.prompt if role.prompt_file.name else ()),
        *(launch.add_dir if apart else ()),
        *launch.allow,
        *launch.permissions.get(role.permissions, ()),
        *(profile.hooks.args if hooks else ()),
        *role.args,
    ]


def _toml(file: Path) -> str:
    """A file's text as a TOML string: JSON's escapes are TOML's, too. Empty where there is none."""
    return json.dumps(file.read_text(encoding="utf-8") if file.is_file() else "", ensure_ascii=False)


def _is_saved(profile: Profile, agent_session: str) -> bool:
    """Whether the program has anything to take up: some keep no session in which nothing was said, and then refuse."""
    texts = (filled(text, {"session_id": agent_session}) for text in profile.launch.saved)
    places = [Path(os.path.expandvars(text)).expanduser() for text in texts]
    absolute = [place for place in places if place.is_absolute()]  # a variable that is not set leaves its name
    files = [file for place in absolute for file in Path(place.anchor).glob(str(place.relative_to(place.anchor)))]
    return not places or any(_has_line(file, profile.launch.saved_holds) for file in files)


def _has_line(file: Path, text: str) -> bool:
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            return not text or any(text in line for line in lines)
    except OSError:
        return False


def _write_files(profile: Profile, folder: Path, values: Mapping[str, str]) -> None:
    for name, content in profile.launch.files.items():
        path = folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(filled(content, values), encoding="utf-8")
        path.chmod(0o600)


def find(tmux: Tmux, session: str) -> dict[str, Pane]:
    """The panes of a session by role, dead ones too. Raises `TmuxError`; a server that is not there has none."""
    try:
        listing = panes.look(tmux, panes.PANE_FORMAT)
    except NoServer:
        return {}
    ours = (pane for pane in listing.panes.values() if pane.values["@mat_session"] == session)
    return {pane.values["@mat_role"]: pane for pane in ours}


def take_over_none(tmux: Tmux, spec: SessionSpec, found: Mapping[str, Pane]) -> None:
    """Raises `Refused` where the panes of that name are another project's: two sessions must never share a pane."""
    folders = {Path(unquote(pane.values["@mat_dir"])) for pane in found.values() if pane.values["@mat_dir"]}
    elsewhere = next((each for each in folders if each.is_dir() and each.resolve() != spec.workdir.resolve()), None)
    if elsewhere is not None:
        where = shlex.join([tmux.binary, "-S" if tmux.socket.startswith("/") else "-L", tmux.socket])
        raise Refused(
            f"agents of a session {spec.session} are at work for {elsewhere}; give this one another name, "
            f"`session: NAME` in the file, or end that one: mat down {spec.session}, or where that knows none: "
            f"{where} kill-session -t ={spec.session}"
        )


def names(tmux: Tmux) -> list[str]:
    """SESSION/ROLE of every agent's pane on that server. Raises `TmuxError`."""
    try:
        listing = panes.look(tmux, panes.PANE_FORMAT)
    except NoServer:
        return []
    seen = (pane.values for pane in listing.panes.values())
    return sorted(f"{each['@mat_session']}/{each['@mat_role']}" for each in seen if each["@mat_session"])


def start(tmux: Tmux, spec: SessionSpec, role: str, what: Start) -> Identity:
    """Start an agent in a window of its own, in a new session where there is none yet. Raises `TmuxError`."""
    environment = [word for name, value in what.env.items() for word in ("-e", f"{name}={value}")]
    where = ["-d", "-P", "-F", panes.PANE_FORMAT, "-n", role, "-c", _plain(str(what.cwd)), *environment]
    command = ["--", "/usr/bin/env", *what.argv]
    client = {"PATH": spec.path}
    width, height = (str(number) for number in spec.size)
    created = f"={spec.session}:{{end}}"  # not by its name, which a window of a person's own may have
    marks = [
        ["resize-window", "-t", created, "-x", width, "-y", height],
        ["set-option", "-p", "-t", created, "remain-on-exit", "on"],
        *_marks(created, {"@mat_session": spec.session, "@mat_role": role, "@mat_dir": quote(str(spec.workdir))}),
        *_marks(created, _notes(what)),
    ]
    from tmuxdriver.sessions import has_session  # in here: a supervisor that only watches never needs libtmux

    if has_session(tmux, spec.session):
        begin = [["new-window", "-a", "-t", created, *where, *command]]
    else:
        names = " ".join([*_KEPT, *sorted({name for each in spec.roles for name in each.env})])
        begin = [
            ["set-option", "-g", "update-environment", names],
            ["new-session", "-s", spec.session, "-x", width, "-y", height, *where, *command],
        ]
    # One invocation: a pane that nobody could mark would be started again by the next `up`.
    return _identity(tmux.run(*begin, *marks, env=client))


def _notes(what: Start) -> dict[str, str]:
    """What a later `up` must know of an agent that runs already."""
    return {
        "@mat_agent_session": what.agent_session or "",
        "@mat_started_s": f"{what.started_s:.3f}",
        "@mat_needs_prompt": str(int(what.needs_prompt)),
    }


def _marks(pane: str, options: Mapping[str, str]) -> list[list[str]]:
    return [["set-option", "-p", "-t", pane, name, value] for name, value in options.items()]


def restart(tmux: Tmux, spec: SessionSpec, role: str, what: Start) -> Identity:
    """End what runs in the role's pane and start anew there; in a new window when the pane is lost."""
    pane = find(tmux, spec.session).get(role)
    if pane is None:
        return start(tmux, spec, role, what)
    if not pane.dead:
        end_tree(int(pane.identity.pane_pid))
    environment = [word for name, value in what.env.items() for word in ("-e", f"{name}={value}")]
    tmux.run(
        ["respawn-pane", "-k", "-t", pane.identity.pane_id, "-c", _plain(str(what.cwd)), *environment,
         "--", "/usr/bin/env", *what.argv],
        env={"PATH": spec.path},
    )  # fmt: skip
    tmux.run(*_marks(pane.identity.pane_id, _notes(what)))
    return _identity(tmux.run(["display-message", "-p", "-t", pane.identity.pane_id, panes.PANE_FORMAT]))


def stop(tmux: Tmux, session: str) -> None:
    """End the session's agents with all that they started, then the session. Raises `TmuxError`."""
    for pane in find(tmux, session).values():
        if not pane.dead:
            end_tree(int(pane.identity.pane_pid))
    from tmuxdriver.sessions import end_session

    end_session(tmux, session)


def attach_argv(tmux: Tmux, session: str, role: str | None) -> list[str]:
    """How a person looks at a session. Raises `Unavailable`.

    `-E`: a shell that lacks the agents' variables must not take them from the session. Inside of a tmux of their own
    the bar's keys would be that one's, so it is said how they get through.
    """
    try:
        found = find(tmux, session)
    except TmuxError as err:
        raise Unavailable(f"tmux does not answer: {err}") from err
    if not found or (role is not None and role not in found):
        named = session if role is None else f"{session}/{role}"
        raise Unavailable(f"There is no pane of {named}. Try `mat status`; `mat up` starts what is missing.")
    target = f"={session}:" if role is None else found[role].identity.pane_id
    said = [";", "display-message", "-d", str(NESTED_MS), NESTED] if os.environ.get("TMUX") else []
    return ["env", "-u", "TMUX", *tmux.prefix, "attach-session", "-E", "-t", target, *said]


def _identity(out: str) -> Identity:
    pane = next((pane for line in out.split("\n") if (pane := panes.parse_pane(line)) is not None), None)
    if pane is None:
        raise Unavailable(f"tmux did not say which pane it started: {out[:80]!r}")
    return pane.identity


def _plain(text: str) -> str:
    """A text that tmux expands as a format, so that it comes out as it is."""
    return text.replace("#", "##")
