# SPDX-License-Identifier: GPL-2.0-only
# A process whose queues are full when they are made, and are destroyed at once. No holder
# can keep a queue from running that is gone before it is suspended, so there is no limit
# here; but the holder counts all of that time, by the GPU's own count, and reports it.
# timeout: 120
. /t/churn.sh

churn_start a --churn 1ns --churn-how quick
churn_hold
churn_ran 8 8000
gpreempt-ctl status --json > "$W/status"
grep -E 'released|churn|unseen' "$W/status"
grep -q '"churn": true' "$W/status" || fail "the holder does not report it"
grep -q '"unseen_queues": [0-9]' "$W/status" || fail "no count of queues that it missed"
# Since the suspend, of which the GPU's figure is a part.
counted=$(sed -n 's/.*"released_us": \([0-9]*\).*/\1/p' "$W/status")
[ $((counted / 1000 + 20)) -ge "$ran" ] || fail "the GPU worked $ran ms, the holder counted $counted us"
held=$(sed -n 's/.*"held_us": \([0-9]*\).*/\1/p' "$W/status")
[ "$counted" -le "$held" ] || fail "it counted $counted us of $held us"
churn_end a
