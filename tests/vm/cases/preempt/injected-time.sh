# SPDX-License-Identifier: GPL-2.0-only
# What is measured is what the device takes: an unmap of 20 ms shows.
# tier: gate
# vgpu: unmap_ns=20000000
# timeout: 120
. /t/lib.sh

start a --packet 1ms
ctl 0 preempt "$(pid a)" --count 10 --hold 1ms --interval 1ms
min=$(sed -n 's/^suspend_ioctl_us .*min=\([0-9]*\).*/\1/p' "$W/ctl")
between "$min" 20000 200000 "us of the fastest suspend"
stop a
