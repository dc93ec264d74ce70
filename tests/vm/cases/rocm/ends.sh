# SPDX-License-Identifier: GPL-2.0-only
# A ROCr program that ends while it is held: hsa_shut_down waits for an answer of
# the debugger, and gets it. No process is left behind.
# timeout: 90
# driver: any
. /t/rocm.sh

ended() {
	wait "$(pid "$1")"
	_status=$?
	grep -E '^(destroyed|shut_down|done)' "$W/$1.out"
	[ $_status -eq "$2" ] || fail "$1 ended with $_status, not $2"
	wait_for 3 not_in_view "$(pid "$1")"
	wait_for 3 nothing_held
}

# is_prompt LABEL WHAT: not much longer than what a program that nothing holds takes.
# The holder's own limits of time, which must not be what ends it, begin at 2 s.
is_prompt() {
	[ "$(ms "$1" "$2")" -le $((1000 * SLOW + 5 * $(ms free "$2"))) ] ||
		fail "$2 took $(ms "$1" "$2") ms, $(ms free "$2") when not held"
}

step "not held, as a measure"
hsa_start free 13 --queues 3 --packet 500us
kill -TERM "$(pid free)"
ended free 0

step "in the middle of suspend and resume cycles"
hsa_start a 13 --queues 3 --packet 500us
: > "$W/samples"
gpreempt-ctl preempt "$(pid a)" --count 1000 --hold 5ms --interval 50ms --samples "$W/samples" \
	> "$W/preempt" 2>&1 &
preempt=$!
wait_for 15 grep -q '^3 ' "$W/samples"
kill -TERM "$(pid a)"
ended a 0
is_prompt a shut_down
wait_for 3 gone $preempt

step "suspended"
hsa_start b 13 --queues 3 --packet 500us --drain 0
hold "$(pid b)"
kill -TERM "$(pid b)"
ended b 3
is_prompt b destroyed
is_prompt b shut_down

step "suspended, without shutting down"
hsa_start c 13 --queues 3 --packet 500us --drain 0 --leave
hold "$(pid c)"
kill -TERM "$(pid c)"
ended c 3

step "suspended, killed"
hsa_start d 13 --queues 3 --packet 500us
hold "$(pid d)"
kill -9 "$(pid d)"
ended d 137
wait_for 3 no_kfd_process
