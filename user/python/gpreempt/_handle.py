# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library's handle: one for the process, which all threads share."""
from __future__ import annotations

import ctypes
import os
import threading
from typing import Optional, Union

from . import _abi
from .errors import check

_lock = threading.Lock()
_shared: Optional[ctypes.c_void_p] = None


def _new(options: Optional[_abi.OptionsStruct], doing: str) -> ctypes.c_void_p:
    made = ctypes.c_void_p()
    check(_abi.lib.gpreempt_new(options, ctypes.byref(made)), None, doing)
    return made


def handle() -> ctypes.c_void_p:
    """The handle of this process; made at the first call, never freed."""
    global _shared
    with _lock:
        if _shared is None:
            _shared = _new(None, "setting up libgpreempt")
        return _shared


def replay(path: Union[str, "os.PathLike[str]"]) -> None:
    """Ask this recording in place of the system (docs/recording.md).

    Call it before all else: a handle cannot be replaced while it is in use.
    """
    global _shared
    options = _abi.OptionsStruct(size=ctypes.sizeof(_abi.OptionsStruct),
                                 replay=os.fsencode(path))
    with _lock:
        if _shared is not None:
            raise ValueError("libgpreempt is in use already")
        _shared = _new(options, f"reading the recording {os.fspath(path)}")


def _forget() -> None:
    """A child of fork() must not use its parent's descriptors."""
    global _shared, _lock
    _shared = None
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)
