# SPDX-License-Identifier: GPL-2.0-only
# pidmap: a process in a PID namespace has two numbers, and is found by both.
# timeout: 90
# driver: any
. /t/lib.sh

start a --queues 1 --packet 1ms
a=$(pid a)
unshare -p -f vgpu-load --queues 1 --packet 1ms > "$W/inner.out" 2>&1 &
started="$started $!"
wait_for 40 is_ready inner
lab 0 pidmap
b=$(ls /sys/class/kfd/kfd/proc | grep -v "^$a$")
says "^$a	$a	"
says "^$b	1	"
lab 0 pidmap 1
says "^$b	1	$b,1"
grep -q "^$a" "$W/ctl" && fail "pidmap 1 shows the other one, too"
lab 0 pidmap "$a"
says "^$a	$a	"
lab 0 pidmap --json comm:vgpu-load
says '"ns_pid": 1'
says '"container": null'
lab 5 pidmap 999999
says "no GPU process has that number"
kill -TERM "$b"
stop a
