# SPDX-License-Identifier: LGPL-2.1-or-later
"""The right to suspend the queues of one process."""
from __future__ import annotations

import time
from contextlib import contextmanager
from typing import Iterable, Iterator, Optional, Tuple

from ._handle import Closable
from .errors import EndedError
from .gang import Events, Gang, Member, Outcome, Verdict

__all__ = ["Events", "Outcome", "Session", "Verdict"]


class Session(Closable):
    """A session on one process. Any thread may call, one at a time does.

    with Session(pid) as session:
        session.suspend()
        ...
        session.resume()

    When it is closed, or when this process ends, the queues run.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._gang = Gang([pid])

    def suspend(self, ids: Optional[Iterable[int]] = None,
                gpu_ids: Optional[Iterable[int]] = None,
                priority: Optional[Tuple[int, int]] = None) -> Outcome:
        """Suspend all queues, or those that are meant. New ones, too."""
        return self._gang.suspend(ids, gpu_ids, priority)[0].outcome

    def resume(self, ids: Optional[Iterable[int]] = None,
               gpu_ids: Optional[Iterable[int]] = None,
               priority: Optional[Tuple[int, int]] = None) -> Outcome:
        """Have queues run again."""
        return self._gang.resume(ids, gpu_ids, priority)[0].outcome

    @contextmanager
    def suspended(self) -> Iterator[Outcome]:
        """All queues are off the GPU inside of the with block."""
        outcome = self.suspend()
        try:
            yield outcome
        finally:
            self.resume()

    def verify(self) -> Verdict:
        """Does the view show every slot of the suspended queues inactive?"""
        return self._gang.verify()[0].verdict

    def sample_slots(self, on: bool = True) -> None:
        """Measure when slots become inactive (Outcome.slots_ns)."""
        self._gang.sample_slots(on)

    @property
    def open_ns(self) -> int:
        """What opening the session took."""
        return self._member().open_ns

    @property
    def events(self) -> Events:
        """All that happened to the process since the session was opened."""
        return self._member().events

    def _member(self) -> Member:
        return self._gang.members()[0]

    def fileno(self) -> int:
        """A descriptor that is readable when the process has had an event."""
        return self._gang.fileno()

    def wait(self, seconds: Optional[float] = None) -> Events:
        """Wait until the process ends, at most so long. Raises EndedError then.

        The process is served without it: wait() is for programs that want to
        learn of its end.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            member = self._gang.wait(None if left is None else max(left, 0))[0]
            if member.events & Events.ENDED:
                raise (member.error or
                       EndedError(f"process {self.pid} has ended", -3, 0, 5))
            if left is not None and left <= 0:
                return member.events

    def close(self) -> None:
        """Resume all queues and leave the process. May be called again."""
        self._gang.close()
