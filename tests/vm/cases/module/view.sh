# SPDX-License-Identifier: GPL-2.0-only
# The view: its format, and that it agrees with what KFD says elsewhere.
# tier: gate
# timeout: 90
. /t/lib.sh

start a --queues 3 --sdma 1 --packet 5ms --priority 11
p=$(pid a)
wait_for 15 running "$p"
cat "$VIEW/$p/queues"
head -n 1 "$VIEW/$p/queues" | grep -qx 'gpreempt-queues - version: [0-9]*\.[0-9]*' || fail "line 1"
sed -n 2p "$VIEW/$p/queues" |
	grep -q '^# qid gpu_id type  *state  *active slots waves hardware  *age_ms ' || fail "line 2"

step "what a person asks for is in 80 columns, below its names"
# The ninth name, or the ninth cell, ends there; a cell begins where its name does.
awk 'NR == 1 { next }
	{ at = end = 0; line = $0
		if (NR == 2) sub(/^# /, "@@", line)
		for (i = 1; i <= 9; i++) {
			match(line, /[^ ]+/)
			at += RSTART; begins = at; end = at + RLENGTH - 1
			line = substr(line, RSTART + RLENGTH); at = end
			if (NR == 2) first[i] = begins
			else if (begins != first[i]) { print "cell " i " of line " NR; bad = 1 }
		}
		if (end > 80) { print "line " NR " has " end " columns"; bad = 1 } }
	END { exit NR < 6 || bad }' "$VIEW/$p/queues" || fail "not in 80 columns"
expect_view "$p" exception none

[ "$(stat -c %a "$VIEW/$p/queues")" = 400 ] || fail "mode of the file"

step "queue ids, gpu_ids as sysfs has them"
[ "$(view "$p" qid | tr '\n' ' ')" = "0 1 2 3 " ] || fail "queue ids"
for q in 0 1 2 3; do
	[ "$(printf '0x%x' "$(cat "/sys/class/kfd/kfd/proc/$p/queues/$q/gpuid")")" = \
		"$(view "$p" gpu_id $q)" ] || fail "gpu_id of queue $q"
done
[ "$(view "$p" type | sort | uniq -c | tr -s ' \n' ' ')" = " 3 compute-aql 1 sdma " ] ||
	fail "types"
expect_view "$p" priority 11 0
expect_view "$p" suspended 0
expect_view "$p" evicted 0
expect_view "$p" slots 4 0
expect_view "$p" age_ms 0

step "gpreempt-ctl queues shows the same"
ctl 0 queues "$p"
says compute-aql
for q in 0 1 2 3; do
	grep -q "^$p	$q	0	[^	]*	$(view "$p" gpu_id $q)	" "$W/ctl" || fail "queue $q is not in the list"
done

step "nothing can be written"
(echo 1 > "$VIEW/$p/queues") 2>/dev/null && fail "the view took a write"
stop a
wait_for 15 not_in_view "$p"
