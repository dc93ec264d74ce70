# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library's structures and functions, as ctypes has them.

tests/python/check-layout compares each structure with the C headers.
ctypes.CDLL releases the GIL for as long as a call of the library lasts.
"""
from __future__ import annotations

import ctypes
from ctypes import (POINTER, c_bool, c_char, c_char_p, c_int, c_int32, c_int64,
                    c_size_t, c_uint, c_uint32, c_uint64, c_void_p)
from typing import Any, Callable

from ._version import VERSION

Function = Callable[..., Any]

SONAME = "libgpreempt.so.0"

# enum gpreempt_reason of core.h: those that have an exception of their own.
REASON_ENDED = 20
REASON_EXECED = 21

# GPREEMPT_EVENT_ of session.h
EVENT_QUEUES, EVENT_RUNTIME, EVENT_DESTROY, EVENT_SIGNAL = 1, 2, 4, 8
EVENT_LOST, EVENT_ENDED, EVENT_JOB, EVENT_CHURN = 16, 32, 64, 128

UNKNOWN = -1

HOLD_NO_LEASE = 2 ** 64 - 1


class ErrorStruct(ctypes.Structure):
    """struct gpreempt_error"""
    _fields_ = [("code", c_int), ("reason", c_int), ("pid", c_int),
                ("other", c_int), ("major", c_uint), ("minor", c_uint),
                ("limit_ns", c_uint64), ("step", c_char_p),
                ("name", c_char * 32), ("word", c_char_p),
                ("reserved", c_uint64 * 6)]


class FilterStruct(ctypes.Structure):
    """struct gpreempt_filter"""
    _fields_ = [("ids", POINTER(c_uint32)), ("n_ids", c_size_t),
                ("by_priority", c_bool), ("priority_min", c_uint32),
                ("priority_max", c_uint32), ("gpu_ids", POINTER(c_uint32)),
                ("n_gpu_ids", c_size_t),
                ("reserved", c_uint64 * 4)]


class OutcomeStruct(ctypes.Structure):
    """struct gpreempt_outcome"""
    _fields_ = [("ioctl_ns", c_uint64), ("requested", c_size_t),
                ("done", c_size_t), ("refused", c_size_t),
                ("failed", c_size_t), ("slots_ns", c_int64),
                ("resolution_ns", c_int64), ("released_ns", c_uint64),
                ("reserved", c_uint64 * 7)]


class MemberStruct(ctypes.Structure):
    """struct gpreempt_member"""
    _fields_ = [("pid", c_int), ("code", c_int), ("events", c_int),
                ("verdict", c_int), ("open_ns", c_uint64),
                ("start_ns", c_uint64), ("outcome", OutcomeStruct),
                ("error", ErrorStruct),
                ("method", c_int), ("verified_by", c_int),
                ("reserved", c_uint64 * 7)]


class GangOutcomeStruct(ctypes.Structure):
    """struct gpreempt_gang_outcome"""
    _fields_ = [("span_ns", c_uint64), ("members", c_size_t),
                ("succeeded", c_size_t), ("requested", c_size_t),
                ("done", c_size_t),
                ("reserved", c_uint64 * 8)]


def _numbers(*names: str) -> list[tuple[str, Any]]:
    return [(name, c_int64) for name in names]


def _reserved(words: int) -> list[tuple[str, Any]]:
    return [("reserved", c_uint64 * words)]


class QueueStruct(ctypes.Structure):
    """struct gpreempt_queue"""
    _fields_ = _numbers(
        "qid", "gpu_id", "type", "priority", "suspended", "evicted", "active",
        "slots", "age_ms", "hardware", "state", "wants", "doorbell", "engine",
        "rlc", "rptr", "wptr", "unit", "ring", "ring_size", "rptr_addr",
        "wptr_addr", "mqd", "cwsr", "cwsr_size", "exception", "context",
        "waves") + _reserved(7)


class ProcessStruct(ctypes.Structure):
    """struct gpreempt_process"""
    _fields_ = _numbers("pid", "ns_pid") + [("comm", c_char * 68)] + _numbers(
        "gpus", "queues", "aql", "pm4", "sdma", "xgmi", "active", "slots",
        "suspended", "evicted", "debugged", "age_ms", "paused") + _reserved(7)


class NodeStruct(ctypes.Structure):
    """struct gpreempt_node"""
    _fields_ = _numbers("gpu_id", "node") + [("device", c_char * 64)] + _numbers(
        "gfx", "xccs", "xcc_mask", "scheduler", "hardware", "slots_used",
        "slots", "hiq", "processes", "queues", "mapped", "oversubscribed") + _reserved(8)


class SlotStruct(ctypes.Structure):
    """struct gpreempt_hqd"""
    _fields_ = _numbers(
        "gpu_id", "type", "xcc", "pipe", "queue", "engine", "rlc", "qid",
        "active", "vmid", "rptr", "wptr", "unit", "doorbell", "age_ms", "waves",
        "hardware") + _reserved(6)


class UsageStruct(ctypes.Structure):
    """struct gpreempt_usage"""
    _fields_ = _numbers("gpu_id", "context", "hardware", "waves", "waves_max",
                        "evicted_ms", "evicted", "age_ms", "pid", "queues",
                        "suspended", "busy") + _reserved(4)


class TargetStruct(ctypes.Structure):
    """struct gpreempt_target"""
    _fields_ = [("pid", c_int), ("start", c_uint64)]


class ViewStruct(ctypes.Structure):
    """struct gpreempt_view"""
    _fields_ = [("count", c_size_t), ("queues", POINTER(QueueStruct)),
                ("source", c_int)]


class ProcessListStruct(ctypes.Structure):
    """struct gpreempt_process_list"""
    _fields_ = [("count", c_size_t), ("processes", POINTER(ProcessStruct)),
                ("source", c_int)]


class NodesStruct(ctypes.Structure):
    """struct gpreempt_nodes"""
    _fields_ = [("count", c_size_t), ("nodes", POINTER(NodeStruct)),
                ("source", c_int)]


class HqdsStruct(ctypes.Structure):
    """struct gpreempt_hqds"""
    _fields_ = [("count", c_size_t), ("hqds", POINTER(SlotStruct))]


class UsagesStruct(ctypes.Structure):
    """struct gpreempt_usages"""
    _fields_ = [("count", c_size_t), ("usages", POINTER(UsageStruct))]


class TargetsStruct(ctypes.Structure):
    """struct gpreempt_targets"""
    _fields_ = [("count", c_size_t), ("targets", POINTER(TargetStruct))]


class OnlineOptionsStruct(ctypes.Structure):
    """struct gpreempt_online_options"""
    _fields_ = [("size", c_size_t), ("timeout_ns", c_uint64), ("pid", c_int)]


class HoldOptionsStruct(ctypes.Structure):
    """struct gpreempt_hold_options"""
    _fields_ = [("size", c_size_t), ("lease_ns", c_uint64),
                ("timeout_ns", c_uint64), ("grace", c_uint32),
                ("how", c_uint32)]


class HoldStatusStruct(ctypes.Structure):
    """struct gpreempt_hold_status"""
    _fields_ = [("holder", c_int), ("guardian", c_int), ("queues", c_uint64),
                ("ioctl_ns", c_uint64), ("held_ns", c_uint64),
                ("lease_ns", c_uint64), ("verdict", c_int),
                ("partial", c_bool), ("paused", c_bool),
                ("verified_by", c_int)] + _reserved(7)


_ERROR = POINTER(ErrorStruct)
_OUT = POINTER(c_void_p)
_TEXT = (_ERROR, c_char_p, c_size_t)
_READ = (c_void_p, _OUT, _ERROR)
_CHANGE = (c_void_p, POINTER(FilterStruct), POINTER(GangOutcomeStruct))

# name: (type of the result, types of the arguments)
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "gpreempt_check": (c_int, (c_void_p, c_int, _ERROR)),
    "gpreempt_error_class": (c_int, (_ERROR,)),
    "gpreempt_error_next": (c_int, _TEXT),
    "gpreempt_error_text": (c_int, _TEXT),
    "gpreempt_free": (None, (c_void_p,)),
    "gpreempt_gang_add": (c_int, (c_void_p, c_int, c_int, _ERROR)),
    "gpreempt_gang_fd": (c_int, (c_void_p,)),
    "gpreempt_gang_free": (None, (c_void_p,)),
    "gpreempt_gang_members": (c_size_t, (c_void_p, POINTER(MemberStruct),
                                         c_size_t)),
    "gpreempt_gang_new": (c_int, (c_void_p, _OUT)),
    "gpreempt_gang_remove": (c_int, (c_void_p, c_int)),
    "gpreempt_gang_resume": (c_int, _CHANGE),
    "gpreempt_gang_sample_slots": (c_int, (c_void_p, c_bool)),
    "gpreempt_gang_suspend": (c_int, _CHANGE),
    "gpreempt_gang_verify": (None, (c_void_p,)),
    "gpreempt_hold": (c_int, (c_void_p, c_int, POINTER(FilterStruct),
                              POINTER(HoldOptionsStruct),
                              POINTER(HoldStatusStruct), _OUT, _ERROR)),
    "gpreempt_hold_close": (None, (c_void_p,)),
    "gpreempt_hold_detach": (c_int, (c_void_p,)),
    "gpreempt_hold_extend": (c_int, (c_void_p, c_uint64)),
    "gpreempt_hold_fd": (c_int, (c_void_p,)),
    "gpreempt_hold_release": (c_int, (c_void_p,)),
    "gpreempt_hold_status": (c_int, (c_void_p, POINTER(HoldStatusStruct))),
    "gpreempt_hqds_read": (c_int, (c_void_p, c_int, _OUT, _ERROR)),
    "gpreempt_list_free": (None, (c_void_p,)),
    "gpreempt_new": (c_int, (c_void_p, _OUT)),
    "gpreempt_nodes_read": (c_int, _READ),
    "gpreempt_online_begin": (c_int, (c_void_p,)),
    "gpreempt_online_close": (None, (c_void_p,)),
    "gpreempt_online_end": (c_int, (c_void_p,)),
    "gpreempt_online_open": (c_int, (POINTER(OnlineOptionsStruct), _OUT)),
    "gpreempt_processes_read": (c_int, _READ),
    "gpreempt_select": (c_int, (c_void_p, POINTER(c_char_p), c_size_t, c_void_p,
                                c_void_p, _OUT, _ERROR)),
    "gpreempt_simulated": (c_bool, (c_void_p,)),
    "gpreempt_state_text": (c_int, (c_int64, c_char_p, c_size_t)),
    "gpreempt_exception_text": (c_int, (c_int64, c_char_p, c_size_t)),
    "gpreempt_usage_read": (c_int, (c_void_p, c_int, _OUT, _ERROR)),
    "gpreempt_version": (c_char_p, ()),
    "gpreempt_view_read": (c_int, (c_void_p, c_int, _OUT, _ERROR)),
    "gpreempt_word": (c_char_p, (c_int, c_int64)),
}


def _load() -> ctypes.CDLL:
    loaded = ctypes.CDLL(SONAME)
    for name, (result, arguments) in _FUNCTIONS.items():
        try:
            function = getattr(loaded, name)
        except AttributeError:
            raise ImportError(f"{SONAME} has no {name}(): it is older than "
                              f"this package ({VERSION})") from None
        function.restype = result
        function.argtypes = arguments
    found = loaded.gpreempt_version().decode()
    # Structures may change with each minor version below 1.0.
    if found.split(".")[:2] != VERSION.split(".")[:2]:
        raise ImportError(f"{SONAME} has version {found}, and this package is "
                          f"for {VERSION}")
    return loaded


lib = _load()
