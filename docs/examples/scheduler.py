#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A scheduler of a page, on the Python package of libgpreempt.

    scheduler.py [--slice SECONDS] OFFLINE-PID REQUESTS COMMAND...

runs COMMAND so many times, each time with the queues of the offline process off
the GPU: until the command is done, or the slice is over.
"""
from __future__ import annotations

import subprocess
import sys
import threading
from typing import Callable, Optional

import gpreempt


class GPreemptScheduler:
    """Online work goes first: while there is some, the offline process is off
    the GPU.

    A request suspends it. It runs again when the work is done, or after
    slice_seconds: so it does not starve.
    """

    def __init__(self, offline_pid: int, slice_seconds: float = 1.0) -> None:
        self.session = gpreempt.Session(offline_pid)
        self.slice = slice_seconds
        self._lock = threading.Lock()
        self._suspended = False

    def handle_online_request(self, work: Callable[[], object]) -> gpreempt.Outcome:
        """Do work() with the offline process off the GPU. Returns what the
        suspend did. Raises gpreempt.EndedError when that process has ended."""
        with self._lock:
            outcome = self.session.suspend()
            self._suspended = True
        timer = threading.Timer(self.slice, self._resume)
        timer.start()
        try:
            work()
        finally:
            timer.cancel()
            self._resume()
        # Raises when the process has ended meanwhile.
        self.session.wait(0)
        return outcome

    def _resume(self) -> None:
        with self._lock:
            if self._suspended:
                self._suspended = False
                self.session.resume()

    def stop(self) -> None:
        self.session.close()


def main(argv: list[str]) -> Optional[str]:
    seconds = 1.0
    if argv[:1] == ["--slice"]:
        seconds, argv = float(argv[1]), argv[2:]
    if len(argv) < 3:
        return __doc__
    try:
        scheduler = GPreemptScheduler(int(argv[0]), seconds)
        for n in range(int(argv[1])):
            outcome = scheduler.handle_online_request(
                lambda: subprocess.run(argv[2:], check=False))
            print(f"request {n + 1}: {outcome.done} of {outcome.requested} "
                  f"queues suspended in {outcome.ioctl_ns / 1e3:.1f} us",
                  flush=True)
        scheduler.stop()
    except gpreempt.Error as error:
        return f"scheduler.py: {error}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
