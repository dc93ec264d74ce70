# SPDX-License-Identifier: GPL-2.0-only
# Somebody else tries to end our debug session. Some kernels refuse (6.12.117
# does), on others the holder notices and suspends again: the target stays off.
# timeout: 90
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)
hold "$p"
chmod 666 /dev/kfd
as-nobody debugger "$p" disable
echo "disable by somebody else: status $?"
wait_for 15 view_is "$p" suspended 1
wait_for 15 view_is "$p" active 0
next_lines a 2
expect_no_progress a
ctl 0 status
says "^$p[[:space:]]"
let_go "$p"
stop a
