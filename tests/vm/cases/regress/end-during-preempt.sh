# SPDX-License-Identifier: GPL-2.0-only
# A ROCr program that ends normally in the middle of preempt "has ended" (status 5):
# its hsa_shut_down disables the runtime while it still has a queue, which is no
# program without a runtime. And a suspend in that moment does not hold "0 queues".
# race: a program ends while it is suspended
# timeout: 120
. /t/rocm.sh

step "preempt while it ends"
for _ in 1 2 3; do
	hsa_start a 13 --queues 2 --packet 500us
	: > "$W/samples"
	gpreempt-ctl preempt "$(pid a)" --count 1000 --hold 5ms --interval 15ms --samples "$W/samples" \
		> "$W/preempt" 2>&1 &
	preempt=$!
	wait_for 15 grep -q '^3 ' "$W/samples"
	kill -TERM "$(pid a)"
	wait $preempt
	status=$?
	wait "$(pid a)" || fail "hsa-load ended with $?"
	tail -n 2 "$W/preempt"
	[ $status -eq 5 ] || fail "preempt ended with $status"
	grep -Eq "has ended|is ending" "$W/preempt" || fail "preempt did not say that it ended"
done

step "suspend while it ends"
for delay in 0.01 0.03 0.05 0.08; do
	hsa_start b 13 --queues 2 --packet 500us
	kill -TERM "$(pid b)"
	sleep $delay
	timeout $((60 * PACE)) gpreempt-ctl suspend "$(pid b)" > "$W/ctl" 2>&1
	status=$?
	head -n 1 "$W/ctl"
	case $status in
	0)
		# What it destroys at this moment is not suspended, and named.
		says "^suspended $(pid b): [1-9]|is destroying [1-9]"
		# Its end waits for that. It may have ended by now.
		gpreempt-ctl resume "$(pid b)" > /dev/null 2>&1
		;;
	5) says "has ended|is ending|no GPU process|not a GPU process|no process" ;;
	*) fail "suspend ended with $status" ;;
	esac
	wait "$(pid b)" || fail "hsa-load ended with $?"
	wait_for 15 nothing_held
done
