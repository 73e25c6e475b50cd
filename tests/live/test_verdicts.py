"""A reviewer's verdicts on a real tmux: hints, a question that the human answers, the end of the goal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from matcore.engine.journal import Journal
from matcore.rules import decisions, records
from matcore.rules.session import initial, step
from tests.duo import Duo
from tests.waiting import wait_for

ANSWER = "The answer begins here.\n" + "Zero is an error, ü. " * 10_000


@pytest.fixture
def duo(tmp_path: Path) -> Iterator[Duo]:
    duo = Duo(tmp_path, window=30.0)
    yield duo
    duo.end()


def once(when: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"when": when, "once": True, "steps": list(steps)}


def verdict(body: str) -> dict[str, Any]:
    return {"send-relay": {"to": "dev", "body": f"My verdict:\n\n```json\n{body}\n```\n"}}


def work(done: str) -> dict[str, Any]:
    return {"send-relay": {"to": "review", "body": f"Done: {done}."}}


def refolded(path: Path) -> list[dict[str, object]]:
    """What the core decides on the facts of a journal, with nothing else to go by."""
    state, found = initial(), []
    with Journal.read(path) as journal:
        for entry in journal.entries(kinds=["fact"]):
            state, decided = step(state, records.parse({**entry.data, "fact": entry.name, "at": entry.at}))
            found += [decisions.record(each) for each in decided]
    return found


def decided(path: Path) -> list[dict[str, object]]:
    """What its decisions were."""
    with Journal.read(path) as journal:
        return [{**e.data, "at": e.at, "event": e.name} for e in journal.entries(kinds=["decision"])]


def test_hints_a_question_and_the_end_of_the_goal(duo: Duo) -> None:
    """Two hints reach the developer in one agent session; the reviewer's question is answered with 200 KB from stdin;
    after its ok the developer ends the goal: one wrap-up, one notification, and the journal decides the same again."""
    duo.role(
        "dev",
        {
            "rules": [
                once("Work on", work("first")),
                once("Hint: one", work("second")),
                once("Hint: two", work("third")),
                {"when": "goal_complete", "steps": [{"print": "All is done and reviewed."}]},
                once("from review", {"run": "mat cycle complete --reason reviewed"}),
            ],
            "default": [{"print": "nothing to do"}],
        },
        kick="Work on it",
    )
    duo.role(
        "review",
        {
            "rules": [
                once("Answer to your question", verdict('{"verdict": "ok", "reason": "as the human said"}')),
                once("from dev", verdict('{"verdict": "retry", "hint": "one: {add} a test"}')),
                once("from dev", verdict('{"verdict": "retry", "hint": "two: name it"}')),
                once("from dev", verdict('{"verdict": "await_human_input", "human_question": "Is 0 an error?"}')),
            ],
            "default": [{"print": "nothing to do"}],
        },
    )
    duo.up("--goal", "zero is handled")
    asked = str(duo.wait("question.asked", 60).data["question"])
    assert len(duo.entries("relay.sent", **{"from": "review"})) == 2, "a question hands nothing over"
    told = wait_for(lambda: duo.told() if "asks you" in duo.told() else "", 20, "the question's notice")
    assert f'mat answer duo --question {asked} "TEXT"' in told
    assert "review asks you:\nIs 0 an error?" in told

    refused = duo.mat("answer", "duo", "--file", "-", stdin="", check=False)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"the answer is empty, {asked} stays open;" in refused.stderr
    assert refused.stderr.endswith("nothing was changed\n")
    assert duo.entries("question.answered") == []
    said = duo.mat("answer", "duo", "--question", asked, "--file", "-", stdin=ANSWER).stdout
    assert said.startswith(f"answered {asked} of review (Is 0 an error?) by r-")
    again = duo.mat("answer", "duo", "--question", asked, "No.", check=False)
    assert again.returncode == 1
    assert f"{asked} was answered already" in again.stderr

    duo.wait("engine.injected", 60, kind="wrapup", verdict="submitted")
    wait_for(lambda: duo.log("dev", "turn-started")[-1]["text"].startswith("<goal_complete>"), 20, "the wrap-up")
    wait_for(lambda: "is completed by dev" in duo.told(), 20, "the last notice")
    duo.wait("role.idle", 20, count=5, role="dev")

    dev, review = duo.submitted("dev"), duo.submitted("review")
    assert [line for text in dev for line in text.splitlines() if line.startswith("Hint: ")] == [
        "Hint: one: {add} a test",
        "Hint: two: name it",
    ]
    (answer,) = [text for text in review if "Answer to your question" in text]
    assert f"Answer to your question {asked}: Is 0 an error?" in answer
    path = next(line.removeprefix("Read ").strip() for line in answer.splitlines() if line.startswith("Read "))
    assert Path(path).read_text(encoding="utf-8") == ANSWER
    assert sum("<goal_complete>" in text for text in dev) == 1
    assert not any("<goal_" in text for text in review)
    assert all(len(text.encode()) < 1024 for text in [*dev, *review])
    for role in ("dev", "review"):
        assert len({line["session"] for line in duo.log(role, "start")}) == 1, "one agent session for all rounds"
    assert duo.told().count("is completed by") == 1
    assert "Goal: zero is handled" in duo.told()
    assert [e.data["kind"] for e in duo.entries("notify")] == ["question", "cycle-completed"]
    assert "mat attach duo dev" in duo.told()
    journal = duo.state.journal("duo")
    assert refolded(journal) == decided(journal)
    duo.mat("verify", "duo")
    page = duo.mat("recap").stdout
    assert "cycle c1: completed by dev" in page
    assert "handoffs: 6 (dev 3, review 3)" in page
    assert "answered by you: 1" in page
    assert f"dev is on the agent session {duo.log('dev', 'start')[0]['session']} since " in duo.mat("why", "duo").stdout


def test_a_new_prompt_closes_one_agent_session_and_begins_another(duo: Duo) -> None:
    """The developer's program is started anew with an id of its own, and the prompt is its first text."""
    duo.role(
        "dev",
        {"rules": [once("Work on", work("first"))], "default": [{"print": "begun anew"}]},
        kick="Work on it",
    )
    duo.role(
        "review",
        {
            "rules": [once("from dev", verdict('{"verdict": "retry", "new_prompt": "Throw it away. Begin with X."}'))],
            "default": [{"print": "nothing to do"}],
        },
    )
    duo.up()
    seats: Any = duo.wait("engine.up", 30).data["seats"]
    before = seats["dev"]["agent_session"]
    duo.wait("agent.renewed", 60, role="dev")
    relay = duo.wait("relay.delivered", 60, count=3)
    renewed = duo.entries("agent.renewed")[0]
    assert (relay.data["id"], relay.data["confirmed"]) == (renewed.data["relay"], True)
    assert renewed.seq < relay.seq
    starts = [line["session"] for line in duo.log("dev", "start")]
    assert starts == [before, renewed.data["agent_session"]]
    first = wait_for(lambda: next((t for t in duo.submitted("dev") if "Throw it away" in t), ""), 20, "the prompt")
    assert first.splitlines()[1] == "Throw it away. Begin with X."
    why = duo.mat("why", "duo").stdout
    assert str(renewed.data["agent_session"]) in why
