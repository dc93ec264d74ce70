# SPDX-License-Identifier: GPL-2.0-only
"""Requests to guard from Python.

    online.py PID

checks that process PID is off the GPU inside of a request and runs outside.
"""
import sys
import threading
import time

import gpreempt


def wait_until(pid, suspended):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if all(q.suspended == suspended for q in gpreempt.queues(pid)):
            return
        time.sleep(0.02)
    raise AssertionError(f"suspended is not {suspended}")


def main(pid):
    with gpreempt.Online(timeout=20) as guard:
        with guard.request():
            wait_until(pid, 1)
            other = threading.Thread(target=lambda: guard.begin())
            other.start()
            other.join()
            assert guard.end() == 1
            wait_until(pid, 1)
        wait_until(pid, 0)
        try:
            guard.end()
        except gpreempt.Error as error:
            print("none was open:", error)
        else:
            raise AssertionError("no request was open")
        guard.begin()
        wait_until(pid, 1)
    # Closing the connection has ended its request.
    wait_until(pid, 0)
    print("done")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(int(sys.argv[1]))
