# SPDX-License-Identifier: GPL-2.0-only
# --json of each command, on the real driver, is as its schema says.
# vgpu: gpus=2 poll_ns=5000000 save_ns=100000 restore_ns=100000
# timeout: 150
. /t/lib.sh
. /t/guard.sh

# as_schema COMMAND FILE
as_schema() {
	json-schema "/t/data/schema-$1.json" "$2" || fail "$1 --json"
}

# prints STATUS PROGRAM COMMAND ARGS...: JSON alone on stdout, as its schema says
prints() {
	_want=$1 _program=$2
	shift 2
	timeout $((60 * PACE)) "$_program" "$@" --json > "$W/json" 2> "$W/err"
	_got=$?
	[ $_got -eq "$_want" ] || fail "$* --json ended with $_got: $(cat "$W/err")"
	as_schema "$1" "$W/json"
}

start a --queues 2 --sdma 1 --packet 5ms
start b --gpu 1 --packet 1ms
a=$(pid a) b=$(pid b)
wait_for 15 running "$a"
wait_for 15 running "$b"

step "what is seen"
prints 0 gpreempt-ctl list
prints 0 gpreempt-ctl gpus
prints 0 gpreempt-ctl queues "$a" "$b"
prints 0 gpreempt-ctl top -n 2 -d 200ms
prints 0 gpreempt-ctl monitor "$a" --duration 200ms --interval 50ms
prints 0 gpreempt-ctl doctor
prints 7 gpreempt-ctl doctor --partition 0
prints 0 gpreempt-ctl role

step "what is held"
prints 0 gpreempt-ctl suspend "$a" --for 60s
prints 0 gpreempt-ctl list
prints 0 gpreempt-ctl queues "$a"
prints 0 gpreempt-ctl status
prints 0 gpreempt-ctl resume "$a"
prints 0 gpreempt-ctl suspend "$b" --how pause
prints 0 gpreempt-ctl status
prints 0 gpreempt-ctl repair
prints 0 gpreempt-ctl resume "$b"
prints 0 gpreempt-ctl preempt "$a" "$b" --count 3 --hold 5ms --interval 20ms
guard --offline "$a" --duty 50% --json --verbose
wait_for 20 said '"event":"suspend"'
end_guard
grep '^{' "$W/guard" > "$W/guard.json"
as_schema guard "$W/guard.json"

step "what is read and compared"
gpreempt-lab snapshot -o "$W/s" > /dev/null 2>&1 || fail "snapshot"
prints 0 gpreempt-lab pidmap "$a"
prints 0 gpreempt-lab decode
prints 0 gpreempt-lab decode "$W/s"
prints 0 gpreempt-lab diff "$W/s" "$W/s"
prints 0 gpreempt-lab report "$W/s" "$W/guard.json"
