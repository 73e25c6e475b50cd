"""What people and accidents do to the panes of a whole session: nothing is typed where it must not be, all of it is
named, and what waited goes on exactly once."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from matcore.engine.clock import boot_s
from matcore.engine.driver import Sighting, Verdict
from matcore.engine.journal import Entry
from tests.duo import Duo
from tests.live.rig import Rig
from tests.waiting import wait_for
from tmuxdriver.inject import Delivery
from tmuxdriver.panes import Listing
from tmuxdriver.profile import shipped_folder
from tmuxdriver.seat import Seat
from tmuxdriver.server import Unreachable

READY = "> Ask me to do anything"
QUIET = [{"work": 0.2}, {"print": "Noted."}]
WRAPPER = ["/bin/bash", "-c", '"$@"; exec bash --norc --noprofile -i', "wrapper", "{python}", "-m", "matcore.scripted"]


class People:
    """A session and the persons around it: they attach terminals, press keys, and hand over what an agent would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.duos: list[Duo] = []
        self.clients: list[subprocess.Popen[bytes]] = []
        self.held_fds: list[int] = []

    def duo(self, *roles: str, window: float = 60.0, script: dict[str, Any] | None = None, **config: Any) -> Duo:
        duo = Duo(self.folder / f"d{len(self.duos)}", window=window, **config)
        duo.config["recovery"]["restart"] = "never"  # it is people who act here
        self.duos.append(duo)
        for role in roles:
            duo.role(role, script or {"default": QUIET}, prompt="duo-dev")
        return duo

    def attach(self, duo: Duo, role: str) -> Callable[[bytes], None]:
        """A terminal of a person's own, at that role's window. Returns how keys are pressed there."""
        parent, child = pty.openpty()
        argv = ["tmux", "-S", str(duo.socket), "attach-session", "-t", f"={duo.session}:={role}"]
        env = {**os.environ, "TERM": "xterm-256color"}
        before = duo.tmux("list-clients").count("\n")
        self.clients.append(
            subprocess.Popen(argv, stdin=child, stdout=child, stderr=child, env=env, start_new_session=True)
        )
        os.close(child)
        self.held_fds.append(parent)
        threading.Thread(target=_drain, args=(parent,), daemon=True).start()
        wait_for(lambda: duo.tmux("list-clients").count("\n") > before, what="an attached client")
        return lambda keys: _write(parent, keys)

    def end(self) -> None:
        """At once, and by pid: that `mat down` leaves nothing behind is for other tests."""
        for client in self.clients:
            client.kill()
            client.wait()
        for duo in self.duos:
            for process in [*duo.ours(), *servers(duo)]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        for fd in self.held_fds:
            with contextlib.suppress(OSError):
                os.close(fd)


def _drain(fd: int) -> None:
    """A terminal that nobody reads would block its tmux client."""
    with contextlib.suppress(OSError):
        while os.read(fd, 65536):
            pass


def _write(fd: int, keys: bytes) -> None:
    os.write(fd, keys)


@pytest.fixture
def people(tmp_path: Path) -> Iterator[People]:
    people = People(tmp_path)
    yield people
    people.end()


def up(duo: Duo) -> None:
    """Launched, and each role seen idle."""
    duo.up()
    for role in duo.config["roles"]:
        duo.wait("role.idle", 30, role=role)


def hand_over(duo: Duo, sender: str, to: str, text: str) -> str:
    """What the agent `sender` would do with `send-relay`: the relay's id."""
    path = duo.work / f"{sender}-{to}-{time.monotonic_ns()}.md"
    path.write_text(text, encoding="utf-8")
    env = {**duo.env, "MAT_SESSION": duo.session, "MAT_ROLE": sender, "MAT_DIR": str(duo.places.root)}
    argv = [str(Path(sys.executable).parent / "send-relay"), to, str(path)]
    done = subprocess.run(argv, cwd=duo.work, env=env, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(re.findall(r"r-\d{6}", done.stdout)[0])


def typed(duo: Duo, role: str) -> str:
    """Every byte that a role's agent has received."""
    return "".join(line["text"] for line in duo.log(role, "bytes"))


def copies(duo: Duo, role: str, relay: str) -> list[str]:
    """The prompts of a role that carry that relay."""
    return [text for text in duo.submitted(role) if f"[relay {relay} from " in text]


def arrives(duo: Duo, role: str, relay: str, within_s: float = 30) -> None:
    """Waits until the agent has been given that relay."""
    try:
        wait_for(lambda: copies(duo, role, relay), within_s, f"{relay} at {role}")
    except AssertionError as e:
        raise AssertionError(f"{e}\n{duo.story()}") from None


def shot(duo: Duo) -> dict[str, Any]:
    """The session in `mat status --json`."""
    found: dict[str, Any] = json.loads(duo.mat("status", duo.session, "--json").stdout)["sessions"][0]
    return found


def gates(duo: Duo) -> set[str]:
    """As `mat status --json` names them."""
    return {gate["gate"] for gate in shot(duo)["gates"]}


def gates_of(entry: Entry) -> set[str]:
    """Those that an entry of the journal names."""
    named = entry.data["gates"]
    assert isinstance(named, list)
    return set(named)


def statuses(duo: Duo) -> dict[str, str]:
    return {role["role"]: role["status"] for role in shot(duo)["roles"]}


def settled(seconds: float) -> None:
    """For claims that something did not happen: longer than it would have taken."""
    time.sleep(seconds)


def agent_pid(duo: Duo, role: str) -> int:
    return int(duo.log(role, "start")[-1]["pid"])


def server_pid(duo: Duo) -> int:
    return int(duo.tmux("display-message", "-p", "#{pid}"))


def servers(duo: Duo) -> list[psutil.Process]:
    """The tmux server of that socket; the agents in its panes end with it."""
    return [
        process
        for process in psutil.process_iter(["name", "cmdline"])
        if str(duo.socket) in (process.info["cmdline"] or []) and process.info["name"].startswith("tmux")
    ]


def shelled(duo: Duo) -> None:
    """A backend whose command is a person's shell wrapper: when the agent leaves, a shell stands in the pane."""
    profile = yaml.safe_load((shipped_folder() / "scripted.yaml").read_text(encoding="utf-8"))
    profile["name"] = "shelled"
    profile["launch"]["argv"] = WRAPPER
    folder = duo.work / ".mat" / "agents" / "backends"
    folder.mkdir(parents=True)
    (folder / "shelled.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")


GATES = {
    "scroller": "copy-mode",
    "deaf": "input-off",
    "left": "no-agent",
    "typist": "human-typing",
    "asker": "dialog",
}


def test_no_byte_reaches_a_gated_pane_and_its_relay_follows_once(people: People) -> None:
    """Five seats, five causes: nothing is typed, each gate is in journal and status, the ladder defers and tells once,
    and when the causes are gone each relay arrives exactly once."""
    window_s = 2.0
    duo = people.duo("lead", *GATES, window=window_s)
    shelled(duo)
    duo.config["roles"]["left"]["backend"] = "shelled"
    duo.role(
        "asker",
        {"rules": [{"when": "ask me", "steps": [{"ask": {"permission": "touch granted"}}]}], "default": QUIET},
        prompt="duo-dev",
    )
    up(duo)
    # the causes
    press = people.attach(duo, "scroller")
    press(b"\x02[")
    duo.tmux("select-pane", "-d", "-t", duo.pane("deaf"))
    duo.keys("left", "/exit", "Enter")
    duo.keys("typist", "-l", "do not mer")
    duo.keys("asker", "ask me", "Enter")
    for role, gate in GATES.items():
        duo.wait("gate.raised", 15, gate=gate, role=role)
    wait_for(lambda: "bash-" in duo.screen("left"), what="a shell in the pane")
    before = {role: (typed(duo, role), duo.screen(role)) for role in GATES}
    relays = {role: hand_over(duo, "lead", role, f"For {role}.") for role in GATES}
    # the ladder
    told = duo.wait("notify", 40, kind="gate")
    named = {f"{gate}/{role}" for role, gate in GATES.items()}
    assert named <= gates_of(told), duo.story()
    assert named <= gates(duo)
    shown = duo.mat("status", duo.session).stdout
    assert all(gate in shown for gate in named), shown
    deferred = duo.entries("ladder.deferred")
    assert named <= gates_of(deferred[-1])
    assert told.at - deferred[0].at >= 3 * window_s - 0.01
    assert named <= {e.data["gate"] for e in duo.entries("gate.escalated")}
    settled(window_s)
    assert len(duo.entries("notify")) == 1, duo.story()
    wait_for(lambda: duo.told().count("has to be woken and can't be") == 1, what="the notification")
    assert {role: (typed(duo, role), duo.screen(role)) for role in GATES} == before, duo.story()
    assert not (duo.work / "granted").exists()
    assert not duo.entries("nudge")
    # the ends of the causes
    press(b"q")
    duo.tmux("select-pane", "-e", "-t", duo.pane("deaf"))
    args = " ".join(duo.config["roles"]["left"]["args"])
    duo.keys("left", f"{sys.executable} -m matcore.scripted {args}", "Enter")
    duo.keys("typist", "C-u")
    duo.keys("asker", "Escape")
    for role, relay in relays.items():
        duo.wait("relay.delivered", 30, id=relay, confirmed=True)
        duo.wait("gate.cleared", 5, gate=GATES[role], role=role)
    for role, relay in relays.items():
        arrives(duo, role, relay)
        delivered = [e for e in duo.entries("engine.inject", relay=relay) if e.data["kind"] == "relay"]
        landed = [e.data["verdict"] for e in duo.entries("engine.injected", relay=relay, kind="relay")]
        assert landed.count("submitted") == 1, landed
        assert len(delivered) == len(landed)
        plain = [text for text in copies(duo, role, relay) if "relay-redelivery" not in text]
        assert len(plain) == 1, plain
    assert not (duo.work / "granted").exists()
    assert not named & gates(duo)


@pytest.mark.slow
@pytest.mark.field_case("Silence")
def test_a_rung_that_is_due_while_a_gate_holds_follows_its_end(people: People) -> None:
    """In an open episode: rung 2 is deferred with the gate's name, after three windows one notification, and when the
    draft is gone the rung comes."""
    window_s = 1.5
    duo = people.duo("dev", "review", window=window_s)
    up(duo)
    relay = hand_over(duo, "dev", "review", "Please review.")
    duo.wait("relay.delivered", 20, id=relay)
    duo.wait("effect.ended", 20, ok=True, decision=duo.wait("nudge", 20, rung=1).data["number"])
    duo.keys("dev", "-l", "half a sen")
    duo.wait("gate.raised", 10, gate="human-typing", role="dev")
    before = typed(duo, "dev")
    deferred = duo.wait("ladder.deferred", 20)
    assert deferred.data["gates"] == ["human-typing/dev"], duo.story()
    escalated = duo.wait("gate.escalated", 20, gate="human-typing/dev")
    assert escalated.at - deferred.at >= 3 * window_s - 0.01
    settled(2 * window_s)
    assert [e.data["kind"] for e in duo.entries("notify")] == ["gate"]
    assert len(duo.entries("ladder.deferred")) == 1
    assert typed(duo, "dev") == before
    assert [e.data["rung"] for e in duo.entries("nudge")] == [1]
    duo.keys("dev", "C-u")
    second = duo.wait("nudge", 20, rung=2, role="dev")
    duo.wait("effect.ended", 20, ok=True, decision=second.data["number"])


@pytest.mark.parametrize("how", ["killed", "closed"])
def test_a_lost_agent_is_named_and_its_relay_follows_the_restart_once(people: People, how: str) -> None:
    """SIGKILL, or a person who closes the pane: `gone` in status and journal, the relay undeliverable; after
    `mat restart` the ladder redelivers it, once, in the same agent session."""
    duo = people.duo("dev", "review", window=2.0)
    up(duo)
    agent = duo.log("review", "start")[0]["session"]
    if how == "killed":
        os.kill(agent_pid(duo, "review"), signal.SIGKILL)
    else:
        duo.tmux("kill-pane", "-t", duo.pane("review"))
    duo.wait("role.gone", 10, role="review")
    assert statuses(duo)["review"] == "gone"
    before = typed(duo, "review")
    relay = hand_over(duo, "dev", "review", "Please review.")
    duo.wait("relay.undeliverable", 10, id=relay)
    duo.mat("restart", duo.session, "review")
    arrives(duo, "review", relay)
    assert statuses(duo)["review"] != "gone"
    duo.wait("relay.delivered" if not duo.entries("nudge") else "effect.ended", 10)
    settled(2.0)
    got = copies(duo, "review", relay)
    assert len(got) == 1, duo.story()
    assert "relay-redelivery" in got[0]
    assert typed(duo, "review").removeprefix(before).count(f"[relay {relay} from ") == 1
    assert [start["session"] for start in duo.log("review", "start")] == [agent, agent]
    assert not duo.entries("engine.mistake")


@pytest.mark.slow
def test_a_tmux_server_that_stands_still_is_a_gate_and_nobody_is_gone(people: People) -> None:
    """SIGSTOP for some seconds: gate `tmux-unreachable`, nothing lost; after SIGCONT what waited arrives once."""
    duo = people.duo("dev", "review")
    up(duo)
    pid = server_pid(duo)
    os.kill(pid, signal.SIGSTOP)
    try:
        relay = hand_over(duo, "dev", "review", "Please review.")
        duo.wait("gate.raised", 20, gate="tmux-unreachable")
        assert "tmux-unreachable" in gates(duo)
        assert "tmux-unreachable" in duo.mat("status", duo.session).stdout
        settled(1.0)
    finally:
        os.kill(pid, signal.SIGCONT)
    duo.wait("gate.cleared", 20, gate="tmux-unreachable")
    arrives(duo, "review", relay)
    duo.wait("relay.delivered", 20, id=relay)
    later = hand_over(duo, "review", "dev", "Done.")
    arrives(duo, "dev", later)
    settled(1.0)
    assert len(copies(duo, "review", relay)) == len(copies(duo, "dev", later)) == 1
    assert typed(duo, "review").count(f"[relay {relay} from ") == 1
    assert not duo.entries("role.gone")
    assert not duo.entries("engine.mistake")


@pytest.mark.slow
def test_a_killed_tmux_server_is_one_notice_and_up_resumes(people: People) -> None:
    """All roles are gone and the human is told once; `mat up` starts the agents again in their agent sessions, and
    what was handed over while they were gone arrives, once."""
    duo = people.duo("dev", "review", window=3.0)
    up(duo)
    sessions = {role: duo.log(role, "start")[0]["session"] for role in ("dev", "review")}
    os.kill(server_pid(duo), signal.SIGKILL)
    for role in ("dev", "review"):
        duo.wait("role.gone", 10, role=role)
    assert set(statuses(duo).values()) == {"gone"}
    wait_for(duo.told, 15, "a notification")
    assert len(duo.entries("engine.telling")) == 1, duo.story()
    relay = hand_over(duo, "dev", "review", "Please review.")
    duo.wait("relay.undeliverable", 10, id=relay)
    assert "started dev, review" in duo.up().stdout
    for role in ("dev", "review"):
        duo.wait("role.idle", 20, role=role, count=2)
    arrives(duo, "review", relay)
    answer = hand_over(duo, "review", "dev", "Done.")
    arrives(duo, "dev", answer)
    settled(1.0)
    assert len(copies(duo, "review", relay)) == len(copies(duo, "dev", answer)) == 1, duo.story()
    for role in ("dev", "review"):
        starts = duo.log(role, "start")
        assert [(start["session"], start["resumed"]) for start in starts] == [
            (sessions[role], False), (sessions[role], True)
        ]  # fmt: skip
    assert not duo.entries("engine.mistake")


@pytest.mark.slow
@pytest.mark.field_case("Silence")
def test_windows_that_a_person_rearranges_are_still_their_roles(people: People) -> None:
    """Renamed, split, resized, moved: relays go to the agent's own pane, nobody is gone, `mat up` starts nothing, and a
    restart takes the same seat."""
    duo = people.duo("dev", "review")
    up(duo)
    seat = duo.pane("review")
    duo.tmux("rename-window", "-t", seat, "my #(date) notes")
    duo.tmux("split-window", "-d", "-t", seat, "--", "/bin/cat")
    stranger = duo.tmux("split-window", "-d", "-h", "-P", "-F", "#{pane_id}", "-t", seat, "--", "/bin/cat").strip()
    duo.tmux("select-pane", "-t", stranger)
    duo.tmux("resize-window", "-t", seat, "-x", "70", "-y", "20")
    duo.tmux("swap-pane", "-d", "-s", seat, "-t", stranger)
    duo.tmux("rename-session", "-t", f"={duo.session}:", "mine")
    relay = hand_over(duo, "dev", "review", "Please review.")
    duo.wait("relay.delivered", 20, id=relay, confirmed=True)
    arrives(duo, "review", relay)
    assert "nothing was started" in duo.up().stdout
    assert duo.tmux("capture-pane", "-p", "-t", stranger).strip() == ""
    assert not duo.entries("role.gone")
    duo.wait("role.idle", 20, role="review", count=2)
    duo.mat("restart", duo.session, "review")
    duo.wait("role.idle", 20, role="review", count=3)
    panes = duo.tmux("list-panes", "-a", "-F", "#{@mat_role} #{pane_id}").splitlines()
    assert [line for line in panes if line.startswith("review ")] == [f"review {seat}"]
    later = hand_over(duo, "dev", "review", "Once more.")
    arrives(duo, "review", later)
    assert not duo.entries("engine.mistake")


DRAFT = "and keep my words"
AFTER_S = (0.0, 0.08, 0.16, 0.24, 0.32)


@pytest.mark.slow
@pytest.mark.field_case("People")
def test_a_person_who_begins_to_type_during_a_delivery(people: People) -> None:
    """Whenever the first key falls: no prompt carries a person's words together with ours, neither is lost, and what
    was handed over arrives when the draft is gone."""
    duo = people.duo("dev", "review", window=2.0)
    up(duo)
    press = people.attach(duo, "review")
    settled(1.1)  # to tmux, whose clock has whole seconds, attaching is a key as well
    for after_s in AFTER_S:
        wait_for(lambda: statuses(duo)["review"] == "idle", 20, "an idle reviewer")
        relay = hand_over(duo, "dev", "review", f"Please review {after_s}.")
        duo.wait("engine.inject", 10, relay=relay)
        settled(after_s)
        for key in DRAFT:
            press(key.encode())
            settled(0.01)
        settled(1.5)
        assert all("keep my" not in text for text in duo.submitted("review")), duo.story()
        assert DRAFT in duo.screen("review"), duo.story()
        press(b"\x15")
        arrives(duo, "review", relay)
        plain = [text for text in copies(duo, "review", relay) if "relay-redelivery" not in text]
        assert len(plain) <= 1, plain
        hand_over(duo, "review", "dev", f"Done {after_s}.")
    assert all("keep my" not in text for text in duo.submitted("review"))
    assert not duo.entries("engine.mistake")


LAST = "Then answer with send-relay review FILE."
TEXT = f"[relay r-000012 from review]\nRead handoffs/12.md\n{LAST}"


@pytest.mark.parametrize("step", ["paste-buffer", "send-keys"])
def test_the_first_key_of_a_draft_holds_our_next_step_back(
    make_rig: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Pressed right before our paste or our Enter, and not on any screen yet: tmux knows of it, and neither is sent."""
    rig = make_rig()
    rig.up()
    press = rig.attach()
    real = Delivery._guarded

    def pressed(delivery: Delivery, act: str, *args: Any, **options: Any) -> bool:
        if act.startswith(step) and not keys:
            keys.append("a")
            press(b"a")
            wait_for(lambda: rig.activity() != before, what="the key at the server")
        return real(delivery, act, *args, **options)

    keys: list[str] = []
    settled(1.1)  # tmux tells of keys in whole seconds
    before = rig.activity()
    monkeypatch.setattr(Delivery, "_guarded", pressed)
    outcome = rig.deliver(TEXT)
    settled(0.5)
    assert "\r" not in rig.typed()
    assert not rig.messages()
    if step == "paste-buffer":
        assert (outcome.verdict, outcome.gate) == (Verdict.REFUSED, "human-typing"), outcome
        assert rig.typed() == "a"
    else:
        assert outcome.verdict is Verdict.UNCONFIRMED, outcome


@pytest.mark.field_case("People")
@pytest.mark.parametrize("text_stands", [False, True])
def test_a_key_that_the_program_is_slow_to_show_is_waited_for(
    make_rig: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch, text_stands: bool
) -> None:
    """Pressed right before our look, so that the screen does not know of it yet: a person's words go nowhere with ours,
    neither into the composer nor, where our text stands there already, to the agent."""
    rig = make_rig(changes={"launch": {"argv": WRAPPER}})  # tmux itself lets its own children go on
    rig.up()
    rig.wait_to_see("role.idle", role="dev")
    press = rig.attach()
    settled(1.1)
    real = Delivery._look
    keys: list[str] = []

    def looked(delivery: Delivery, **options: bool) -> Any:
        if not keys and ("pasted" in delivery.steps) == text_stands and (not text_stands or LAST in rig.screen()):
            keys.append("a")
            os.kill(rig.agent_pid(), signal.SIGSTOP)
            before = rig.activity()
            press(b"a")
            wait_for(lambda: rig.activity() != before, what="the key at the server")
            threading.Timer(0.2, os.kill, (rig.agent_pid(), signal.SIGCONT)).start()
        return real(delivery, **options)

    monkeypatch.setattr(Delivery, "_look", looked)
    monkeypatch.setattr("tmuxdriver.inject.runs_agent", lambda *_: True)  # it is slow, not stopped
    outcome = rig.deliver(TEXT)
    settled(0.5)
    assert not rig.messages()
    assert "waited for a key" in outcome.evidence
    if text_stands:
        assert outcome.verdict is Verdict.UNCONFIRMED, outcome
        assert "\r" not in rig.typed()
    else:
        assert (outcome.verdict, outcome.gate) == (Verdict.REFUSED, "human-typing"), outcome
        assert rig.typed() == "a"


def test_the_last_word_on_a_seat_is_the_newest(make_rig: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that is over before the tick after its submission, or while a tick is on its way, leaves nobody busy."""
    rig = make_rig(changes={"launch": {"argv": WRAPPER}})  # tmux itself lets its own children go on
    rig.up()
    rig.wait_to_see("role.idle", role="dev")

    def turn_ends() -> list[str]:
        hook = {"event": "turn-ended", "boot_s": boot_s(), "data": {}}
        return told(rig.driver.heard("duo", "dev", hook))

    def told(sightings: Sequence[Sighting]) -> list[str]:
        return [sighting.name for sighting in sightings if sighting.name.startswith("role.")]

    assert rig.deliver(TEXT).verdict is Verdict.SUBMITTED
    said = turn_ends() + told(rig.tick())
    assert said[-1] == "role.idle", said
    rig.driver.heard("duo", "dev", {"event": "turn-started", "boot_s": boot_s(), "data": {}})
    real = rig.driver._watcher._listing
    during: list[str] = []

    def listing(seats: Sequence[Seat]) -> Listing:
        during.extend(turn_ends())
        return real(seats)

    monkeypatch.setattr(rig.driver._watcher, "_listing", listing)
    late = told(rig.tick())
    monkeypatch.undo()
    assert (during + late + told(rig.tick()))[-1] == "role.idle"


def test_what_the_engine_gave_up_while_tmux_did_not_answer_is_said_again(
    make_rig: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a failing look, whatever its kind, the next one says each seat's state, though nothing has changed."""
    rig = make_rig(roles=("dev", "review"))
    rig.up()
    for role in rig.roles:
        rig.wait_to_see("role.idle", role=role)
    for error in (Unreachable("no answer"), OSError("too many open files")):

        def fails(_seats: Sequence[Seat], error: Exception = error) -> Listing:
            raise error

        monkeypatch.setattr(rig.driver._watcher, "_listing", fails)
        with contextlib.suppress(OSError):
            rig.tick()
        monkeypatch.undo()
        states = {s.fields["role"]: s.name for s in rig.tick() if s.name.startswith("role.")}
        assert states == {"dev": "role.idle", "review": "role.idle"}


@pytest.mark.slow
def test_a_prompt_that_a_person_types_is_theirs_and_ours_never_is(people: People) -> None:
    """Relays, nudges and texts of the human through mat are no `human.acted`, across a supervisor's SIGKILL too; what
    is typed in the pane is one, each time."""
    duo = people.duo("dev", "review", window=2.0)
    up(duo)
    first = hand_over(duo, "dev", "review", "Please review.")
    duo.mat("send", duo.session, "dev", "Be quick.")
    duo.wait("effect.ended", 20, ok=True, decision=duo.wait("nudge", 30, rung=2).data["number"])
    settled(1.0)
    assert not duo.entries("human.acted"), duo.story()
    duo.keys("dev", "How is it going?", "Enter")
    duo.wait("human.acted", 10, role="dev")
    duo.mat("pause", duo.session)  # no nudge may be on its way
    # what is typed just before a supervisor's end is told of after its successor's start
    wait_for(lambda: statuses(duo)["review"] == "idle", 10)
    second = hand_over(duo, "dev", "review", "Once more.")
    before = duo.supervisor_pid()
    wait_for(lambda: f"[relay {second} from " in typed(duo, "review"), 20, "our text in the composer")
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: duo.supervisor_pid() != before, 20, "another supervisor")
    duo.keys("dev", "And now?", "Enter")
    duo.wait("human.acted", 20, role="dev", count=2)
    settled(2.0)
    assert len(duo.entries("human.acted")) == 2, duo.story()
    assert len([t for t in copies(duo, "review", first) if "relay-redelivery" not in t]) == 1
    assert len([t for t in copies(duo, "review", second) if "relay-redelivery" not in t]) <= 1


@pytest.mark.slow
def test_what_held_a_seat_ends_with_the_agent_that_is_restarted(people: People) -> None:
    """A dialog and a draft are the old agent's: the new one is given what waits, once."""
    ask = {"when": "ask me", "times": 1, "steps": [{"ask": {"permission": "touch granted"}}]}
    duo = people.duo("dev", "review", script={"rules": [ask], "default": QUIET})
    up(duo)
    duo.keys("dev", "-l", "half a sen")
    duo.keys("review", "ask me", "Enter")
    duo.wait("gate.raised", 10, gate="human-typing", role="dev")
    duo.wait("gate.raised", 10, gate="dialog", role="review")
    relays = {"dev": hand_over(duo, "review", "dev", "To you."), "review": hand_over(duo, "dev", "review", "And you.")}
    for role, relay in relays.items():
        duo.mat("restart", duo.session, role)
        arrives(duo, role, relay)
        assert len(copies(duo, role, relay)) == 1
    assert not {"human-typing/dev", "dialog/review"} & gates(duo)
    assert not (duo.work / "granted").exists()


@pytest.mark.slow
def test_a_busy_agent_that_is_restarted_goes_on_in_its_session(people: People) -> None:
    """Its turn dies with it; what waited is delivered to the new one, once, and no late word of the old one counts."""
    script = {"rules": [{"when": "long", "steps": [{"run": "sleep 60"}]}], "default": QUIET}
    duo = people.duo("dev", "review", script=script)
    up(duo)
    duo.keys("review", "long", "Enter")
    duo.wait("role.busy", 10, role="review")
    relay = hand_over(duo, "dev", "review", "Please review.")
    old = psutil.Process(agent_pid(duo, "review"))
    family = [old, *wait_for(lambda: old.children(recursive=True), what="its command")]
    duo.mat("restart", duo.session, "review")
    arrives(duo, "review", relay)
    duo.wait("relay.delivered", 10, id=relay, confirmed=True)
    settled(1.0)
    assert len(copies(duo, "review", relay)) == 1
    assert not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in family)
    assert len({start["session"] for start in duo.log("review", "start")}) == 1
    wait_for(lambda: statuses(duo)["review"] == "idle", 10)
    assert not duo.entries("role.gone")
    assert not duo.entries("engine.mistake")
