"""What is held to be true of one seat, and on what evidence. Pure: looks, hooks and submissions in, sightings out.

One object is the one predicate that status, ladder and delivery share. Strongest first: a hook, the title, the screen.
Busy is believed at once, a new prompt in the transcript being a sign of it. Idle by the screen only when nothing on it
has moved for `STILL_S` over two looks (`tmuxdriver.rest`). While a hook channel lives, the screen does not end a turn,
with two exceptions, for programs fire no hook after Esc and after some errors: the screen shows such an end, by a mark
that has appeared since the turn began or by the turn's prompt, which is back in the composer; or it has been parked at
an empty composer for `PARKED_S`. A dialog is neither: the role is `unknown`, and a gate or a question says why.

Times are seconds of CLOCK_BOOTTIME. The caller holds the seat's lock.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping
from dataclasses import dataclass, field

from matcore.engine.driver import Sighting
from tmuxdriver.ends import Ends
from tmuxdriver.held import Held
from tmuxdriver.left import Left
from tmuxdriver.rest import Still, begins_turn
from tmuxdriver.screen import FAILED, Screen
from tmuxdriver.submission import Submission

STILL_S = 2.0
PARKED_S = 60.0
TOLD_TWICE_S = 1.0
"""Programs tell some ends twice, the second time at once."""
_DETAIL = 200


@dataclass(slots=True)
class Evidence(Held):
    """The state of one seat. Each method returns what is to be reported."""

    alive_since_s: float = 0.0
    """Hooks from before belong to an agent that has been replaced."""
    status: str = "unknown"
    turn_started_s: float | None = None
    in_turn: bool = False
    hook_says: str | None = None
    """`busy` or `idle` while a hook channel lives and has not been overruled."""
    hook_s: float = 0.0
    confirmed: dict[str, float] = field(default_factory=dict)
    """The last texts of ours that a hook named, each with that hook's boot time."""
    still: Still | None = None
    is_doubtful: bool = False
    """Whether the last look would have proven idle, had the screen not been written to: one off the beat will tell."""
    rested: tuple[str, ...] | None = None
    """`Screen.turns` as they were when the seat was idle."""
    screen: Screen | None = None
    working_s: float | None = None
    ends: Ends = field(default_factory=Ends)
    recent: collections.deque[Submission] = field(default_factory=lambda: collections.deque(maxlen=8))
    unsent: Left | None = None
    """Our last text, while nobody knows whether it was submitted."""

    # -- looks ---------------------------------------------------------------------------------------------------

    def looked(
        self, now_s: float, screen: Screen, picture: str, written: str = "", touched: str = ""
    ) -> list[Sighting]:
        """A screen was read; `picture` is it without what moves on its own.

        `written` is when the terminal saw output last, `touched` when somebody pressed a key there, as far as it says
        so.
        """
        self.screen = screen
        if self.still is None or self.still.picture != picture:
            self.still = Still(picture, now_s, written)
        else:
            self.still.seen_again(written, off_beat=self.is_doubtful)
        self.is_doubtful = False
        if screen.state != "busy":
            self.working_s = None
        found = self._dialog(now_s, screen)
        drafted = screen.composer == "draft" and screen.state == "idle" and not self.holds_left(screen, touched)
        if screen.state == "idle" and not drafted and "human-typing" in self.gates:
            found += self._draft_gone(now_s)
        self.ends.looked(screen)
        found += self.gate("human-typing", drafted, "screen")
        self.compacts = self.compacts and not (screen.state == "idle" and self._moved_on(now_s, screen))
        found += self.gate("compacting", self.compacts or "compacting" in screen.notes, "screen")
        found += self._judged(now_s, screen)
        if screen.state in ("idle", "busy"):
            found += self.gate("login", screen.state == "idle" and "login" in screen.notes, "screen")
        if screen.state == "idle" and not self.in_turn and "rate-limited" in screen.notes:
            live, self.failed_by_hook = self.failed_by_hook, False
            found += self._limited(screen.detail or "", now_s, "screen", live=live)
        if screen.state == "idle" and not self.in_turn and "context-full" in screen.notes:
            found += self._full("screen")
        return found

    def _judged(self, now_s: float, screen: Screen) -> list[Sighting]:
        match screen.state:
            case "busy":
                return self._seen_busy(now_s, screen)
            case "idle":
                return self._seen_idle(now_s, screen)
            case "dialog":
                return self._unknown(f"{_kind(screen)}: {screen.dialog} dialog")
            case "starting" | "gone" | "unknown":
                return self._seen_nothing(now_s, screen)

    def was_out_of_sight(self) -> None:
        """For a while nobody could look: what the next look shows may be from before, and proves nothing alone."""
        if self.still is not None:
            self.still.is_restless, self.still.off_beat = True, 0

    def holds_left(self, screen: Screen, touched: str) -> bool:
        """Whether what stands in the composer is a text of ours that was never submitted, and no person's draft."""
        return self.unsent is not None and self.unsent.stands_in(screen, touched)

    def waits(self) -> bool:
        """Whether time alone may change what is held to be true, so that another look is due."""
        if self.screen is None or self.asked_by_hook or self.compacts:
            return True
        if self.dialog_s is not None:
            return self.dialog_kind == "permission" and self.question is None
        return self.status != {"idle": "idle", "busy": "busy"}.get(self.screen.state, "unknown")

    def has_just_ended(self, now_s: float) -> bool:
        """Whether a hook ended a turn so lately that the screen may be about to follow."""
        return self.hook_says == "idle" and now_s - self.hook_s < STILL_S

    def _seen_busy(self, now_s: float, screen: Screen) -> list[Sighting]:
        if self.working_s is None:
            self.working_s = now_s
        self.unsent = None  # whatever is at work now, it is no text that waits in the composer
        if self.hook_says == "idle":
            # A hook has just ended the turn and the screen is about to follow, or the program began one by itself.
            if now_s - max(self.working_s, self.hook_s) < STILL_S:
                return []
            self.hook_says = None
        return self._busy(now_s, _kind(screen))

    def _seen_idle(self, now_s: float, screen: Screen) -> list[Sighting]:
        if self.hook_says == "busy":
            return self._seen_idle_in_turn(now_s, screen)
        if self.status == "idle":
            return self._seen_idle_again(now_s, screen)
        if self.hook_says == "idle":
            return self._idle(now_s, screen, "hook")
        settled = self._has_stood(now_s, STILL_S) and not self.ends.may_begin_yet(now_s, screen)
        return self._idle(now_s, screen, _kind(screen)) if settled else []

    def _seen_idle_in_turn(self, now_s: float, screen: Screen) -> list[Sighting]:
        """Hooks say that a turn runs."""
        for_s = now_s - self.hook_s
        if for_s >= STILL_S and self.ends.shows(screen) and self._has_stood(now_s, STILL_S):
            self.hook_says = None
            return self._idle(now_s, screen, "screen (it shows the turn's end, no hook)", "interrupted")
        parked = screen.composer in ("empty", "ghost") and for_s >= PARKED_S
        if parked and self._has_stood(now_s, PARKED_S):
            self.hook_says = None
            return self._idle(now_s, screen, f"screen (parked for {PARKED_S:.0f} s, no hook)")
        return self._status("busy", "hook")

    def _seen_idle_again(self, now_s: float, screen: Screen) -> list[Sighting]:
        """A turn may show nothing but its prompt and an answer that grows. Where hooks live they tell of it."""
        before, self.rested = self.rested, screen.turns
        if self.hook_says is None and before is not None and begins_turn(before, screen.turns):
            return self._busy(now_s, "screen (a new prompt)")
        return []

    def _has_stood(self, now_s: float, for_s: float) -> bool:
        """Whether the screen has shown the same for so long; off the beat, too, where it was written to meanwhile."""
        still = self.still
        stood = still is not None and still.has_stood(now_s, for_s)
        self.is_doubtful = stood and still is not None and still.is_doubtful
        return stood and not self.is_doubtful

    def _draft_gone(self, now_s: float) -> list[Sighting]:
        """Perhaps its writer has sent it off, and the program is slow to show that it works on it."""
        if self.ends.begins_s <= 0 or self.hook_says is not None:
            return []
        self.ends.began(now_s)
        return self._busy(now_s, "screen (a draft is gone)")

    def _seen_nothing(self, now_s: float, screen: Screen) -> list[Sighting]:
        """What can't be made out is not idle, but neither does one torn frame take a state away."""
        if self.hook_says is not None or self.still is None or not self.still.has_stood(now_s, STILL_S):
            return []
        return self._unknown(screen.evidence)

    # -- dialogs -------------------------------------------------------------------------------------------------

    def _dialog(self, now_s: float, screen: Screen) -> list[Sighting]:
        """A permission dialog that stands is put to the human as a question, in place of its gate."""
        if screen.state == "dialog":
            self.asked_by_hook = False
            return self._dialog_stands(now_s, screen.dialog or "other")
        if self.dialog_s is None or (self.asked_by_hook and not self._moved_on(now_s, screen)):
            return []
        return self._dialog_gone("screen")

    def _moved_on(self, now_s: float, screen: Screen) -> bool:
        """Whether the screen shows that what a hook told of, a question or a compaction, is over."""
        return screen.state in ("busy", "idle") and now_s - self.hook_s >= STILL_S

    # -- hooks ---------------------------------------------------------------------------------------------------

    def heard(self, event: str, at_s: float, data: Mapping[str, object]) -> list[Sighting]:
        """A hook of the agent program, by our name for it."""
        if at_s < self.alive_since_s:
            return []
        handler = {
            "prompt-submitted": self._heard_prompt,
            "turn-started": self._heard_start,
            "turn-ended": self._heard_end,
            "permission-asked": self._heard_question,
            "compaction": self._heard_compaction,
            "compacted": self._compacted,
        }.get(event)
        return handler(at_s, data) if handler is not None else []

    def _heard_prompt(self, at_s: float, data: Mapping[str, object]) -> list[Sighting]:
        found = self._dialog_gone("hook") if self.asked_by_hook else []
        ours = {submission.text for submission in self.recent if submission.is_in(data)}
        if ours:
            self.unsent = None if self.unsent is not None and self.unsent.text in ours else self.unsent
            self.confirmed = {**self.confirmed, **dict.fromkeys(ours, at_s)}
        else:
            found.append(self._sighting("human.acted", "hook", role=self.role))
        self.ends.prompted(data)
        return found + self._heard_start(at_s, data)

    def _heard_start(self, at_s: float, data: Mapping[str, object]) -> list[Sighting]:
        self._hook("busy", at_s)
        return [*self._compacted(at_s, data), *self._busy(at_s, "hook")]

    def _heard_compaction(self, at_s: float, _data: Mapping[str, object]) -> list[Sighting]:
        self.compacts, self.hook_s = True, max(at_s, self.hook_s)
        return self.gate("compacting", True, "hook")

    def _heard_end(self, at_s: float, data: Mapping[str, object]) -> list[Sighting]:
        found = self._dialog_gone("hook") if self.asked_by_hook else []
        found += self._compacted(at_s, data)
        if data.get("outcome") == "exhausted":
            found += self._full("hook")
        if not self.in_turn and self.hook_says == "idle" and at_s - self.hook_s < TOLD_TWICE_S:
            return found
        ok = data.get("outcome") in (None, "ok", "done")
        detail = None if ok else str(data.get("error") or data.get("outcome"))
        told = data.get("turn_started_boot_s")
        begun_s = float(told) if isinstance(told, int | float) else None
        if self.in_turn and (self.turn_started_s or 0.0) > at_s:
            # The end of an earlier turn, told late: it says nothing about the text that was submitted since.
            return [*found, self._turn_ended("hook", at_s if begun_s is None else begun_s, detail)]
        if begun_s is not None:
            self.turn_started_s = max(begun_s, self.turn_started_s or 0.0)
        self._hook("idle", at_s)
        self.in_turn = True
        found += self._idle(at_s, None, "hook", detail)
        if data.get("outcome") == "rate-limited":
            found += self._limited(detail or "", at_s, "hook", live=True)
            self.failed_by_hook = False
        return found

    def _heard_question(self, at_s: float, _data: Mapping[str, object]) -> list[Sighting]:
        self._hook("busy", at_s)
        self.asked_by_hook = True
        return [*self._dialog_stands(at_s, "permission"), *self._unknown("hook: permission dialog")]

    def _hook(self, says: str, at_s: float) -> None:
        self.ends.began()
        self.hook_says, self.hook_s = says, max(at_s, self.hook_s)

    # -- submissions ---------------------------------------------------------------------------------------------

    def entering(self, submission: Submission) -> None:
        """Enter is about to be pressed: hooks that come from now on may be about this text.

        An Enter that is held back is tried many times; the texts before this one must not be forgotten over that.
        """
        if self.recent and self.recent[-1].text == submission.text:
            self.recent.pop()
        self.recent.append(submission)
        self.confirmed = {text: at_s for text, at_s in self.confirmed.items() if self._is_recent(text)}

    def _is_recent(self, text: str) -> bool:
        return any(text == each.text for each in self.recent)

    def has_confirmed(self, submission: Submission) -> bool:
        """Whether a hook has named this text since its Enter: one that named an earlier text says nothing of it."""
        return self.confirmed.get(submission.text, -1.0) >= submission.entered_s

    def submitted(self, submission: Submission) -> list[Sighting]:
        """There is evidence that the text arrived. That counts as busy seen, however short the turn was."""
        if self.hook_s >= submission.entered_s:
            return []  # hooks have told of it already, perhaps even of its end
        if self.hook_says is not None:
            self._hook("busy", submission.entered_s)
        self.still = None
        self.ends.began(submission.entered_s)
        self.turn_started_s, self.in_turn, self.was_full = submission.entered_s, True, False
        return self._status("busy", "submission")

    # -- the states ----------------------------------------------------------------------------------------------

    def gone(self, evidence: str, *, resumable: bool = False) -> list[Sighting]:
        """An authoritative answer, twice, said that the agent is not there any more.

        `resumable`: it can be started again from here, in its agent session.
        """
        found = self._cleared(tuple(self.gates), evidence)
        self.in_turn, self.hook_says, self.screen, self.still = False, None, None, None
        return found + self._status("gone", evidence, **({"resumable": True} if resumable else {}))

    def left(self, evidence: str) -> list[Sighting]:
        """The agent is not in its pane any more: what stood on its screen, or was told by its hooks, is over."""
        found = self._cleared(("human-typing", "dialog", "login", "compacting", "rate-limited"), evidence)
        self.in_turn, self.hook_says = False, None
        return found + self.lost(evidence)

    def replaced(self, evidence: str) -> list[Sighting]:
        """Another agent takes this one's seat: nothing that was held for it holds any longer."""
        return [*self._cleared(tuple(self.gates), evidence), self._sighting("role.unknown", evidence, role=self.role)]

    def lost(self, evidence: str) -> list[Sighting]:
        """Nothing can be seen of the agent any more, which is not the same as gone."""
        self.screen, self.still = None, None
        return self._unknown(evidence) if self.status in ("busy", "idle") else []

    def _busy(self, at_s: float, evidence: str) -> list[Sighting]:
        if not self.in_turn:
            self.in_turn, self.was_full = True, False
            self.turn_started_s = at_s if self.status == "idle" or evidence == "hook" else None
        return self._status("busy", evidence)

    def _idle(self, now_s: float, screen: Screen | None, evidence: str, detail: str | None = None) -> list[Sighting]:
        found: list[Sighting] = []
        notes = screen.notes if screen is not None else ()
        if self.in_turn:
            if screen is not None and set(FAILED) & set(notes):
                detail = screen.detail or "error"
            if "context-full" in notes:
                found += self._full(evidence)
            found.append(self._turn_ended(evidence, self.turn_started_s, detail))
            self.failed_by_hook = screen is None and detail is not None
            if screen is not None and "rate-limited" in notes:
                found += self._limited(screen.detail or "", now_s, evidence, live=True)
            elif detail is None:
                found += self._unlimited(evidence)
        self.in_turn, self.turn_started_s = False, None
        self.rested = None if screen is None else screen.turns
        return found + self._status("idle", evidence)

    def _unknown(self, evidence: str) -> list[Sighting]:
        return self._status("unknown", evidence)

    def _turn_ended(self, evidence: str, started_s: float | None, detail: str | None) -> Sighting:
        fields: dict[str, object] = {"role": self.role, "outcome": "error" if detail else "ok"}
        if detail:
            fields["detail"] = detail[:_DETAIL]
        if started_s is not None:
            fields["started"] = started_s
        return Sighting(self.session, "turn.ended", fields, evidence)

    def _status(self, status: str, evidence: str, **more: object) -> list[Sighting]:
        if self.status == status:
            return []
        self.status = status
        return [self._sighting(f"role.{status}", evidence, role=self.role, **more)]


def _kind(screen: Screen) -> str:
    """Of the evidence of a screen the part that names its sort: `title` or `screen`."""
    return "title" if screen.evidence.startswith("title") else "screen"
