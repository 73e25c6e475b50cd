"""Times: a journal's goes on whatever the calendar does, and a loop that stood still is noticed."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcore.engine.clock import Clock, Gap, JournalClock, LoopWatch, Mark, SystemClock
from tests.fakeclock import FakeClock


@pytest.mark.parametrize("clock", [SystemClock(), FakeClock()], ids=["real", "fake"])
class TestAnyClock:
    def test_time_does_not_go_back(self, clock: Clock) -> None:
        """Boot time and monotonic time never decrease, and boot time is never behind."""
        reads = [(clock.mono_s(), clock.boot_s()) for _ in range(50)]
        assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in itertools.pairwise(reads))
        assert all(boot_s >= mono_s for mono_s, boot_s in reads)

    def test_a_boot_has_one_name(self, clock: Clock) -> None:
        """The boot's id is some text and stays what it is."""
        assert clock.boot_id()
        assert clock.boot_id() == clock.boot_id()

    def test_the_calendar_is_of_this_age(self, clock: Clock) -> None:
        """Wall time is in seconds since 1970."""
        assert 1.6e9 < clock.wall_s() < 1e11


def test_two_processes_of_one_boot_agree() -> None:
    """Another clock object of the same host has the same boot id and goes on from the same boot time."""
    one, other = SystemClock(), SystemClock()
    assert one.boot_id() == other.boot_id()
    earlier = one.boot_s()
    assert 0 <= other.boot_s() - earlier < 60


class TestJournalClock:
    def test_a_new_journal_starts_at_the_wall_clock(self) -> None:
        """The first entry's time is the wall clock's, and its mark is to be journalled."""
        host = FakeClock(boot_s=50.0, wall_s=1_700_000_000.0)
        clock = JournalClock(host)
        assert clock.is_new
        assert clock.mark == Mark("boot-1", 50.0, 1_700_000_000.0, 1_700_000_000.0)
        assert clock.stamp() == 1_700_000_000.0

    def test_the_calendar_has_no_say_within_a_boot(self) -> None:
        """Hours forward or back on the wall clock change nothing."""
        host = FakeClock(wall_s=1_700_000_000.0)
        clock = JournalClock(host)
        for wall_s in (0.0, 1_700_090_000.0, 1_699_000_000.0):
            before = clock.now()
            host.set_wall(wall_s)
            host.advance(2.0)
            assert clock.now() == before + 2.0

    def test_a_restarted_supervisor_goes_on_in_the_same_boot(self) -> None:
        """With the journalled mark, a second process has the same time as the first, calendar or not."""
        host = FakeClock()
        first = JournalClock(host)
        host.advance(100.0)
        host.set_wall(5.0)
        second = JournalClock(host, first.mark, last_at=first.mark.at, last_wall=first.mark.wall)
        assert not second.is_new
        assert second.now() == first.now()

    def test_across_boots_the_wall_clock_counts(self) -> None:
        """After a reboot the time goes on by what the wall clock says has passed since the last entry."""
        host = FakeClock()
        first = JournalClock(host)
        host.advance(100.0)
        last_at, last_wall = first.stamp(), host.wall_s()
        host.advance(20.0)
        host.reboot("boot-2", down_s=3600.0)
        second = JournalClock(host, first.mark, last_at=last_at, last_wall=last_wall)
        assert second.is_new
        assert second.mark.boot_id == "boot-2"
        assert second.now() == last_at + 20.0 + 3600.0

    def test_a_calendar_set_back_across_a_boot_loses_time_but_never_goes_back(self) -> None:
        """The time stands where it was rather than go backwards."""
        host = FakeClock()
        first = JournalClock(host)
        last_at, last_wall = first.stamp(), host.wall_s()
        host.reboot("boot-2")
        host.set_wall(1_000.0)
        second = JournalClock(host, first.mark, last_at=last_at, last_wall=last_wall)
        assert second.now() == last_at
        host.advance(1.0)
        assert second.now() == last_at + 1.0

    def test_a_boot_time_that_went_back_is_another_boot(self) -> None:
        """A restored machine with the same boot id and a smaller boot time gets a mark of its own."""
        host = FakeClock(boot_s=10.0)
        mark = Mark("boot-1", 5_000.0, 1_000.0, 1_700_000_000.0)
        clock = JournalClock(host, mark, last_at=1_200.0, last_wall=1_700_000_000.0)
        assert clock.is_new
        assert clock.now() == 1_200.0

    def test_sleep_counts(self) -> None:
        """A suspended machine's time passes in the journal."""
        host = FakeClock()
        clock = JournalClock(host)
        before = clock.now()
        host.sleep(8 * 3600.0)
        assert clock.now() == before + 8 * 3600.0

    def test_boot_times_become_journal_times_and_back(self) -> None:
        """Conversion goes both ways, for the past and the future."""
        host = FakeClock(boot_s=1_000.0)
        clock = JournalClock(host)
        host.advance(50.0)
        assert clock.at(1_020.0) == clock.mark.at + 20.0
        assert clock.boot_s(clock.mark.at + 600.0) == 1_600.0
        assert clock.at(clock.boot_s(clock.now())) == clock.now()

    def test_stamps_never_go_back(self) -> None:
        """A sighting that comes late gets the time of the entry before it."""
        host = FakeClock(boot_s=1_000.0)
        clock = JournalClock(host)
        host.advance(10.0)
        stamped = clock.stamp()
        assert clock.stamp(1_004.0) == stamped
        assert clock.at(1_004.0) < stamped

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["advance", "sleep", "set_wall", "reboot", "restart"]), st.floats(0, 1e7, width=32)
            ),
            max_size=30,
        )
    )
    def test_no_history_of_a_host_takes_a_journal_back(self, history: list[tuple[str, float]]) -> None:
        """Whatever happens to the host, stamps never decrease."""
        host = FakeClock()
        clock = JournalClock(host)
        last_at, last_wall, boot = clock.stamp(), host.wall_s(), 1
        for what, value in history:
            match what:
                case "advance":
                    host.advance(value)
                case "sleep":
                    host.sleep(value)
                case "set_wall":
                    host.set_wall(value)
                case "reboot":
                    boot += 1
                    host.reboot(f"boot-{boot}", down_s=value)
                    clock = JournalClock(host, clock.mark, last_at=last_at, last_wall=last_wall)
                case _:
                    clock = JournalClock(host, clock.mark, last_at=last_at, last_wall=last_wall)
            at = clock.stamp()
            assert at >= last_at
            last_at, last_wall = at, host.wall_s()


class TestLoopWatch:
    def test_a_loop_that_turns_is_no_gap(self) -> None:
        """Turns within the window, and the calendar's jumps, are nothing."""
        host = FakeClock()
        watch = LoopWatch(host)
        for _ in range(5):
            host.advance(600.0)
            host.set_wall(3.0)
            assert watch.beat(600.0) is None

    def test_a_suspended_machine_is_noticed_however_short(self) -> None:
        """A sleep is a gap, and its length is what the machine slept, not what passed."""
        host = FakeClock(boot_s=100.0)
        watch = LoopWatch(host)
        host.advance(3.0)
        host.sleep(30.0)
        host.advance(2.0)
        assert watch.beat(600.0) == Gap(100.0, 135.0, 30.0)
        assert watch.beat(600.0) is None

    def test_a_loop_that_stood_still_is_noticed(self) -> None:
        """More than a window between two turns is a gap without sleep."""
        host = FakeClock(boot_s=100.0)
        watch = LoopWatch(host)
        host.advance(600.5)
        assert watch.beat(600.0) == Gap(100.0, 700.5, 0.0)

    def test_the_real_clocks_are_no_gap(self) -> None:
        """Reading two clocks one after the other is not taken for a sleep."""
        watch = LoopWatch(SystemClock())
        assert all(watch.beat(600.0) is None for _ in range(1000))
