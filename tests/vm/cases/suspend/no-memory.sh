# SPDX-License-Identifier: GPL-2.0-only
# suspend and preempt with less and less memory: they do all of it or nothing, and
# never leave a target suspended without a holder.
# timeout: 90
. /t/steps.sh

start a --queues 2 --packet 1ms --rate 100
p=$(pid a)

# limited KIB COMMAND...: with so much address space; sets $status.
limited() {
	(ulimit -v "$1" || exit 99
	shift
	exec timeout $((20 * PACE)) "$@") > "$W/ctl" 2>&1
	status=$?
}

done_once=0 failed=0
for kib in 2000 2200 2400 2600 2800 3000 4000 6000 10000; do
	limited $kib gpreempt-ctl suspend "$p"
	held=$(holders | wc -l)
	echo "$kib KiB: suspend ended with $status, $held processes of holders; $(head -n 1 "$W/ctl")"
	case $status in
	0)
		[ "$held" -eq 2 ] || fail "held by $held processes"
		expect_suspended "$p"
		ctl 0 resume "$p" > /dev/null
		done_once=1 ;;
	99) fail "no limit" ;;
	*)
		failed=$((failed + 1))
		wait_for 5 no_holder ;;
	esac
	wait_for 5 running "$p"
	not_traced "$p" || fail "it is still traced"
done
limited 16000 gpreempt-ctl preempt "$p" --count 2 --hold 1ms --interval 1ms
echo "preempt ended with $status"
expect_free a
[ $done_once -eq 1 ] && [ $failed -gt 0 ] || fail "the limits meet nothing"
stop a
