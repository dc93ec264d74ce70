# SPDX-License-Identifier: LGPL-2.1-or-later
"""What can fail, in words."""
from __future__ import annotations

import ctypes
import errno
import os
from typing import Optional, Type

from . import _abi

# enum gpreempt_class of core.h
UNSUPPORTED, PERMISSION, NO_TARGET, BUSY = 3, 4, 5, 7


class Error(Exception):
    """A call of the library failed. str() says why.

    code       negative errno value
    reason     enum gpreempt_reason, or 0 when the library gives none
    kind       enum gpreempt_class: the exit status that gpreempt-ctl would have
    next_step  what to do about it, or ""
    """

    def __init__(self, text: str, code: int, reason: int = 0, kind: int = 1,
                 next_step: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.reason = reason
        self.kind = kind
        self.next_step = next_step


class UnsupportedError(Error):
    """It is not possible on this host, or not with this process."""


class PermissionDeniedError(Error):
    """The caller may not do that."""


class NoTargetError(Error):
    """There is no such GPU process."""


class EndedError(NoTargetError):
    """The process has ended, or it executed another program."""


class BusyError(Error):
    """Another debugger or another holder has the process."""


_BY_KIND: dict[int, Type[Error]] = {
    UNSUPPORTED: UnsupportedError,
    PERMISSION: PermissionDeniedError,
    NO_TARGET: NoTargetError,
    BUSY: BusyError,
}


def from_struct(err: _abi.ErrorStruct) -> Error:
    """The exception for a struct gpreempt_error that the library filled in."""
    kind = _abi.lib.gpreempt_error_class(ctypes.byref(err))
    cls = _BY_KIND.get(kind, Error)
    if err.reason in (_abi.REASON_ENDED, _abi.REASON_EXECED):
        cls = EndedError
    return cls(_sentence(_abi.lib.gpreempt_error_text, err), err.code,
               err.reason, kind, _sentence(_abi.lib.gpreempt_error_next, err))


def _sentence(function: _abi.Function, err: _abi.ErrorStruct) -> str:
    text = ctypes.create_string_buffer(1024)
    function(ctypes.byref(err), text, len(text))
    return text.value.decode("utf-8", "replace")


def check(ret: int, err: Optional[_abi.ErrorStruct], doing: str) -> int:
    """Raise what @ret < 0 means; @err has more about it if it was filled in."""
    if ret >= 0:
        return ret
    if err is not None and err.reason:
        raise from_struct(err)
    if ret == -errno.ENOMEM:
        raise MemoryError(doing)
    kind = PERMISSION if ret in (-errno.EACCES, -errno.EPERM) else 1
    raise _BY_KIND.get(kind, Error)(f"{doing}: {os.strerror(-ret)}", ret, 0,
                                    kind)
