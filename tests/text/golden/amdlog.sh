# Made by gpreempt-lab amdlog. Empty: the log does not say it.
GPREEMPT_PID=142
GPREEMPT_HARDWARE_QUEUES='0x7f5c0c200000 0x7f5c04400000 0x7f5bf9e00000'
GPREEMPT_DISPATCHES=3
