"""The two clocks: the system's, and one that steps by itself for tests and golden logs."""

import time
from dataclasses import dataclass


class SystemClock:
    """The time of the machine."""

    def now(self) -> int:
        """Return microseconds since 1970 in UTC."""
        return time.time_ns() // 1000


@dataclass(slots=True)
class SteppingClock:
    """A clock that starts at `at` and moves on by `step` microseconds every time it is read."""

    at: int = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z
    step: int = 1_000_000

    def now(self) -> int:
        """Return the present reading, then move on."""
        reading, self.at = self.at, self.at + self.step
        return reading
