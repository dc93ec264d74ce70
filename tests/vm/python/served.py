# SPDX-License-Identifier: GPL-2.0-only
"""Hold a process from Python, and do what a careless program does meanwhile.

    served.py PID FILE SECONDS

suspends the process, keeps the GIL in a C call for so long without looking at the
session once, and resumes the process. FILE gets a line after each of these.
"""
import ctypes
import errno
import sys
import time

import gpreempt


def keep_the_gil(seconds):
    """ctypes.PyDLL, unlike CDLL, does not release the GIL around a call."""
    end = time.monotonic() + seconds
    libc = ctypes.PyDLL(None)
    while time.monotonic() < end:
        libc.usleep(ctypes.c_uint(int(seconds * 1e6)))


def main(pid, told, seconds):
    queues = gpreempt.queues(pid)
    assert [queue.qid for queue in queues] == sorted(q.qid for q in queues)
    assert all(queue.type == "compute-aql" for queue in queues), queues
    assert pid in [process.pid for process in gpreempt.processes()]
    assert gpreempt.nodes()[0].xccs and gpreempt.simulated()
    assert gpreempt.select([f"{pid}"])[0].pid == pid
    assert all(slot.active for slot in gpreempt.slots(pid))
    with gpreempt.Session(pid) as session:
        try:
            gpreempt.Session(pid)
        except gpreempt.BusyError as error:
            print("second session:", error)
        else:
            raise AssertionError("two sessions on one process")
        with session.suspended() as outcome:
            assert outcome.done == outcome.requested == len(queues), outcome
            assert session.verify() is gpreempt.Verdict.VERIFIED
            state = gpreempt.queues(pid)[0]
            assert state.active == 0 and "suspended" in state.state, state
            print("held", file=told, flush=True)
            keep_the_gil(seconds)
            print("free", file=told, flush=True)
        print("resumed", file=told, flush=True)
        assert session.events & gpreempt.Events.SIGNAL, session.events
        session.suspend(ids=[queues[0].qid])
        assert [q.suspended for q in gpreempt.queues(pid)][:2] == [1, 0]
        session.resume()
        try:
            session.wait(30)
        except gpreempt.EndedError as error:
            print("ended:", error)
        else:
            raise AssertionError("its end was not seen")
    try:
        gpreempt.Online()
    except gpreempt.Error as error:
        assert error.code in (-errno.ENOENT, -errno.ECONNREFUSED), error.code
        print("no guard:", error)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    with open(sys.argv[2], "w", encoding="utf-8") as told_file:
        main(int(sys.argv[1]), told_file, float(sys.argv[3]))
