# SPDX-License-Identifier: GPL-2.0-only
# suspend, resume and status of several targets; some of them cannot be held; JSON.
# vgpu: gpus=2
# timeout: 90
. /t/steps.sh

start a --gpus 0 --packet 1ms
start b --gpus all --packet 1ms
start c --gpus all --packet 1ms --no-runtime
a=$(pid a) b=$(pid b) c=$(pid c)

step "two at once, one block for each"
ctl 0 suspend "$a" "$b"
says "^suspended $a: 1 queue, .*verified: yes"
says "^suspended $b: 2 queues, .*verified: yes"
[ "$(grep -c '^holder' "$W/ctl")" -eq 2 ] || fail "not one block for each"
expect_suspended "$a"
expect_suspended "$b"
ctl 0 status
says "^$a[[:space:]]"
says "^$b[[:space:]]"
says 'gdb.*strace.*rocgdb.*CRIU'
ctl 2 resume
says "a target is needed, or --all"
ctl 0 resume --all
says "^resumed $a: 1 queue,"
says "^resumed $b: 2 queues"
ctl 0 resume --all
says "nothing is held"
expect_free a
expect_free b

step "all by name: one cannot be suspended, so it is done in part"
ctl 6 suspend comm:vgpu-load --how debug
says "process $c has queues but did not enable the KFD runtime"
expect_suspended "$a"
expect_suspended "$b"
expect_view "$c" suspended 0
[ "$(holders | wc -l)" -eq 4 ] || fail "not two holders"
step "again: held already, and one still cannot be"
ctl 6 suspend comm:vgpu-load --how debug --for 60s
[ "$(grep -c already "$W/ctl")" -eq 2 ] || fail "not told so"
ctl 0 resume comm:vgpu-load
says "process $c is not held"
expect_free a

# JSON without its white space.
flat() {
	tr -d ' \n' < "$W/ctl" > "$W/flat"
	mv "$W/flat" "$W/ctl"
}

step "JSON"
ctl 6 suspend "$a" "$c" --how debug --json --for 60s
flat
says '"simulated":true'
says "\"pid\":$a,\"status\":0,\"queues\":1,\"destroying\":0,\"ioctl_us\":[0-9.]+"
says '"verified":"yes"'
says "\"pid\":$c,\"status\":3,.*\"error\":\"process${c}hasqueues"
ctl 0 status --json
flat
says "\"holders\":\[\{\"pid\":$a,\"holder\":[0-9]+,\"guardian\":[0-9]+,\"queues\":1"
says '"lease_left_us":[0-9]{7}'
says '"other_debuggers":false'
ctl 0 resume "$a" --json
flat
says "\"pid\":$a,\"status\":0,\"held_before\":true,\"how\":\"debug\",\"queues\":1,\"still_suspended\":0"
ctl 0 status --json
flat
says '"holders":\[\]'

step "--wait: for a target that comes later, and not for ever"
(sleep 1; exec vgpu-load --packet 1ms --duration 20s > "$W/late.out" 2>&1) &
started="$started $!"
t0=$(uptime_cs)
ctl 5 suspend "cmd:duration 21s" --wait 300ms
[ $(($(uptime_cs) - t0)) -ge 30 ] || fail "it did not wait"
ctl 0 suspend "cmd:duration 20s" --wait 15s
says '^suspended [0-9]+: 1 queue,'
ctl 0 resume "cmd:duration 20s"
stop a
stop b
