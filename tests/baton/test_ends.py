"""Worker and keeper end before anybody says so, however they hang and whatever is written down of them."""

from __future__ import annotations

import os
import signal

import pytest

from baton import keeper, lock, process, record
from matcore.errors import Unavailable
from tests.baton.rig import Rig
from tests.contract import SESSION
from tests.waiting import wait_for


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "ENDS_WITHIN_S", 1.0)


def hang_keeper(rig: Rig) -> int:
    """It hears nothing any more; its worker does."""
    kept = keeper.look(rig.places.root)
    assert kept is not None
    os.kill(kept.pid, signal.SIGSTOP)
    return kept.worker


def test_a_keeper_that_hangs_is_ended_with_its_worker(rig: Rig) -> None:
    """Nobody takes the worker that it leaves for another one in another environment."""
    rig.up()
    worker = hang_keeper(rig)
    process.end_keeper(rig.places)
    assert keeper.look(rig.places.root) is None
    assert not process.is_alive(rig.places)
    assert worker not in [left.pid for left in rig.running()]


def test_another_start_has_another_worker(rig: Rig) -> None:
    """Also where the keeper before it hung."""
    rig.up()
    before = hang_keeper(rig)
    process.start(rig.places)
    assert rig.pid() not in (None, before)


def test_a_worker_whose_name_is_nowhere_is_ended(rig: Rig) -> None:
    """Its keeper is gone and its lock's file was emptied: it still holds the lock, and is found by that."""
    rig.up()
    kept = keeper.look(rig.places.root)
    assert kept is not None
    os.kill(kept.pid, signal.SIGKILL)
    wait_for(lambda: keeper.look(rig.places.root) is None, what="no keeper")
    record.lock_path(rig.places).write_text("")
    rig.driver.stop(SESSION)
    assert not process.is_alive(rig.places)
    wait_for(lambda: kept.worker not in [left.pid for left in rig.running()], what="no worker")


def test_a_worker_that_can_not_be_found_is_not_called_ended(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """`mat down` says that it lives on, and where to look."""
    rig.up()
    monkeypatch.setattr(keeper, "look", lambda _root: None)
    monkeypatch.setattr(lock, "holders", lambda _path: [])
    with pytest.raises(Unavailable, match=r"the worker does not end; it holds .*serve\.lock"):
        rig.driver.stop(SESSION)
