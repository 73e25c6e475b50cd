"""What the human is told of a session: each notification journalled before a channel gets it, told again after a
restart where no channel took it, and withdrawn when its cause has ended before anybody heard of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matcore.engine import noticefacts
from matcore.engine.book import Fact, Item, Note
from matcore.engine.ledger import Notice
from matcore.engine.notify import Told
from matcore.rules import decisions as d
from matcore.rules import view
from matcore.words.notices import notice as notice_text

if TYPE_CHECKING:
    from matcore.engine.session import Session

_RUNG_3 = d.NotifyKind.IDLE_RECOVERY


class Herald:
    """The notifications of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def decided(self, notify: d.Notify) -> None:
        """The core wants the human told."""
        about = noticefacts.of(self._session.book, notify, self._session.scribe.when)
        cause = {"question": notify.question, "gates": notify.gates, "episode": notify.episode}
        cause = {key: value for key, value in cause.items() if value is not None}
        if notify.kind == _RUNG_3 and self._session.ledger.lost:
            self._told_already(notify.number, cause, about)
            return
        self.tell(notify.kind, action=notify.action, decision=notify.number, cause=cause, **about)

    def tell(
        self,
        kind: str,
        *,
        action: bool,
        decision: int | None = None,
        cause: Mapping[str, Any] | None = None,
        first: Sequence[Item] = (),
        **facts: object,
    ) -> None:
        """Journal (after `first`, as one) that the human is to be told, then hand it to the channels."""
        telling = self._telling(kind, action, decision, cause, facts)
        self._session.commit([*first, telling])
        self._session.effects.tell(self._session, self._session.ledger.notices[telling.data["notice"]])

    def _telling(
        self, kind: str, action: bool, decision: int | None, cause: Mapping[str, Any] | None, facts: Mapping[str, Any]
    ) -> Note:
        notice = f"n{decision}" if decision is not None else f"e{self._session.book.seq + 1}"
        text = notice_text(kind, **{"session": self._session.name, **facts})
        data = {"notice": notice, "kind": kind, "action": action, "text": text, "decision": decision}
        return Note("engine.telling", {**data, "cause": dict(cause or {})})

    def _told_already(self, decision: int, cause: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Many sessions that lost their agents at once are one notice for the host, and it was told."""
        telling = self._telling(_RUNG_3, True, decision, cause, about)
        told = {"notice": telling.data["notice"], "ok": True, "by": None, "said": "told with the loss of many agents"}
        ended = Fact("effect.ended", {"decision": decision, "ok": True, "detail": "mass-loss"})
        self._session.commit([telling, Note("engine.told", told), ended])

    def told(self, notice_id: str, told: Told) -> None:
        """What became of a notification, with what it means to the core, as one."""
        ledger = self._session.ledger
        notice = ledger.notices.get(notice_id)
        if notice is None or notice.ok or notice.ok == told.ok:
            return
        items: list[Item] = [
            Note("engine.told", {"notice": notice_id, "ok": told.ok, "by": told.by, "said": told.said})
        ]
        awaited = str(notice.decision) in ledger.awaited
        if awaited:
            detail = None if told.ok else told.said
            items.append(Fact("effect.ended", {"decision": notice.decision, "ok": told.ok, "detail": detail}))
        self._session.commit(items)
        if awaited and not told.ok:  # the ladder tries it again, with a new text
            self._session.effects.withdraw(self._session, notice_id)

    def look_again(self) -> None:
        """Withdraw what nobody has heard of yet and need not any more."""
        ledger = self._session.ledger
        for notice in [n for n in ledger.notices.values() if not n.ok]:
            reason = self._over(notice.kind, notice.cause, notice.at)
            if reason is not None:
                self._withdraw(notice, reason)

    def _withdraw(self, notice: Notice, reason: str) -> None:
        items: list[Item] = [Note("engine.withdrawn", {"notice": notice.id, "reason": reason})]
        if str(notice.decision) in self._session.ledger.awaited:
            items.append(Fact("effect.ended", {"decision": notice.decision, "ok": False, "detail": reason}))
        self._session.commit(items)
        self._session.effects.withdraw(self._session, notice.id)

    def _over(self, kind: str, cause: Mapping[str, Any], at: float) -> str | None:
        """Why there is no reason any more to tell of this, or None while there is."""
        state, now = self._session.book.state, self._session.clock.now()
        match kind:
            case "question" if all(q.question != cause.get("question") for q in view.questions(state)):
                return "answered"
            case "gate" if not {g.name for g in view.active_gates(state, now)} & set(cause.get("gates", ())):
                return "the gates are gone"
            case "overdue" if self._session.ledger.progress_at > at:
                return "progress"
            case d.NotifyKind.IDLE_RECOVERY:
                episode = view.episode(state)
                if episode is None or episode.number != cause.get("episode", episode.number):
                    return "the episode is closed"
            case _:
                pass
        return None

    def again(self) -> None:
        """After a restart: hand over what was decided and not handed over, and what no channel took."""
        before = list(self._session.ledger.notices)
        for data in list(self._session.ledger.untold.values()):
            notify = _notify(data)
            cause = {"question": notify.question, "gates": notify.gates or ()}
            reason = self._over(notify.kind, cause, notify.at) if notify.kind != _RUNG_3 else "the ladder tries again"
            if reason is None:
                self.decided(notify)
            else:
                withdrawn = {"notice": f"n{notify.number}", "decision": notify.number, "reason": reason}
                self._session.note("engine.withdrawn", withdrawn)
        self.look_again()
        for notice_id in before:
            notice = self._session.ledger.notices.get(notice_id)
            if notice is not None and not notice.ok and notice.kind != _RUNG_3:
                self._session.effects.tell(self._session, notice)


def _notify(data: Mapping[str, Any]) -> d.Notify:
    """A notification as the journal has it."""
    gates = data.get("gates")
    return d.Notify(
        number=data["number"], at=data.get("at", 0.0), kind=d.NotifyKind(data["kind"]), action=data["action"],
        episode=data.get("episode"), gates=None if gates is None else tuple(gates), cycle=data.get("cycle"),
        question=data.get("question"),
    )  # fmt: skip
