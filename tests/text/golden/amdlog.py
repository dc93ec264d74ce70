# Made by gpreempt-ctl amdlog. None: the log does not say it.
PID = 142
HARDWARE_QUEUES = [0x7f5c0c200000, 0x7f5c04400000, 0x7f5bf9e00000]
QUEUES = [
    {"hwq": 0x0, "swq": 0x7f600d592000, "dispatches": 0, "acquired": 1},
    {"hwq": 0x0, "swq": 0x7f600d58a000, "dispatches": 0, "acquired": 1},
    {"hwq": 0x0, "swq": 0x7f600d56e000, "dispatches": 0, "acquired": 1},
    {"hwq": 0x0, "swq": 0x7f600d564000, "dispatches": 0, "acquired": 1},
    {"hwq": 0x7f5c0c200000, "swq": 0x0, "dispatches": 3, "acquired": 0},
    {"hwq": 0x7f5c04400000, "swq": 0x0, "dispatches": 0, "acquired": 0},
    {"hwq": 0x7f5bf9e00000, "swq": 0x0, "dispatches": 0, "acquired": 0},
]
