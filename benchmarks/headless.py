"""Many headless duos of scripted agents at once: how soon turns start, and what supervisor and workers cost.

`python -m benchmarks.headless [--duos 50] [--minutes 5]`. In a folder of its own, which is removed. Each duo hands work
to and fro; a turn works for `--pause` seconds. Asked for: each pending message's turn starts within 2 s of the role
being free, and supervisor and workers take less than one core in sum, beside the agents themselves.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import yaml

MAT = [str(Path(sys.executable).parent / "mat")]
TICK_S = 2.0


@dataclass(frozen=True, slots=True)
class Load:
    """CPU seconds of the house's own processes, by what they are."""

    supervisor: float
    workers: float


def script(other: str, pause_s: float) -> dict[str, Any]:
    step = {"send-relay": {"to": other, "body": "Turn {{turn}}.", "file": "{{role}}.md"}}
    hand_over = {"when": "Work on|relay r-|IDLE RECOVERY", "steps": [{"work": pause_s}, step]}
    return {"rules": [hand_over], "default": [{"print": "Noted."}]}


def make(folder: Path, name: str, pause_s: float) -> Path:
    work = folder / name
    work.mkdir()
    roles = {}
    for role, other in (("dev", "review"), ("review", "dev")):
        path = work / f"{role}.yaml"
        path.write_text(yaml.safe_dump(script(other, pause_s)), encoding="utf-8")
        roles[role] = {"backend": "scripted", "prompt": f"duo-{role}", "args": ["--script", str(path)]}
    roles["dev"]["kick"] = "Work on it"
    told = [{"command": ["tee", "-a", str(folder / "told.txt")]}]
    config = {"session": name, "driver": "baton", "roles": roles, "notify": told}
    (work / "duo.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    return work


def ours(env: dict[str, str]) -> Iterator[tuple[psutil.Process, str]]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            line = " ".join(process.cmdline())
            kind = (
                "workers"
                if "baton.worker" in line
                else "supervisor"
                if "matcore" in line or "supervise" in line
                else ""
            )
            if kind and "scripted" not in line and process.environ().get("XDG_STATE_HOME") == env["XDG_STATE_HOME"]:
                yield process, kind


def load(env: dict[str, str]) -> Load:
    spent = {"supervisor": 0.0, "workers": 0.0}
    for process, kind in ours(env):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            spent[kind] += times.user + times.system  # without children: those are the agents
    return Load(**spent)


def waits(works: list[Path], since_s: float) -> list[float]:
    """Seconds for which a message lay in `pending` while its role was free, for each turn that began since then."""
    found = []
    for work in works:
        for turns in work.glob(".mat/*/turns"):
            boxes = turns.parent / "mailbox"
            for role in boxes.iterdir():
                records = [json.loads(path.read_text()) for path in sorted(turns.glob(f"{role.name}-*.json"))]
                ends = {record["turn"]: record["ended_s"] for record in records}
                sent = {}
                for path in (role / "inbox" / "done").glob("*.json"):
                    data = json.loads(path.read_text())
                    sent[data["message_id"]] = int(path.name[:20]) / 1e9 - time.time() + boot_s()
                for record in records:
                    free_s = max(ends.get(record["turn"] - 1, 0.0), sent.get(record["message"], 0.0))
                    if record["started_s"] >= since_s and record["message"] in sent:
                        found.append(record["started_s"] - free_s)
    return found


def boot_s() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def run(duos: int, minutes: float, pause_s: float, folder: Path) -> None:
    env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder)}
    works = [make(folder, f"duo-{number:03d}", pause_s) for number in range(duos)]
    try:
        began = time.monotonic()
        for work in works:
            subprocess.run([*MAT, "up"], cwd=work, env=env, check=True, capture_output=True)
        print(f"{duos} duos up in {time.monotonic() - began:.0f} s")
        since_s, before, start = boot_s(), load(env), time.monotonic()
        time.sleep(minutes * 60)
        took, after = time.monotonic() - start, load(env)
        report(
            waits(works, since_s), before, after, took, [p.memory_info().rss for p, k in ours(env) if k == "workers"]
        )
    finally:
        end(works, env)


def report(waited: list[float], before: Load, after: Load, took: float, rss: list[int]) -> None:
    print(f"turns started: {len(waited)} in {took:.0f} s")
    if waited:
        ordered = sorted(waited)
        p95 = ordered[int(len(ordered) * 0.95)]
        late = sum(wait > 2 for wait in waited)
        print(f"free and pending → started: median {statistics.median(waited) * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms, "
              f"max {ordered[-1] * 1000:.0f} ms, later than 2 s: {late}")  # fmt: skip
    supervisor, workers = after.supervisor - before.supervisor, after.workers - before.workers
    print(f"cores: supervisor and guard {supervisor / took:.3f}, workers {workers / took:.3f}, "
          f"sum {(supervisor + workers) / took:.3f}")  # fmt: skip
    print(f"memory of a worker: {statistics.median(rss) / 2**20:.0f} MiB" if rss else "no worker left")


def end(works: list[Path], env: dict[str, str]) -> None:
    for work in works:
        subprocess.run([*MAT, "down", work.name, "--now"], cwd=work, env=env, check=False, capture_output=True)
    for process, _ in ours(env):
        with contextlib.suppress(psutil.Error):
            process.kill()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duos", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--pause", type=float, default=20.0, help="seconds that each turn works")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-headless-", dir="/var/tmp"))
    try:
        run(given.duos, given.minutes, given.pause, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
