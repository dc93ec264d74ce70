# SPDX-License-Identifier: GPL-2.0-only
# An offline process that makes and destroys queues all the time runs for at most a
# tenth of a busy period of online, by the GPU's own count; what runs is no part of
# guard's held_s, but its released_s and a metric of its own; and guard names a process
# that goes on with it. One that lies has to wait longer, and may never run that much.
# timeout: 120
. /t/churn.sh
. /t/guard.sh

# released MS: so much is in the metrics, at least.
released() {
	awk -v least="$1" '/^gpreempt_guard_released_seconds_total\{/ &&
		$2 * 1000 >= least { ok = 1 } END { exit !ok }' "$W/metrics" ||
		fail "the metrics have not $1 ms: $(cat "$W/metrics")"
}

for how in empty lie; do
	step "$how"
	churn_start a --churn 10ms --churn-how $how
	start on --packet 5ms
	guard --online "$(pid on)" --offline "$p" --max-hold 60s --verbose \
		--metrics "$W/metrics"
	wait_for 30 said "process $p is offline"
	wait_for 30 view_is "$p" suspended 1 0
	churn_ran 5 1000
	[ $how = lie ] || wait_for 30 said "process $p (makes and )?destroys queues while it is held: ran [0-9.]+ s of the last 10"
	end_guard
	kill -9 "$(pid on)"
	wait "$(pid on)"
	churn_end a
	grep -E "^(held_s|released_s)" "$W/guard"
	released "$ran"
	[ $how = lie ] || released 500
done
