"""Many deliveries in a row into a real pane of a real agent program: each is submitted exactly once, and how soon.

    python -m benchmarks.deliveries pi|claude|codex|opencode [N] [--pause 1.5] [--seed 1]

The whole way of a text: `mat send` by a person, the real supervisor, a real tmux, the program (`MAT_AGENTS_DIR`), in a
network with nothing but the scripted model, whose log is the judge. The next text is sent at random up to `--pause`
seconds after the one before was submitted, so some wait for the end of a turn. A time is from the start of `mat send`
to `relay.delivered`, and thus includes what it takes to start Python. Exits with 1 when a text arrived twice, not at
all, out of order or with anything else, or when a delivery was not confirmed; what happened is kept then, and named.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.agents.duo import LabDuo, lab_duo
from tests.agents.lab import lab

ROLE = "review"
MOST_S = 60.0
LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Sent:
    """One delivery as it ended. `refusals`: how often it was put off before."""

    relay: str
    confirmed: bool
    took_s: float
    refusals: int


def send(duo: LabDuo, number: int) -> Sent:
    """Send the text `number` and wait until the engine is done with it."""
    start = time.time()
    duo.mat("send", duo.session, ROLE, f"Text {number} of many.")
    while time.time() - start < MOST_S:
        ended = duo.entries("relay.delivered", "relay.undeliverable")
        if len(ended) >= number:
            entry = ended[-1]
            tried = duo.entries("engine.injected", relay=entry.data["id"], verdict="refused")
            confirmed = entry.data.get("confirmed") is True
            return Sent(str(entry.data["id"]), confirmed, entry.wall - start, len(tried))
        time.sleep(LOOK_S)
    raise TimeoutError(f"text {number} was not delivered in {MOST_S:g} s\n{duo.story()}")


def judged(duo: LabDuo, sent: list[Sent]) -> tuple[int, list[str]]:
    """How many of `sent` the model was given exactly once, and what its log and the journal say against them."""
    last = sent[-1].relay
    deadline = time.time() + MOST_S
    while not duo.arrived(rf"^\[relay {last} from human\]") and time.time() < deadline:
        time.sleep(LOOK_S)
    requests = [request for request in duo.model.requests() if request["tools"]]
    conversation = max((request["users"] for request in requests), key=len)
    heads = [user["head"] for user in conversation]
    found = [f"not confirmed: {each.relay}" for each in sent if not each.confirmed]
    wanted = [f"[relay {each.relay} from human]\nText {number} of many." for number, each in enumerate(sent, 1)]
    counts = Counter(heads)
    if heads != wanted:
        found += [f"arrived {counts[text]} times: {text!r}" for text in wanted if counts[text] != 1]
        found += [f"never sent, but arrived: {text!r}" for text in counts if text not in wanted]
        found += ["out of order"] if not found else []
    if len({request["users"][0]["sha"] for request in requests}) != 1:
        found.append("more than one conversation")
    found += [f"{entry.name} was journalled" for entry in duo.entries("human.acted", "question.asked")]
    return sum(counts[text] == 1 for text in wanted), found


def measure(program: str, count: int, pause_s: float, seed: int, folder: Path) -> int:
    choice = random.Random(seed)
    with lab(program, folder) as made, lab_duo(made, program, window=86_400) as duo:
        duo.alone(ROLE).up()
        duo.at_rest(ROLE)
        before, sent = os.getloadavg()[0], list[Sent]()
        began = time.monotonic()
        for number in range(1, count + 1):
            sent.append(send(duo, number))
            time.sleep(choice.uniform(0, pause_s))
        took_s = time.monotonic() - began
        once, wrong = judged(duo, sent)
        took = sorted(each.took_s for each in sent)
        p95 = took[min(count - 1, int(count * 0.95))]
        print(
            f"{program}: {count} sent in {took_s:.0f} s, {once} submitted exactly once, "
            f"{sum(not each.confirmed for each in sent)} unconfirmed, {sum(each.refusals for each in sent)} put off; "
            f"send → submitted: median {statistics.median(took):.2f} s, p95 {p95:.2f} s, max {took[-1]:.2f} s "
            f"({os.cpu_count()} cores, load {before:.1f} → {os.getloadavg()[0]:.1f})",
            flush=True,
        )
        if wrong:
            print("\n".join([*wrong, duo.story()]), file=sys.stderr)
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=("pi", "claude", "codex", "opencode"))
    parser.add_argument("count", nargs="?", type=int, default=100)
    parser.add_argument("--pause", type=float, default=1.5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="mat-d-", dir="/tmp"))  # a socket's path may have 107 bytes
    status = measure(args.program, args.count, args.pause, args.seed, folder)
    if status:
        print(f"what happened is kept in {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
