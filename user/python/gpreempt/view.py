# SPDX-License-Identifier: LGPL-2.1-or-later
"""What there is: processes, their queues and slots, and GPUs.

A number is None when it is not known. include/gpreempt/view.h and observe.h say
what each field means.
"""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Callable, Iterable, List, Optional, Tuple, Type, TypeVar

from . import _abi
from ._handle import handle
from .errors import check as check_ret


@dataclass(frozen=True)
class Process:
    """A GPU process: struct gpreempt_process."""
    pid: int
    ns_pid: Optional[int]
    comm: str
    gpus: Optional[int]
    queues: Optional[int]
    aql: Optional[int]
    pm4: Optional[int]
    sdma: Optional[int]
    xgmi: Optional[int]
    active: Optional[int]
    slots: Optional[int]
    suspended: Optional[int]
    evicted: Optional[int]
    debugged: Optional[int]
    age_ms: Optional[int]
    paused: Optional[int]


@dataclass(frozen=True)
class Queue:
    """A queue of a process: struct gpreempt_queue.

    active is the number of hardware slots that hold the queue now. It does not
    mean that the queue executes something.
    """
    qid: int
    gpu_id: Optional[int]
    type: str
    priority: Optional[int]
    suspended: Optional[int]
    evicted: Optional[int]
    active: Optional[int]
    slots: Optional[int]
    age_ms: Optional[int]
    hardware: str
    state: Tuple[str, ...]
    wants: Optional[int]
    doorbell: Optional[int]
    engine: Optional[int]
    rlc: Optional[int]
    rptr: Optional[int]
    wptr: Optional[int]
    unit: str
    ring: Optional[int]
    ring_size: Optional[int]
    rptr_addr: Optional[int]
    wptr_addr: Optional[int]
    mqd: Optional[int]
    cwsr: Optional[int]
    cwsr_size: Optional[int]
    exception: Optional[Tuple[str, ...]]
    context: Optional[int]
    waves: Optional[int]


@dataclass(frozen=True)
class Node:
    """A GPU or a partition of one: struct gpreempt_node."""
    gpu_id: Optional[int]
    node: Optional[int]
    device: str
    gfx: Optional[int]
    xccs: Optional[int]
    xcc_mask: Optional[int]
    scheduler: str
    hardware: str
    slots_used: Optional[int]
    slots: Optional[int]
    hiq: Optional[int]
    processes: Optional[int]
    queues: Optional[int]
    mapped: Optional[int]
    oversubscribed: Optional[int]


@dataclass(frozen=True)
class Slot:
    """A hardware slot that a process holds: struct gpreempt_hqd.

    Of a queue whose slots were not read there is one with active None.
    """
    gpu_id: Optional[int]
    type: str
    xcc: Optional[int]
    pipe: Optional[int]
    queue: Optional[int]
    engine: Optional[int]
    rlc: Optional[int]
    qid: Optional[int]
    active: Optional[int]
    vmid: Optional[int]
    rptr: Optional[int]
    wptr: Optional[int]
    unit: str
    doorbell: Optional[int]
    age_ms: Optional[int]
    waves: Optional[int]
    hardware: str


@dataclass(frozen=True)
class Usage:
    """How much of a GPU a process uses: struct gpreempt_usage."""
    gpu_id: Optional[int]
    context: Optional[int]
    hardware: str
    waves: Optional[int]
    waves_max: Optional[int]
    evicted_ms: Optional[int]
    evicted: Optional[int]
    age_ms: Optional[int]
    pid: Optional[int]
    queues: Optional[int]
    suspended: Optional[int]
    busy: Optional[int]


@dataclass(frozen=True)
class Target:
    """A GPU process; with its start time (clock ticks since boot) it is unique."""
    pid: int
    start: int


def _word(kind: int) -> Callable[[int], str]:
    """The words of a kind: enum gpreempt_word of observe.h."""
    def text(value: int) -> str:
        word: bytes = _abi.lib.gpreempt_word(kind, value)
        return word.decode()
    return text


def _words(name: str, value: int) -> Tuple[str, ...]:
    text = ctypes.create_string_buffer(512)
    getattr(_abi.lib, name)(value, text, len(text))
    return tuple(word for word in text.value.decode().split(",")
                 if word not in ("-", "none"))


def _state(value: int) -> Tuple[str, ...]:
    return _words("gpreempt_state_text", value)


def _exception(value: int) -> Optional[Tuple[str, ...]]:
    return None if value == _abi.UNKNOWN else _words("gpreempt_exception_text", value)


# Fields whose number stands for words.
_WORDS: dict[str, Callable[[int], Any]] = {
    "type": _word(0),
    "hardware": _word(1),
    "scheduler": _word(2),
    "unit": _word(3),
    "state": _state,
    "exception": _exception,
}

Record = TypeVar("Record", Process, Queue, Node, Slot, Usage, Target)


def _value(name: str, raw: Any) -> Any:
    if isinstance(raw, bytes):
        return raw.decode("utf-8", "backslashreplace")
    if name in _WORDS:
        return _WORDS[name](raw)
    return None if raw == _abi.UNKNOWN else raw


def _record(cls: Type[Record], raw: Any) -> Record:
    return cls(**{name: _value(name, getattr(raw, name))
                  for name in cls.__dataclass_fields__})


def _read(cls: Type[Record], struct: Any, member: str, doing: str,
          read: _abi.Function, *arguments: Any) -> List[Record]:
    """Copy a list of the library's, and free it."""
    out, err = ctypes.c_void_p(), _abi.ErrorStruct()
    check_ret(read(handle(), *arguments, ctypes.byref(out), ctypes.byref(err)),
              err, doing)
    try:
        found = ctypes.cast(out, ctypes.POINTER(struct)).contents
        return [_record(cls, getattr(found, member)[i])
                for i in range(found.count)]
    finally:
        _abi.lib.gpreempt_list_free(out)


def processes() -> List[Process]:
    """The GPU processes of this host, by PID."""
    return _read(Process, _abi.ProcessListStruct, "processes",
                 "reading the GPU processes", _abi.lib.gpreempt_processes_read)


def queues(pid: int) -> List[Queue]:
    """The queues of a process, by id."""
    return _read(Queue, _abi.ViewStruct, "queues", "reading the queues",
                 _abi.lib.gpreempt_view_read, pid)


def slots(pid: int) -> List[Slot]:
    """The hardware slots that a process holds. Needs gpreempt.ko."""
    return _read(Slot, _abi.HqdsStruct, "hqds", "reading the hardware slots",
                 _abi.lib.gpreempt_hqds_read, pid)


def usage(pid: int = 0) -> List[Usage]:
    """How much of its GPUs a process uses; 0: all processes. Needs gpreempt.ko."""
    return _read(Usage, _abi.UsagesStruct, "usages",
                 "reading the usage of the GPUs", _abi.lib.gpreempt_usage_read, pid)


def nodes() -> List[Node]:
    """The GPUs of this host, and the partitions of each."""
    return _read(Node, _abi.NodesStruct, "nodes", "reading the GPUs",
                 _abi.lib.gpreempt_nodes_read)


def select(words: Iterable[str]) -> List[Target]:
    """The GPU processes that words name, such as "cgroup:PATH" or a PID.

    A name that a process gives itself (comm:, cmd:) is a claim of that process.
    """
    texts = [word.encode() for word in words]
    array = (ctypes.c_char_p * len(texts))(*texts)
    return _read(Target, _abi.TargetsStruct, "targets", "selecting processes",
                 _abi.lib.gpreempt_select,
                 array, len(texts), None, None)


def check(pid: int) -> None:
    """Raise the reason why no session can be opened on this process."""
    err = _abi.ErrorStruct()
    check_ret(_abi.lib.gpreempt_check(handle(), pid, ctypes.byref(err)), err,
              "checking the process")


def simulated() -> bool:
    """Is the GPU the simulated one? Then times say nothing about hardware."""
    return bool(_abi.lib.gpreempt_simulated(handle()))
