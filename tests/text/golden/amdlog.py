# Made by gpreempt-lab amdlog. None: the log does not say it.
PID = 142
HARDWARE_QUEUES = [0x7f5c0c200000, 0x7f5c04400000, 0x7f5bf9e00000]
QUEUES = [
    {"pid": 142, "hwq": None, "swq": 0x7f600d592000, "id": None, "acquired": 1, "dispatches": 0, "rptr": None, "wptr": None, "backlog": None, "priority": "normal"},
    {"pid": 142, "hwq": None, "swq": 0x7f600d58a000, "id": None, "acquired": 1, "dispatches": 0, "rptr": None, "wptr": None, "backlog": None, "priority": "normal"},
    {"pid": 142, "hwq": None, "swq": 0x7f600d56e000, "id": None, "acquired": 1, "dispatches": 0, "rptr": None, "wptr": None, "backlog": None, "priority": "normal"},
    {"pid": 142, "hwq": None, "swq": 0x7f600d564000, "id": None, "acquired": 1, "dispatches": 0, "rptr": None, "wptr": None, "backlog": None, "priority": "normal"},
    {"pid": 142, "hwq": 0x7f5c0c200000, "swq": None, "id": None, "acquired": 0, "dispatches": 3, "rptr": None, "wptr": None, "backlog": None, "priority": None},
    {"pid": 142, "hwq": 0x7f5c04400000, "swq": None, "id": None, "acquired": 0, "dispatches": 0, "rptr": None, "wptr": None, "backlog": None, "priority": None},
    {"pid": 142, "hwq": 0x7f5bf9e00000, "swq": None, "id": None, "acquired": 0, "dispatches": 0, "rptr": None, "wptr": None, "backlog": None, "priority": None},
]
