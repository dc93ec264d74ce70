# SPDX-License-Identifier: GPL-2.0-only
# preempt of several targets at once, and its JSON.
# vgpu: gpus=2 save_ns=5000000
# timeout: 120
. /t/lib.sh

# json KEY...: of the last output
json() {
	json-value "$W/json" "$@" || fail "$*: $(cat "$W/json")"
}

start a --gpus 0 --queues 2 --packet 50ms --depth 8
start b --gpus 1 --queues 1 --packet 50ms --depth 8
start c --gpus 1 --queues 1 --packet 50ms --depth 8
step "two targets: suspended together, figures for each and for both"
ctl 0 preempt "$(pid a)" "$(pid b)" --count 10 --hold 5ms --interval 40ms --samples "$W/samples" --verbose
says '^cycle 10: 3 of 3 queues'
says "^target $(pid a) suspend_ioctl_us n=9 "
says "^target $(pid b) resume_ioctl_us n=10 "
says '^suspend_ioctl_us n=9 '
says '^cycles 10 succeeded 10'
says '^disturbed 1 other process'
says "^disturbed_us pid=$(pid c) "
[ "$(awk 'NR > 2 && $2 == "-"' "$W/samples" | wc -l)" -eq 10 ] || fail "no lines of both"
[ "$(awk -v pid="$(pid b)" 'NR > 2 && $2 == pid' "$W/samples" | wc -l)" -eq 10 ] || fail "no lines of b"
wait_for 15 running "$(pid a)"
wait_for 15 running "$(pid b)"

step "JSON: one object, nothing else on stdout, the command's output neither"
gpreempt-ctl preempt "$(pid a)" "$(pid b)" --count 5 --hold 5ms --interval 40ms --json \
	-- echo hello > "$W/json" 2> "$W/err" || fail "preempt --json ended with $?"
grep -q hello "$W/err" || fail "the command's output is not on stderr"
cat "$W/json"
[ "$(json cycles)" = 5 ] && [ "$(json succeeded)" = 5 ] || fail "not 5 cycles"
for series in suspend_ioctl_us suspend_slots_us resume_ioctl_us; do
	for key in n min mean p50 p90 p99 p999 max; do
		json $series $key > /dev/null
		json targets 1 $series $key > /dev/null
	done
	[ "$(json $series n)" -ge 4 ] || fail "$series: too few"
done
awk -v ns="$(json suspend_ioctl_us p50)" 'BEGIN { exit !(ns > 5000) }' || fail "not in microseconds"
json suspend_slots_us resolution_us > /dev/null
json first_suspend_us > /dev/null
json session_open_us > /dev/null
[ "$(json targets 0 pid)" = "$(pid a)" ] || fail "not the targets' PIDs"
[ "$(json disturbed 0 pid)" = "$(pid c)" ] || fail "not the other's PID"
[ "$(json disturbed 0 suspend_us calls)" = 5 ] || fail "not 5 calls watched"
[ "$(json online_us n)" = 5 ] || fail "not 5 commands"
[ "$(json simulated)" = true ] && [ "$(json error)" = null ] || fail "simulated, error"

step "without the module there are no slots: null"
unload
gpreempt-ctl preempt "$(pid a)" --count 2 --hold 1ms --interval 1ms --json > "$W/json" || fail "$?"
[ "$(json suspend_slots_us)" = null ] || fail "slots without the module"
[ "$(json disturbed)" = null ] || fail "disturbance without the module"
[ "$(json verified not_checked)" = 2 ] || fail "verified without the module"
insmod /lib/modules/gpreempt.ko

step "one of two is held already: nothing is suspended"
hold "$(pid b)"
ctl 7 preempt "$(pid a)" "$(pid b)" --count 2
says "process $(pid b) is held"
wait_for 15 running "$(pid a)"
release_target "$(pid b)"
kill -9 "$(pid a)" "$(pid b)" "$(pid c)"
