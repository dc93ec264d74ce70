# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hold a process through a holder, a process of its own (hold.h)."""
from __future__ import annotations

import ctypes
import os
import threading
import weakref
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import Iterable, Optional, Tuple, Type

from . import _abi
from ._handle import Closable, handle
from .errors import check
from .gang import How, Verdict, make_filter

_LONGEST = 2 ** 64 - 2


_open: "weakref.WeakSet[Hold]" = weakref.WeakSet()


@dataclass(frozen=True)
class HoldStatus:
    """A hold, as its holder sees it.

    lease_left  seconds, or None when it lasts until it is released
    verdict     only of the suspend itself; later NOT_CHECKED
    partial     some of the queues that were asked for are not suspended
    paused      by a pause, and not by a session
    """
    holder: int
    guardian: int
    queues: int
    ioctl_ns: int
    held_ns: int
    lease_left: Optional[float]
    verdict: Verdict
    partial: bool
    paused: bool


def _status(raw: _abi.HoldStatusStruct) -> HoldStatus:
    lease = None if raw.lease_ns == _abi.HOLD_NO_LEASE else raw.lease_ns / 1e9
    return HoldStatus(raw.holder, raw.guardian, raw.queues, raw.ioctl_ns,
                      raw.held_ns, lease, Verdict(raw.verdict), raw.partial,
                      raw.paused)


def _nanoseconds(seconds: float) -> int:
    ns = int(seconds * 1e9)
    # 0 has another meaning in the library.
    if not 0 < ns <= _LONGEST:
        raise ValueError(f"not a number of seconds: {seconds}")
    return ns


class Hold(Closable):
    """The queues of a process are suspended, and a holder keeps them so.

    with Hold(pid, lease=10) as hold:
        ...                     # off the GPU
        hold.extend(10)         # 10 s from now on

    Unlike a Session this program does not trace the process: it can hang or be
    killed, and the process stays killable. The queues run when the with block or
    this program ends, or when the lease is over, whichever comes first.

    how      a part of the queues takes a session
    lease    seconds, or None: until it is released or this program ends
    timeout  seconds that one call waits for the holder; None: the library's 30 s

    Any thread may call; one call is made at a time. Root only.
    """

    def __init__(self, pid: int, ids: Optional[Iterable[int]] = None,
                 gpu_ids: Optional[Iterable[int]] = None,
                 priority: Optional[Tuple[int, int]] = None,
                 lease: Optional[float] = 2.0,
                 timeout: Optional[float] = None,
                 how: How = How.AUTO) -> None:
        self.pid = pid
        self._lock = threading.Lock()
        self._hold = ctypes.c_void_p()
        self._detached = False
        which = make_filter(ids, gpu_ids, priority)
        options = _abi.HoldOptionsStruct(
            size=ctypes.sizeof(_abi.HoldOptionsStruct),
            lease_ns=self._lease(lease),
            timeout_ns=0 if timeout is None else _nanoseconds(timeout),
            how=how)
        status = _abi.HoldStatusStruct()
        err = _abi.ErrorStruct()
        ret = _abi.lib.gpreempt_hold(
            handle(), pid, which, ctypes.byref(options), ctypes.byref(status),
            ctypes.byref(self._hold), ctypes.byref(err))
        check(ret, err, f"holding process {pid}")
        self.first = _status(status)
        _open.add(self)

    @staticmethod
    def _lease(lease: Optional[float]) -> int:
        return _abi.HOLD_NO_LEASE if lease is None else _nanoseconds(lease)

    def __exit__(self, kind: Optional[Type[BaseException]],
                 value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        try:
            if self._hold and value is None and not self._detached:
                self.release()
        finally:
            self.close()

    def _call(self, function: _abi.Function, doing: str,
              *arguments: object) -> int:
        with self._lock:
            if not self._hold:
                raise ValueError("it is closed")
            return check(function(self._hold, *arguments), None,
                         f"{doing} process {self.pid}")

    def extend(self, lease: Optional[float]) -> None:
        """Set the lease, from now on. An Error with -ENOTCONN: it has ended."""
        self._call(_abi.lib.gpreempt_hold_extend, "extending the hold of",
                   self._lease(lease))

    def status(self) -> HoldStatus:
        """Ask the holder."""
        raw = _abi.HoldStatusStruct()
        self._call(_abi.lib.gpreempt_hold_status, "asking the holder of",
                   ctypes.byref(raw))
        return _status(raw)

    def fileno(self) -> int:
        """Readable when the hold has ended by itself: for select and asyncio."""
        with self._lock:
            if not self._hold:
                raise ValueError("it is closed")
            fd = int(_abi.lib.gpreempt_hold_fd(self._hold))
        if fd < 0:
            raise ValueError("it is released or detached")
        return fd

    def release(self) -> None:
        """All queues run, and the process is not traced. Waits for that."""
        self._call(_abi.lib.gpreempt_hold_release, "releasing")

    def detach(self) -> None:
        """The hold outlives this object and this program; the lease counts."""
        self._call(_abi.lib.gpreempt_hold_detach, "detaching the hold of")
        self._detached = True

    def close(self) -> None:
        """Release it without waiting, unless it is detached."""
        with self._lock:
            _abi.lib.gpreempt_hold_close(self._hold)
            self._hold = ctypes.c_void_p()

    def __del__(self) -> None:
        if getattr(self, "_hold", None):
            self.close()


def _leave_to_parent() -> None:
    """A child of fork() must not keep its parent's connections open."""
    for hold in list(_open):
        hold._lock = threading.Lock()
        hold.close()


os.register_at_fork(after_in_child=_leave_to_parent)
