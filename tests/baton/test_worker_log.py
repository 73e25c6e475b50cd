"""What a worker says of its troubles: once, and to its user alone."""

from __future__ import annotations

import os
import subprocess
import sys

from baton import record
from baton.record import Job, Served
from tests.baton.rig import Rig

FAILS = """
import os, signal, sys
import watchfiles
tries = []
def broken(*_, **__):
    tries.append(1)
    if len(tries) == 5:
        os.kill(os.getpid(), signal.SIGTERM)
    raise OSError(28, "inotify watch limit reached")
watchfiles.watch = broken
from baton import worker
worker.AGAIN_S, worker.SAID_AGAIN_S = 0.01, {again_s}
sys.exit(worker.main([{root!r}]))
"""


def said(rig: Rig, again_s: float) -> int:
    """How often a worker says what it meets five times."""
    served = {role: Served("quick", str(rig.work), str(rig.prompt)) for role in rig.roles}
    record.write(
        record.job_path(rig.places), Job("duo", str(rig.work), os.environ["PATH"], str(rig.state.spool), served)
    )
    code = FAILS.format(root=str(rig.places.root), again_s=again_s)
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr.count("inotify watch limit reached")


def test_a_fault_that_goes_on_is_said_once(rig: Rig) -> None:
    """No watch to be had on a busy machine: a line a second would fill the disk in the end."""
    assert said(rig, 3600) == 1


def test_a_fault_that_is_still_there_much_later_is_said_again(rig: Rig) -> None:
    """Whoever looks into the log then is told, too."""
    assert said(rig, 0.0) == 5


def test_the_log_is_its_users_alone(rig: Rig) -> None:
    """Whatever the umask is."""
    before = os.umask(0)
    try:
        rig.up()
    finally:
        os.umask(before)
    assert record.log_path(rig.places).stat().st_mode & 0o777 == 0o600
