"""The loop of a developer and a reviewer with two real pi: a hint, a question that the human answers, ok, the end."""

from __future__ import annotations

from typing import Any

from tests.agents.duo import DEV, FINAL_CHECK, KICK, REVIEW, lab_duo
from tests.agents.lab import Lab

HINT = "name the parser: call it {p}"
QUESTION = "Is zero an error?"
ANSWER = "Zero is an error, and so is -0."


def hands_over(name: str, user: str, what: str) -> dict[str, Any]:
    """The developer hands over when a text that matches arrives."""
    run = f"printf 'Done: {what}.\\n' >{what}.md && send-relay review {what}.md"
    return {"name": name, "system": DEV, "user": user, "run": run, "times": 1}


def judges(name: str, user: str, verdict: str) -> dict[str, Any]:
    """The reviewer's verdict on what arrives, in prose and a fence as models do."""
    run = f"printf 'I looked.\\n\\n```json\\n%s\\n```\\n' '{verdict}' >{name}.md && send-relay dev {name}.md"
    return {"name": name, "system": REVIEW, "user": user, "run": run, "times": 1}


RULES = [
    hands_over("first", r"Work on TASK\.md", "first"),
    judges("hint", r"from dev\]\n", f'{{"verdict": "retry", "hint": "{HINT}"}}'),
    hands_over("second", f"Hint: {HINT}", "second"),
    judges("question", r"from dev\]\n", f'{{"verdict": "await_human_input", "human_question": "{QUESTION}"}}'),
    {"name": "checked", "system": REVIEW, "user": FINAL_CHECK, "say": "My question is with the human.", "times": 1},
    judges("ok", rf"Answer to your question \S+: {QUESTION[:-1]}.*{ANSWER}", '{"verdict": "ok", "reason": "as asked"}'),
    # No model is through with it before its text is seen to be submitted.
    {"name": "accepted", "system": DEV, "user": r"from review\]\n", "run": "sleep 0.5; mat cycle complete", "times": 1},
    {"name": "wrap-up", "system": DEV, "user": "^<goal_complete>", "say": "In closing: it is done.", "times": 1},
    {"name": "after a command", "result": ".", "say": "That is done."},
    {"name": "nobody is left to say", "system": DEV, "user": ".", "say": "UNEXPECTED"},
    {"name": "nothing is left to judge", "system": REVIEW, "user": ".", "say": "UNEXPECTED"},
]
ROUNDS = ["first", "hint", "second", "question", "checked", "ok", "accepted", "wrap-up"]


def test_a_hint_a_question_and_the_end_of_the_goal(pi: Lab) -> None:
    """Each verdict has its effect at the other's model, in one agent session for each; the human's answer reaches the
    role that asked; the cycle ends with one wrap-up. The one final check is of the handoff that a question leaves
    unanswered; nothing else is ever submitted."""
    with lab_duo(pi, "pi", RULES, window=600) as duo:
        duo.up()
        asked = duo.wait("question.asked", 90)
        duo.wait_arrived(FINAL_CHECK)
        duo.at_rest()
        assert asked.data["role"] == "review"
        assert duo.arrived(r"^\[relay \S+ from review\]") == 1, "a question hands nothing over"
        assert QUESTION in duo.told()
        answered = duo.mat("answer", "duo", "--file", "-", stdin=ANSWER).stdout
        assert answered.startswith(f"answered {asked.data['question']} of review ({QUESTION}) by r-")
        duo.wait("cycle.completed", 60, by="dev")
        duo.wait_arrived("^<goal_complete>")
        duo.at_rest()

        requests = [request for request in duo.model.requests() if request["tools"]]
        rounds = [r["answer"].removeprefix("rule ") for r in requests if not r["results"]]
        assert rounds == ROUNDS, duo.story()
        assert {r["answer"] for r in requests if r["results"]} == {"rule after a command"}
        conversations = {r["users"][0]["sha"]: [user["head"] for user in r["users"]] for r in requests}
        dev, review = conversations.values()
        assert duo.arrived("") == len(ROUNDS)
        assert duo.arrived("^<goal_complete>") == 1
        assert (len(dev), len(review)) == (4, 4), "one conversation for each role"
        assert KICK in dev[0]
        relays = [(e.data["from"], e.data["to"]) for e in duo.entries("relay.sent")]
        assert relays == [
            ("human", "dev"), ("dev", "review"), ("review", "dev"), ("dev", "review"), ("human", "review"),
            ("review", "dev"),
        ]  # fmt: skip
        assert [e.data["confirmed"] for e in duo.entries("relay.delivered")] == [True] * len(relays)
        assert [e.data["kind"] for e in duo.entries("notify")] == ["question", "cycle-completed"]
        assert not duo.entries("human.acted")
