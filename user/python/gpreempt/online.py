# SPDX-License-Identifier: LGPL-2.1-or-later
"""Requests to "gpreempt-ctl guard", for servers that know when work begins."""
from __future__ import annotations

import ctypes
import threading
from contextlib import contextmanager
from typing import Iterator, Optional

from . import _abi
from ._handle import Closable
from .errors import check


class Online(Closable):
    """A connection to the guard of this host (online.h).

    with Online() as guard:
        with guard.request():
            ...         # offline work is off the GPUs of this process

    Requests may be nested, and several threads may have some. close(), or the
    end of this process, ends them all. A guard that was restarted learns of the
    open requests at the next call.

    timeout  seconds that one call takes at most; None: the library's 1 s
    pid      the process that works; 0: this one. Requests for another process
             stay open after close(), and end with that process.
    """

    def __init__(self, timeout: Optional[float] = None, pid: int = 0) -> None:
        self._lock = threading.Lock()
        self._online = ctypes.c_void_p()
        options = _abi.OnlineOptionsStruct(
            size=ctypes.sizeof(_abi.OnlineOptionsStruct),
            timeout_ns=int((timeout or 0) * 1e9), pid=pid)
        check(_abi.lib.gpreempt_online_open(ctypes.byref(options),
                                            ctypes.byref(self._online)), None,
              "connecting to guard")

    def _call(self, function: _abi.Function, doing: str) -> int:
        with self._lock:
            if not self._online:
                raise ValueError("it is closed")
            return check(function(self._online), None, doing)

    def begin(self) -> int:
        """Online work begins. Returns how many requests are open."""
        return self._call(_abi.lib.gpreempt_online_begin, "beginning a request")

    def end(self) -> int:
        """It ends. Returns how many requests are still open."""
        return self._call(_abi.lib.gpreempt_online_end, "ending a request")

    @contextmanager
    def request(self) -> Iterator[None]:
        """A request for as long as the with block lasts.

        Raises before the block when guard cannot be reached: a server that has
        to work all the same catches gpreempt.Error around begin() and end().
        """
        self.begin()
        try:
            yield
        finally:
            self.end()

    def close(self) -> None:
        """End all requests and close the connection. May be called again."""
        with self._lock:
            online, self._online = self._online, ctypes.c_void_p()
            if online:
                _abi.lib.gpreempt_online_close(online)
