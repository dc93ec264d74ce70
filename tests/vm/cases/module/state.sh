# SPDX-License-Identifier: GPL-2.0-only
# The column state: every reason for which a queue is not in the hardware.
# tier: gate
# timeout: 120
. /t/lib.sh

# state_is PID VALUE [QID]
state_is() { view_is "$1" state "$2" "$3"; }

step "active, suspended, and who is debugged"
start a --queues 2 --packet 5ms
p=$(pid a)
wait_for 15 state_is "$p" active
debugged() { awk -v pid="$1" '$1 == pid { print $14 }' "$DEBUGFS/gpreempt/processes"; }
hold "$p"
state_is "$p" suspended || fail "not suspended: $(view "$p" state)"
[ "$(debugged "$p")" = 1 ] || fail "it is not reported as held"
[ "$(view "$p" rptr | sort -u)" = - ] || fail "a pointer of no slot"
release_target "$p"
wait_for 15 state_is "$p" active
[ "$(debugged "$p")" = 0 ] || fail "it is reported as held"

step "its share is 0, it has no ring"
stop a
vgpu-load-update --packet 5ms --rate 50 > "$W/b.out" 2>&1 &
b=$!
started="$started $b"
wait_for 20 is_ready b
wait_for 15 state_is $b active
kill -WINCH $b
wait_for 15 state_is $b wants=0
expect_view $b active 0
kill -URG $b
wait_for 15 state_is $b wants=0,no-ring
kill -CONT $b
wait_for 15 state_is $b active
kill -9 $b

step "more queues than slots: some are unmapped, their number is that of slots"
start c --queues 30 --packet 5ms --ring 64
p=$(pid c)
unmapped() { view "$p" state | grep -qx unmapped && view "$p" state | grep -qx active; }
wait_for 15 unmapped
awk 'NR > 2 { print $15 }' "$DEBUGFS/gpreempt/nodes" | grep -qx 1 || fail "not oversubscribed"
stop c

# In a slow guest a guardian takes its holder for stuck before it is.
[ "$SLOW" -eq 1 ] || exit 0
step "being destroyed while it is suspended"
start d --queues 1 --packet 5ms --duration 2s --drain 100ms
p=$(pid d)
hold "$p"
# The guardian ends a worker that is stopped: not before the program ends.
wait_for 8 more_lines d 18
kill -STOP "$(holder_of "$p")"
wait_for 8 state_is "$p" suspended,destroying
