# SPDX-License-Identifier: LGPL-2.1-or-later
"""libgpreempt in Python.

    import gpreempt

    for process in gpreempt.processes():
        print(process.pid, process.queues)

    with gpreempt.Session(pid) as session:
        with session.suspended() as outcome:
            print(outcome.ioctl_ns)         # the queues of pid are off the GPU
                                            # and here they run again

    with gpreempt.Hold(pid, lease=10):      # the same through a holder: this
        ...                                 # program may hang or be killed

All functions raise gpreempt.Error or one of its subclasses. It says in words
what failed (str(error)) and what to do about it (error.next_step).

Each call that can wait releases the GIL. A session has a thread of the
library's own, which passes the signals of the target on: a Python thread, or an
extension that keeps the GIL, cannot stall the target.
"""
from ._version import VERSION as __version__
from .errors import (BusyError, EndedError, Error, NoTargetError,
                     PermissionDeniedError, UnsupportedError)
from .gang import Gang, How, Member
from .hold import Hold, HoldStatus
from .online import Online
from .session import (Events, Outcome, Session, Verdict)
from .view import (Node, Process, Queue, Slot, Target, Usage, check, nodes,
                   processes, queues, select, simulated, slots, usage)

__all__ = [
    "BusyError", "EndedError", "Error", "Events", "Gang", "Hold",
    "HoldStatus", "How", "Member", "NoTargetError", "Node", "Online", "Outcome", "PermissionDeniedError",
    "Process", "Queue", "Session", "Slot", "Target", "UnsupportedError", "Usage",
    "Verdict", "__version__", "check", "nodes", "processes",
    "queues", "select", "simulated", "slots", "usage",
]
