"""Typing one text into one pane, once, and telling truly what became of it.

What must hold is checked and acted upon in the tmux server by one guarded step (`guard`). What the server can't see,
the process tree and the composer, is looked at right before. Once something was typed there are two verdicts left:
`submitted` on positive evidence, `unconfirmed` without. The text is never typed again.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from matcore.engine.clock import boot_s
from matcore.engine.driver import Outcome, Verdict
from tmuxdriver import guard, panes
from tmuxdriver.attention import Attention
from tmuxdriver.compare import holds, picture
from tmuxdriver.evidence import STILL_S
from tmuxdriver.left import Left
from tmuxdriver.panes import Identity, Pane
from tmuxdriver.process import is_tmux, runs_agent
from tmuxdriver.screen import Screen, read
from tmuxdriver.seat import Seat
from tmuxdriver.server import CommandFailed, NoServer, Tmux, TmuxError, Unreachable
from tmuxdriver.submission import Submission

log = logging.getLogger("mat.tmux")

MOST_ENTERS = 3
MOST_PASTES = 3
"""So often the guard may hold the paste back for a moment, before the delivery is put off."""
APPEARS_S = 5.0
"""How long a pasted text may take until the composer shows it."""
MOST_S = 20.0
"""Bound on everything after the paste."""
LOOK_S = 0.03
SHOWN_S = 0.3
"""How long a program may take to show a key that somebody pressed."""
SETTLES_S = 2 * STILL_S
"""How long a seat of which nothing is known yet may take to prove that it is idle."""
_HELD_BY = {
    "rate-limited": "the program is rate-limited",
    "compacting": "the program is compacting",
    "login": "the program wants a login",
}
"""Gates of an agent that looks idle and could do nothing with a text."""


@dataclass(slots=True)
class Delivery:
    """One text on its way. `steps` are its verdicts so far, in order, for the journal."""

    tmux: Tmux
    seat: Seat
    identity: Identity
    text: str
    attention: Attention
    steps: list[str] = field(default_factory=list)
    entered_s: float | None = None
    submission: Submission | None = None
    left: Left | None = None
    """The text is this one, which was typed before and must be ours to submit at every look."""
    touched: str = ""
    """When somebody last pressed a key at the session, as the look that we act upon saw it."""
    typed_upon: str | None = None
    """`touched` as it was when the text was pasted, or may have been; None: nothing was ever typed."""
    looked_like: str = ""
    """What that look is compared by."""
    cursor: str = ""
    """Where the cursor stood then."""
    wary: int = 2
    """So often a cursor that has moved since holds us back: some programs never let it rest."""

    def run(self) -> Outcome:
        """The outcome, whatever happens on the way. Bounded by the timeouts of tmux and `MOST_S`.

        A mistake of ours before the paste holds the text back, to be tried again; one after it is raised.
        """
        try:
            held_back = self._preflight() or self._paste()
        except NoServer as err:
            if is_tmux(int(self.identity.server_pid)):
                return self._refused("tmux-unreachable", str(err))
            return self._ended(Verdict.GONE, "no tmux server")
        except TmuxError as err:
            return self._refused("tmux-unreachable", str(err))
        except Exception as err:
            if self.typed_upon is not None:
                raise
            log.exception("%s/%s: a text could not be typed", self.seat.spec.session, self.seat.role.name)
            return self._refused("not-ready", f"nothing was typed: {type(err).__name__}: {err}")
        try:
            return held_back or self.submit()
        except TmuxError as err:
            return self._ended(Verdict.UNCONFIRMED, str(err))

    # -- before ----------------------------------------------------------------------------------------------------

    def _preflight(self) -> Outcome | None:
        """None when the text may be typed now; else the outcome, and not one byte was sent."""
        held_back = self._checked()
        return self._checked() if held_back is None and self._lets_keys_show() else held_back

    def _checked(self) -> Outcome | None:
        seen = self._look(twice=True)
        if seen is None:
            return self._ended(Verdict.GONE, "the pane is dead or another one")
        pane, screen = seen
        if not self._runs(pane):
            return self._no_agent()
        if pane.in_mode and not self._leave_mode(pane):
            return self._refused("copy-mode", "somebody scrolls in the pane")
        if pane.input_off or pane.synchronized:
            return self._refused("input-off" if pane.input_off else "synchronized", "the pane takes no keys of its own")
        held_back = self._composer_is_free(screen)
        return self._no_agent() if held_back is None and not self._runs(pane) else held_back  # that may have taken long

    def _runs(self, pane: Pane) -> bool:
        return runs_agent(self.seat.profile, int(pane.identity.pane_pid))

    def _no_agent(self) -> Outcome:
        return self._refused("no-agent", "no agent in the pane's foreground")

    def _composer_is_free(self, screen: Screen) -> Outcome | None:
        """The same predicate that status and ladder use; where nothing is known yet, it is waited for."""
        end_s = boot_s() + SETTLES_S
        while True:
            held_back = self._held_back(screen)
            if held_back is not None:
                return held_back
            known = self._known(screen)
            if known == "idle" and screen.state == "idle":
                self.steps.append(f"composer {screen.composer}")
                return None
            if known == "busy" or boot_s() >= end_s:
                return self._refused("busy" if known == "busy" else "not-ready", f"the role is {known}")
            time.sleep(LOOK_S)
            seen = self._look(twice=True, tell=True)
            if seen is None:
                return self._ended(Verdict.GONE, "the pane died")
            screen = seen[1]

    def _known(self, screen: Screen) -> str:
        """What is held of the role. A turn that has begun since the last tick may show no mark: it is seen here."""
        with self.seat.lock:
            if self.seat.evidence.status == "idle" and screen.state == "idle":
                self._tell(screen, self.looked_like)
            return self.seat.evidence.status

    def _held_back(self, screen: Screen) -> Outcome | None:
        with self.seat.lock:
            hook_says, asked = self.seat.evidence.hook_says, self.seat.evidence.asked_by_hook
            held_by = next((gate for gate in _HELD_BY if gate in self.seat.evidence.gates), None)
            ending = self.seat.evidence.has_just_ended(boot_s())
            left = self.seat.evidence.unsent
        if screen.state == "dialog" or asked:
            gate = "login" if screen.dialog == "login" else "dialog"
            return self._refused(gate, f"{screen.dialog or 'permission'} dialog ({screen.evidence})")
        if held_by is not None:
            return self._refused(held_by, _HELD_BY[held_by])
        if screen.state == "busy" and ending:
            return None  # programs run the hook of a turn's end before they show the end
        if screen.state == "busy" or hook_says == "busy":
            return self._refused("busy", "hook" if hook_says == "busy" else screen.evidence)
        if screen.composer == "draft":
            return self._draft(screen, left)
        return None if screen.state == "idle" else self._refused("not-ready", screen.evidence)

    def _draft(self, screen: Screen, left: Left | None) -> Outcome:
        if left is not None and screen.state == "idle" and left.stands_in(screen, self.touched):
            return self._submit_left(left)
        return self._refused("human-typing", f"a draft of {len(screen.typed)} characters")

    def _submit_left(self, left: Left) -> Outcome:
        """Our own text of before stands there unsubmitted: it goes first, and is not typed again.

        A program that ignores Enter is not pressed on with each delivery anew: then it is a draft, for a person to see
        to.
        """
        self.steps.append("our own text was left in the composer")
        before = replace(self, text=left.text, left=left)
        try:
            outcome = before.submit()
        finally:
            if before.entered_s is not None:
                with self.seat.lock:
                    self.seat.evidence.unsent = None
        if before.entered_s is None:
            return self._refused("not-ready", "it could not be submitted")
        if outcome.verdict is not Verdict.SUBMITTED or before.submission is None:
            return self._refused("human-typing", "it was not taken, and is left to a person")
        with self.seat.lock:
            self.seat.pending += self.seat.evidence.submitted(before.submission)
        return self._refused("busy", "it was submitted, and is at work")

    def _leave_mode(self, pane: Pane) -> bool:
        """Leave copy mode when nobody has read in it for a while. Before the paste only, never after it."""
        clients = panes.look(self.tmux).clients
        self.attention.saw(clients, boot_s(), time.time())
        if self.attention.is_on(pane, boot_s()):
            return False
        self.tmux.run(["copy-mode", "-q", "-t", self.identity.pane_id])
        self.steps.append("left copy mode")
        return True

    def _look(self, *, twice: bool = False, tell: bool = False) -> tuple[Pane, Screen] | None:
        """The pane and what it shows, None when it is dead or not ours any more. `tell`: it counts as a look."""
        for attempt in range(2 if twice else 1):
            if attempt:
                time.sleep(LOOK_S)
            found = panes.capture(self.tmux, [self.identity.pane_id]).get(self.identity.pane_id)
            if found is not None and found[0].identity == self.identity and not found[0].dead:
                screen = read(self.seat.profile, found[1])
                values = found[0].values
                self.touched, self.cursor = values["session_activity"], f"{values['cursor_x']}/{values['cursor_y']}"
                self.looked_like = picture(found[1])
                if tell:
                    self._tell(screen, self.looked_like)
                return found[0], screen
        return None

    def _lets_keys_show(self) -> bool:
        """Wait, once, until a key that was pressed right before the last look would be seen. Whether that was needed.

        The guard sees a key that is pressed after a look only in a later second than the one that tmux named there.
        """
        left_s = int(self.touched or 0) + 1 + SHOWN_S - time.time()
        if left_s > 0:
            time.sleep(min(left_s, 1 + SHOWN_S))
            self.steps.append("waited for a key that somebody pressed to be shown")
        return left_s > 0

    def _tell(self, screen: Screen, shown: str) -> None:
        with self.seat.lock:
            self.seat.pending += self.seat.evidence.looked(boot_s(), screen, shown, touched=self.touched)

    # -- typing ----------------------------------------------------------------------------------------------------

    def _paste(self) -> Outcome | None:
        """Paste, once, in one guarded step. An outcome: it was held back and nothing was typed, or nobody knows."""
        for _ in range(MOST_PASTES):
            try:
                if self._paste_now():
                    self.steps.append("pasted")
                    return None
            except Unreachable as err:
                return self._ended(Verdict.UNCONFIRMED, f"no answer to the paste: {err}")
            self.steps.append("the guard held the paste back")
            held_back = self._preflight()
            if held_back is not None:
                return held_back
        return self._refused("not-ready", "the pane changed meanwhile")

    def _paste_now(self) -> bool:
        name = f"mat-{secrets.token_hex(6)}"
        self.typed_upon = self.touched
        try:
            return self._guarded(
                f"paste-buffer -p -r -d -b {name} -t {self.identity.pane_id}",
                f"delete-buffer -b {name}",
                before=["load-buffer", "-b", name, "-"],
                stdin=self.text,
            )
        except CommandFailed:
            self._forget_buffer(name)
            return False

    def _forget_buffer(self, name: str) -> None:
        try:
            self.tmux.run(["delete-buffer", "-b", name])
        except CommandFailed:
            return

    def _guarded(self, act: str, otherwise: str = "", *, before: list[str] | None = None, stdin: str = "") -> bool:
        """Do `act` in the server under the guard, after the command `before`. Whether it was done."""
        cursor = self.cursor if self.wary else None
        step = guard.step(self.identity, act, otherwise, touched=self.touched, cursor=cursor)
        done = guard.was_done(self.tmux.run(*([before] if before else []), step, stdin=stdin))
        self.wary -= 0 if done else min(1, self.wary)
        return done

    # -- submitting ------------------------------------------------------------------------------------------------

    def submit(self) -> Outcome:
        """Press Enter while the composer holds the text, until there is evidence that it was taken."""
        end_s = boot_s() + MOST_S
        time.sleep(self.seat.profile.submit.settle_s)
        if not self._wait_for(self._holds_it, min(end_s, boot_s() + APPEARS_S)):
            return self._ended(Verdict.UNCONFIRMED, "the composer does not show our text")
        for number in range(1, MOST_ENTERS + 1):
            self.steps.append("text in the composer")
            if not self._enter(end_s):
                return self._ended(Verdict.UNCONFIRMED, "Enter was held back")
            self.steps.append(f"Enter {number}")
            if self._is_taken(number, end_s):
                return self._ended(Verdict.SUBMITTED, "")
            if not self._holds_it():
                return self._ended(Verdict.UNCONFIRMED, "no evidence, and the composer does not show our text any more")
        return self._ended(Verdict.UNCONFIRMED, f"no evidence after {MOST_ENTERS} times Enter")

    def _is_taken(self, number: int, end_s: float) -> bool:
        """Whether there is evidence, in time, that Enter `number` was taken.

        Longer each time: what is slow to show that it took the first Enter would take the next one, too. A screen that
        shows neither our text nor evidence is waited for: a program may be long about painting its first turn.
        """
        until_s = boot_s() + number * self.seat.profile.submit.verify_s
        while not self._is_in():
            if boot_s() >= until_s:
                seen = self._look()
                if seen is None or self._shows_it(seen[1]) or boot_s() >= end_s:
                    return False
            time.sleep(LOOK_S)
        return True

    def _wait_for(self, holds_now: Callable[[], bool], until_s: float) -> bool:
        while not holds_now():
            if boot_s() >= until_s:
                return False
            time.sleep(LOOK_S)
        return True

    def _holds_it(self) -> bool:
        seen = self._look()
        return seen is not None and self._shows_it(seen[1])

    def _shows_it(self, screen: Screen) -> bool:
        if self.left is not None:
            return screen.state != "dialog" and self.left.stands_in(screen, self.touched)
        return screen.state != "dialog" and holds(screen.typed, self.text, self.seat.profile.composer.pasted)

    def _enter(self, end_s: float) -> bool:
        """Press Enter under the guard, as soon as it lets us while the composer still holds our text."""
        while boot_s() < end_s:
            if self._lets_keys_show() and not self._holds_it():
                return False
            first, entered_s = self.entered_s is None, boot_s()
            if first:
                self.entered_s = entered_s
                with self.seat.lock:
                    self.submission = Submission(self.text, entered_s)
                    self.seat.evidence.entering(self.submission)
            if self._guarded(f"send-keys -t {self.identity.pane_id} {self.seat.profile.submit.key}"):
                return True
            self.entered_s = None if first else self.entered_s
            time.sleep(0.2)
            if not self._holds_it():
                return False
        return False

    def _is_in(self) -> bool:
        """Positive evidence, strongest first; "it is on the screen" is none."""
        with self.seat.lock:
            confirmed = self.submission is not None and self.seat.evidence.has_confirmed(self.submission)
        if confirmed:
            self.steps.append("prompt-submitted hook")
            return True
        seen = self._look()
        if seen is None or self._shows_it(seen[1]):
            return False
        screen = seen[1]
        is_gone = screen.state == "idle" and screen.composer in ("empty", "ghost")
        if not (screen.state == "busy" or is_gone) or not self._is_gone_still():
            return False
        self.steps.append("text gone from the composer" if is_gone else f"busy ({screen.evidence})")
        return True

    def _is_gone_still(self) -> bool:
        """A frame that is half painted may lack the text."""
        time.sleep(LOOK_S)
        seen = self._look()
        return seen is not None and not self._shows_it(seen[1])

    # -- the end ---------------------------------------------------------------------------------------------------

    def _refused(self, gate: str, why: str) -> Outcome:
        return self._ended(Verdict.REFUSED, why, gate)

    def _ended(self, verdict: Verdict, why: str, gate: str | None = None) -> Outcome:
        evidence = "; ".join([*self.steps, *([why] if why else [])])
        return Outcome(verdict, evidence, gate, self.entered_s)
