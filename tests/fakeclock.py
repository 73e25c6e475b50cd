"""The clocks of a host whose time moves only when told. They pass the tests of the real ones (`test_clock.py`)."""

from __future__ import annotations


class FakeClock:
    """A host whose time moves only when told. Passes the tests of the real one."""

    def __init__(self, *, boot_s: float = 1_000.0, wall_s: float = 1_700_000_000.0, boot_id: str = "boot-1") -> None:
        self._boot_s = boot_s
        self._mono_s = boot_s
        self._wall_s = wall_s
        self._boot_id = boot_id

    def boot_s(self) -> float:
        return self._boot_s

    def mono_s(self) -> float:
        return self._mono_s

    def wall_s(self) -> float:
        return self._wall_s

    def boot_id(self) -> str:
        return self._boot_id

    def advance(self, seconds: float) -> None:
        """Time passes while the machine is awake."""
        self._boot_s += seconds
        self._mono_s += seconds
        self._wall_s += seconds

    def sleep(self, seconds: float) -> None:
        """The machine is suspended for so long."""
        self._boot_s += seconds
        self._wall_s += seconds

    def set_wall(self, wall_s: float) -> None:
        """Somebody sets the calendar; no time passes."""
        self._wall_s = wall_s

    def reboot(self, boot_id: str, *, down_s: float = 60.0) -> None:
        """The machine was off for `down_s` and starts counting anew."""
        self._wall_s += down_s
        self._boot_s = self._mono_s = 5.0
        self._boot_id = boot_id
