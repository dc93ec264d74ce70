# SPDX-License-Identifier: GPL-2.0-only
# guard by a pause: offline goes off while online has work and comes back, a tenant that
# makes and destroys queues does nothing meanwhile, and whatever of guard is killed,
# offline runs within a moment.
# timeout: 240
# driver: any
. /t/churn.sh
. /t/guard.sh

# both OPTIONS...: online never rests, $p is held
both() {
	guard --online "$(pid on)" --offline "$p" --max-hold 60s --verbose "$@"
	wait_for 30 said "process $p is offline"
	wait_for 30 view_is "$p" evicted 1
}

expect_runs() {
	wait_for 20 running "$p"
	expect_progress a
}

expect_nothing_left() {
	wait_for 15 nothing_held
	gpreempt-ctl repair > "$W/repair" || fail "repair: $(cat "$W/repair")"
	grep -q 'nothing is paused' "$W/repair" || fail "$(cat "$W/repair")"
}

start on --packet 20ms
start a --queues 2 --packet 5ms
p=$(pid a)

step "held, and no tracer"
both --how pause
expect_no_progress a
not_traced "$p" || fail "it has a tracer"
gpreempt-ctl status > "$W/status"
grep -q "^${p}[[:space:]].*guard" "$W/status" || fail "status does not name guard"
end_guard
expect_runs
expect_nothing_left

step "guard is killed"
both --how pause
kill -KILL "$g"
wait "$g"
expect_runs
expect_nothing_left

step "its worker is killed; guard goes on"
both --how pause
kill -KILL "$(holder_of "$p")"
wait_for 15 said "process $p is left alone"
wait_for 30 view_is "$p" evicted 1
end_guard
expect_runs
expect_nothing_left

step "guard is stopped: its worker has offline run"
both --how pause
kill -STOP "$g"
expect_runs
kill -CONT "$g"
kill -KILL "$g"
wait "$g"
expect_nothing_left

step "offline ends while it is held"
both --how pause
kill -KILL "$p"
wait_for 15 said "process $p is not offline any more"
end_guard
expect_nothing_left

step "a tenant that makes and destroys queues all the time"
churn_start b --churn 10ms
both --how pause
churn_ran 3 0
end_guard
churn_end b
expect_nothing_left

step "one without a runtime: auto pauses it, and says why"
start a --queues 2 --packet 5ms --no-runtime
p=$(pid a)
why="process $p .*runtime"
has_debug_trap || why="the driver's interface is 1[.].* is needed"
both
wait_for 15 said "$why; so it is paused"
expect_no_progress a
end_guard
expect_runs
expect_nothing_left
stop a
stop on
