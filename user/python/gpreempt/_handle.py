# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library's handle: one for the process, which all threads share."""
from __future__ import annotations

import ctypes
import os
import threading
from types import TracebackType
from typing import Optional, Type, TypeVar

from . import _abi
from .errors import check

_lock = threading.Lock()
_shared: Optional[ctypes.c_void_p] = None


def handle() -> ctypes.c_void_p:
    """The handle of this process; made at the first call, never freed."""
    global _shared
    with _lock:
        if _shared is None:
            made = ctypes.c_void_p()
            check(_abi.lib.gpreempt_new(None, ctypes.byref(made)), None,
                  "setting up libgpreempt")
            _shared = made
        return _shared


def _forget() -> None:
    """A child of fork() must not use its parent's descriptors."""
    global _shared, _lock
    _shared = None
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)


Self = TypeVar("Self", bound="Closable")


class Closable:
    """What the end of a with block closes."""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        raise NotImplementedError
