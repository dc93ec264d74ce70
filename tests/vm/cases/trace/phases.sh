# SPDX-License-Identifier: GPL-2.0-only
# trace: the phases of suspends and resumes by another command, in order and
# with their sum; two at once; files; the tracing directory as it was found.
# vgpu: gpus=2
# timeout: 120
. /t/lib.sh
. /t/trace.sh

start a --queues 2 --packet 1ms
start b --queues 1 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
wait_for 15 running "$(pid b)"
tracing_state > "$W/before"

step "two at once; a is suspended, b too"
trace_begin one "$p" --json --duration 0s -o "$W/t"
trace_begin two "$(pid b)" --duration 0s -o "$W/b.json"
[ "$(ls $TRACING/instances | grep -c '^gpreempt_')" = 2 ] || fail "not two instances"
hold "$p"
release_target "$p"
hold "$p"
hold "$(pid b)"
release_target "$(pid b)"
release_target "$p"
trace_end one 0
trace_end two 0
tracing_unchanged

step "what one saw"
for kind in suspend resume attach detach; do
	[ "$(phase_n one $kind total)" = 2 ] || fail "$kind: not two but $(phase_n one $kind total)"
done
[ "$(value one operations)" = 8 ] || fail "not 8 operations"
[ "$(value one others)" = 4 ] || fail "not 4 on b"
[ "$(value one partial)" = 0 ] || fail "some are partial"
[ "$(value one lost)" = 0 ] || fail "some are lost"
[ "$(value one simulated)" = true ] || fail "not labelled"
for phase in lock unmap fence copy other total; do
	[ "$(phase_n one suspend $phase)" = 2 ] || fail "suspend has no $phase"
done
[ "$(phase_n one resume map)" = 2 ] || fail "resume has no map"
[ "$(phase_n one resume copy)" = 0 ] || fail "resume copies nothing"

step "what two saw, as a table"
cat "$W/two.json"
grep -q '^# traced .* 4 operations on 1 process, 8 on others$' "$W/two.json" || fail "numbers"
grep -q "^# operation	phase	n	min_us	p50_us" "$W/two.json" || fail "no names of columns"
grep -q "^suspend	fence	1	" "$W/two.json" || fail "no fence"
grep -q "simulated GPU" "$W/two.json" || fail "not labelled"

step "each operation: its parts are its whole"
sums_are_totals one

step "the timeline"
json-value "$W/t.json" otherData clock | grep -qx CLOCK_MONOTONIC || fail "timeline: clock"
grep -q '"name":"suspend".*"target":'"$p" "$W/t.json" || fail "timeline: no suspend of a"
grep -q '"name":"amdkfd_fence_wait_timeout","pid":'"$p" "$W/t.json" || fail "timeline: no fence of a"
grep -q '"name":"thread_name","pid":'"$p"'.*gpreempt-hold' "$W/t.json" || fail "no thread's name"
[ -s "$W/b.json" ] || fail "no b.json"
stop a
stop b
