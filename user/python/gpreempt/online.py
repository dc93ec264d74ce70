# SPDX-License-Identifier: LGPL-2.1-or-later
"""Requests to "gpreempt-ctl guard", for servers that know when work begins."""
from __future__ import annotations

import ctypes
import threading
from contextlib import contextmanager
from types import TracebackType
from typing import Iterator, Optional, Type

from . import _abi
from .errors import check


class Online:
    """A connection to the guard of this host.

    with Online() as guard:
        with guard.request():
            ...         # offline work is off the GPUs of this process

    Requests may be nested, and several threads may have some. close(), or the
    end of this process, ends them all.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._online = ctypes.c_void_p()
        check(_abi.lib.gpreempt_online_open(ctypes.byref(self._online)), None,
              "connecting to the guard")

    def __enter__(self) -> "Online":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

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
        """A request for as long as the with block lasts."""
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
