"""A duo in which both roles are a real agent program, and what the scripted model says as each of them.

The developer is kicked off, writes HANDOFF.md and hands it over; the reviewer reads what was sent, writes REVIEW.md and
hands that back; the developer completes the cycle. Nothing else is ever called, so each further relay, wake or turn in
the journal is mat's own doing. Rules of a test's own come before these.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matcore.engine.journal import Entry
from tests.agents.lab import HEAVY, Lab, Model
from tests.duo import MAT, Duo
from tests.waiting import wait_for

KICK = "Work on TASK.md."
DEV, REVIEW = r"You are dev, the developer", r"You are review, the reviewer"
RELAY = r"\[relay (?P<relay>r-\d+) from {sender}\].*?Read (?P<path>\S+)"

HANDS_OVER = "printf '# Handoff\\n\\nThe parser is ready to be judged.\\n' >HANDOFF.md && send-relay review HANDOFF.md"
HANDS_BACK = (
    "cat '{{path}}' && printf '# Review of {{relay}}\\n\\nNo finding.\\n' >REVIEW.md && send-relay dev REVIEW.md"
)

REPLIES: list[dict[str, Any]] = [
    {"name": "kick", "system": DEV, "user": r"Work on TASK\.md", "say": "I start.", "run": HANDS_OVER},
    {"name": "handoff", "system": REVIEW, "user": RELAY.format(sender="dev"), "say": "I look.", "run": HANDS_BACK},
    {"name": "review", "system": DEV, "user": RELAY.format(sender="review"), "run": "mat cycle complete"},
    {"name": "sent", "result": r"^sent (r-\d+) to (\w+)", "say": "Handed to {{2}} as {{1}}."},
    {"name": "done", "system": DEV, "result": r"\"cycle\"", "say": "The cycle is complete."},
    {"name": "closing", "user": r"<goal_(complete|blocked)>", "say": "In closing: the parser is done and reviewed."},
]

NUDGE = r"IDLE RECOVERY \d+\.\d+"
FINAL_CHECK = r"^\[mat\] Final check"
# A developer who answers in plain text only, and needs to be woken.
SAYS_ONLY = {"name": "says only", "system": DEV, "user": r"from review\]\n", "say": "Looks good to me."}
NOTHING_TO_ADD = {"name": "nothing to add", "user": FINAL_CHECK, "say": "Nothing is left to be sent."}
GIVES_IN = {"name": "gives in", "user": NUDGE, "say": "I had forgotten.", "run": "mat cycle complete"}


class LabDuo(Duo):
    """A `Duo` whose agents are a lab's program and whose commands run in the lab's network and environment."""

    def __init__(self, lab: Lab, backend: str, rules: Sequence[Mapping[str, Any]] = (), **config: Any) -> None:
        super().__init__(lab.root, **config)
        self.lab = lab
        self.backend = backend
        self.patience = 3.0 if backend in HEAVY else 1.0
        self.work = lab.work
        self.model: Model = lab.model([*rules, *REPLIES])  # before `env`, for that says where the model is
        self.env = lab.env(XDG_STATE_HOME=str(lab.root / "state"))
        (self.work / "TASK.md").write_text("Write a parser.\n", encoding="utf-8")
        # A second one of a heavy program would be one too many: pi is its peer.
        peer = "pi" if backend in HEAVY else backend
        self.config["roles"] = {
            "dev": {"backend": backend, "prompt": "duo-dev", "kick": KICK},
            "review": {"backend": peer, "prompt": "duo-review"},
        }

    def mat(
        self, *args: str, check: bool = True, stdin: str = "", timeout_s: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run `mat` as its user would, in the lab."""
        done = subprocess.run(
            self.lab.inside([*MAT, *args]), cwd=self.work, env=self.env, input=stdin, capture_output=True, text=True,
            timeout=timeout_s, check=False,
        )  # fmt: skip
        assert not check or done.returncode == 0, f"mat {args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def alone(self, role: str) -> LabDuo:
        """Leave only this role, and nothing for it to begin with: half the programs, half the time."""
        config = {k: v for k, v in self.config["roles"][role].items() if k != "kick"}
        self.config["roles"] = {role: {**config, "backend": self.backend}}
        return self

    def wait(self, name: str, timeout_s: float = 30, count: int = 1, **match: Any) -> Entry:
        """As in any duo, with more patience for a program that is slow."""
        return super().wait(name, timeout_s * self.patience, count, **match)

    def end(self) -> None:
        """What is in the lab's network ends with it; only without one each process has to be found."""
        if not self.lab.prefix:
            super().end()

    def paste(self, role: str, text: str) -> None:
        """A person pastes into a role's pane, without Enter."""
        self.tmux("set-buffer", "-b", "person", text)
        self.tmux("paste-buffer", "-p", "-r", "-d", "-b", "person", "-t", self.pane(role))

    def arrived(self, pattern: str) -> int:
        """How often texts that match reached the model, each conversation counted once and all of them together."""
        return self.model.told(pattern)

    def wait_arrived(self, pattern: str, count: int = 1, timeout_s: float = 30) -> None:
        try:
            wait_for(
                lambda: self.arrived(pattern) >= count, timeout_s * self.patience, f"{count} x {pattern!r} at the model"
            )
        except AssertionError as e:
            raise AssertionError(f"{e}\n{self.story()}") from None

    def at_rest(self, *roles: str, timeout_s: float = 40) -> None:
        """Wait until these roles (all, if none is named) are idle by the journal's last word."""
        for role in roles or tuple(self.config["roles"]):

            def is_idle(role: str = role) -> bool:
                last = self.entries("role.busy", "role.idle", "role.unknown", "role.gone", role=role)[-1:]
                return [e.name for e in last] == ["role.idle"]

            try:
                wait_for(is_idle, timeout_s * self.patience, f"{role} at rest")
            except AssertionError as e:
                raise AssertionError(f"{e}\n{self.story()}") from None


def assert_woken_once(duo: LabDuo) -> None:
    """The story of `SAYS_ONLY`, `NOTHING_TO_ADD` and `GIVES_IN` to its end, by the journal and by the model's log."""
    duo.wait("cycle.completed", 60, by="dev")
    duo.wait_arrived("^<goal_complete>")
    duo.at_rest()
    relays = [(e.data["from"], e.data["to"]) for e in duo.entries("relay.sent")]
    assert relays == [("human", "dev"), ("dev", "review"), ("review", "dev")]
    assert [e.data["confirmed"] for e in duo.entries("relay.delivered")] == [True] * 3
    assert [e.data["rung"] for e in duo.entries("nudge")] == [1]
    assert duo.entries("episode.closed")[0].data["by"] == "boundary"
    told = [rf"^\[relay {e.data['id']} from \w+\]\n" for e in duo.entries("relay.sent")]
    for text in (*told, FINAL_CHECK, NUDGE, "^<goal_complete>"):
        assert duo.arrived(text) == 1, f"{text}\n{duo.story()}"
    assert duo.arrived("") == len(told) + 3, "nothing else was typed"
    assert not duo.entries("human.acted")


@contextlib.contextmanager
def lab_duo(lab: Lab, backend: str, rules: Sequence[Mapping[str, Any]] = (), **config: Any) -> Iterator[LabDuo]:
    """A duo that has ended afterwards; it is not up yet. Whatever its programs' hooks say, mat must have taken up."""
    made = LabDuo(lab, backend, rules, **config)
    try:
        yield made
        aside = [path.read_text() for path in (made.state.spool / "aside").glob("*.reason")]
        assert not aside, f"records of hooks were set aside: {aside}"
    finally:
        made.end()
