# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sessions on several processes, suspended at the same time."""
from __future__ import annotations

import ctypes
import enum
import os
import select as _select
import threading
import weakref
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Iterable, Iterator, List, Optional, Tuple

from . import _abi
from ._handle import Closable, handle
from .errors import Error, check, from_struct


class Verdict(enum.IntEnum):
    """What the hardware's registers say about the suspended queues."""
    NOT_CHECKED = 0
    VERIFIED = 1
    CONTRADICTED = 2


class How(enum.IntEnum):
    """By which method a process is held: enum gpreempt_how.

    AUTO   by a debug session, or by a pause where a session is not possible
    DEBUG  by a debug session: all queues, or some
    PAUSE  by a pause: all queues, and other debuggers can attach
    """
    AUTO = 0
    DEBUG = 1
    PAUSE = 2


class Events(enum.IntFlag):
    """What happened to a process: GPREEMPT_EVENT_ of session.h."""
    QUEUES = _abi.EVENT_QUEUES
    RUNTIME = _abi.EVENT_RUNTIME
    DESTROY = _abi.EVENT_DESTROY
    SIGNAL = _abi.EVENT_SIGNAL
    LOST = _abi.EVENT_LOST
    ENDED = _abi.EVENT_ENDED
    JOB = _abi.EVENT_JOB
    CHURN = _abi.EVENT_CHURN


@dataclass(frozen=True)
class Outcome:
    """What one suspend or resume of a process did: struct gpreempt_outcome."""
    ioctl_ns: int
    requested: int
    done: int
    refused: int
    failed: int
    slots_ns: Optional[int]
    resolution_ns: Optional[int]
    released_ns: int = 0


@dataclass(frozen=True)
class Member:
    """A process of a gang, and what last became of it: struct gpreempt_member."""
    pid: int
    events: Events
    verdict: Verdict
    open_ns: int
    start_ns: int
    outcome: Outcome
    error: Optional[Error]
    how: How = How.DEBUG


def _known(value: int) -> Optional[int]:
    return None if value == _abi.UNKNOWN else value


def _outcome(raw: _abi.OutcomeStruct) -> Outcome:
    return Outcome(raw.ioctl_ns, raw.requested, raw.done, raw.refused,
                   raw.failed, _known(raw.slots_ns), _known(raw.resolution_ns),
                   raw.released_ns)


def _member(raw: _abi.MemberStruct) -> Member:
    error = from_struct(raw.error) if raw.error.reason else None
    return Member(raw.pid, Events(raw.events), Verdict(raw.verdict),
                  raw.open_ns, raw.start_ns, _outcome(raw.outcome), error,
                  How(raw.method + 1))


def make_filter(ids: Optional[Iterable[int]],
                gpu_ids: Optional[Iterable[int]],
                priority: Optional[Tuple[int, int]]
                ) -> Optional[_abi.FilterStruct]:
    """None means all queues. An empty list of ids is refused: it means none."""
    if ids is None and gpu_ids is None and priority is None:
        return None
    which = _abi.FilterStruct()
    for name, numbers in (("ids", ids), ("gpu_ids", gpu_ids)):
        if numbers is None:
            continue
        values = list(numbers)
        if not values:
            raise ValueError(f"{name} is empty; leave it out to mean all")
        setattr(which, name, (ctypes.c_uint32 * len(values))(*values))
        setattr(which, f"n_{name}", len(values))
    if priority is not None:
        which.by_priority = True
        which.priority_min, which.priority_max = priority
    return which


class Gang(Closable):
    """Sessions on several processes; any thread may call, one at a time does.

    Each process has a thread of the library's own. It passes signals on,
    suspends new queues, and goes on doing that while Python does something else
    or an extension keeps the GIL. Use it as a context manager: close() resumes
    all queues. They run again, too, when this process ends, however it ends;
    but what was added with How.PAUSE stays paused when this process is killed.
    """

    _open: "weakref.WeakSet[Gang]" = weakref.WeakSet()

    def __init__(self, pids: Iterable[int] = ()) -> None:
        self._lock = threading.Lock()
        self._gang = ctypes.c_void_p()
        self._count = 0
        check(_abi.lib.gpreempt_gang_new(handle(), ctypes.byref(self._gang)),
              None, "making a gang")
        Gang._open.add(self)
        try:
            for pid in pids:
                self.add(pid)
        except BaseException:
            self.close()
            raise

    def __del__(self) -> None:
        if getattr(self, "_gang", None):
            self.close()

    @contextmanager
    def _use(self) -> Iterator[ctypes.c_void_p]:
        with self._lock:
            if not self._gang:
                raise ValueError("it is closed")
            yield self._gang

    def add(self, pid: int, how: How = How.DEBUG) -> None:
        """One more process, by a session or by pauses: not How.AUTO."""
        if how == How.AUTO:
            raise ValueError("a gang does not choose: DEBUG or PAUSE")
        err = _abi.ErrorStruct()
        with self._use() as gang:
            check(_abi.lib.gpreempt_gang_add(gang, pid, how - 1,
                                                ctypes.byref(err)),
                  err, f"adding process {pid}")
            self._count += 1

    def remove(self, pid: int) -> None:
        """Close the session on a process: its queues run."""
        with self._use() as gang:
            check(_abi.lib.gpreempt_gang_remove(gang, pid), None,
                  f"removing process {pid}")
            self._count -= 1

    def _members(self, gang: ctypes.c_void_p) -> List[_abi.MemberStruct]:
        room = (_abi.MemberStruct * max(self._count, 1))()
        count = _abi.lib.gpreempt_gang_members(gang, room, self._count)
        return [room[i] for i in range(min(count, self._count))]

    def _change(self, function: _abi.Function, doing: str,
                which: Optional[_abi.FilterStruct]) -> List[Member]:
        total = _abi.GangOutcomeStruct()
        with self._use() as gang:
            ret = function(gang, which, ctypes.byref(total))
            members = self._members(gang)
        for raw in members:
            if raw.code < 0:
                check(raw.code, raw.error, doing)
        check(ret, None, doing)
        return [_member(raw) for raw in members]

    def suspend(self, ids: Optional[Iterable[int]] = None,
                gpu_ids: Optional[Iterable[int]] = None,
                priority: Optional[Tuple[int, int]] = None) -> List[Member]:
        """Suspend the queues of all processes, or those that are meant.

        Raises the first error of a member; the others are suspended all the
        same. A queue that the hardware kept is no exception: see outcome.
        """
        return self._change(_abi.lib.gpreempt_gang_suspend, "suspending",
                            make_filter(ids, gpu_ids, priority))

    def resume(self, ids: Optional[Iterable[int]] = None,
               gpu_ids: Optional[Iterable[int]] = None,
               priority: Optional[Tuple[int, int]] = None) -> List[Member]:
        """Have the queues run again."""
        return self._change(_abi.lib.gpreempt_gang_resume, "resuming",
                            make_filter(ids, gpu_ids, priority))

    def sample_slots(self, on: bool = True) -> None:
        """Measure when slots become inactive (Outcome.slots_ns)."""
        with self._use() as gang:
            check(_abi.lib.gpreempt_gang_sample_slots(gang, on), None,
                  "watching the slots")

    def verify(self) -> List[Member]:
        """Ask the hardware about the suspended queues: see Member.verdict."""
        with self._use() as gang:
            _abi.lib.gpreempt_gang_verify(gang)
            return [_member(raw) for raw in self._members(gang)]

    def members(self) -> List[Member]:
        """The processes, and the events of each since it was added."""
        with self._use() as gang:
            return [_member(raw) for raw in self._members(gang)]

    def fileno(self) -> int:
        """A descriptor that is readable when a member has had an event."""
        with self._use() as gang:
            return int(_abi.lib.gpreempt_gang_fd(gang))

    def wait(self, seconds: Optional[float] = None) -> List[Member]:
        """Wait for an event of a member, at most so long; then members()."""
        _select.select([self], [], [], seconds)
        return self.members()

    def close(self) -> None:
        """Resume all queues and leave all processes. May be called again."""
        with self._lock:
            gang, self._gang = self._gang, ctypes.c_void_p()
            self._count = 0
            if gang:
                _abi.lib.gpreempt_gang_free(gang)


def _forget() -> None:
    """A child of fork() has none of the threads: the sessions stay its parent's."""
    for gang in list(Gang._open):
        gang._lock = threading.Lock()
        gang._gang = ctypes.c_void_p()


os.register_at_fork(after_in_child=_forget)
