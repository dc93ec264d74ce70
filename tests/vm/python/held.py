# SPDX-License-Identifier: GPL-2.0-only
"""Hold a process through a holder.

    held.py PID WHAT FILE

WHAT: with, pause, detach or fork. FILE gets a line with a PID for the last.
"""
import errno
import os
import select
import sys
import time

import gpreempt


def suspended(pid):
    return [queue.suspended for queue in gpreempt.queues(pid)]


def use(pid):
    with gpreempt.Hold(pid, lease=None) as hold:
        assert suspended(pid) == [1, 1]
        assert hold.first.verdict is gpreempt.Verdict.VERIFIED, hold.first
        assert hold.first.queues == 2 and hold.first.ioctl_ns, hold.first
        assert hold.first.lease_left is None and not hold.first.partial
        try:
            gpreempt.Hold(pid)
        except gpreempt.BusyError as error:
            print("second hold:", error)
        else:
            raise AssertionError("two holds of one process")
        hold.extend(60)
        status = hold.status()
        assert 0 < status.lease_left <= 60, status
        assert status.holder == hold.first.holder, status
        assert not select.select([hold], [], [], 0)[0]
    assert suspended(pid) == [0, 0]
    with gpreempt.Hold(pid, ids=[0], lease=0.5) as hold:
        assert suspended(pid) == [1, 0]
        assert select.select([hold], [], [], 20)[0]
        try:
            hold.extend(1)
        except gpreempt.Error as error:
            assert error.code == -errno.ENOTCONN, error.code
        else:
            raise AssertionError("its lease is over")
    hold.close()


def leave(pid):
    with gpreempt.Hold(pid, lease=3) as hold:
        hold.detach()
    assert suspended(pid) == [1, 1]


def fork(pid, told):
    hold = gpreempt.Hold(pid, lease=None)
    child = os.fork()
    if not child:
        time.sleep(1000)
    with open(told, "w") as file:
        print(f"program {os.getpid()}\nforked {child}", file=file)
    while hold.status().queues:
        time.sleep(0.1)


def pause(pid):
    with gpreempt.Gang() as gang:
        gang.add(pid, how=gpreempt.How.PAUSE)
        member, = gang.suspend()
        assert member.how is gpreempt.How.PAUSE, member
        assert [queue.evicted for queue in gpreempt.queues(pid)] == [1, 1]
    assert [queue.evicted for queue in gpreempt.queues(pid)] == [0, 0]


def main(pid, what, told):
    if what == "with":
        use(pid)
    elif what == "pause":
        pause(pid)
    elif what == "detach":
        leave(pid)
    else:
        fork(pid, told)


if len(sys.argv) != 4:
    sys.exit("usage: held.py PID with|pause|detach|fork FILE")
main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
