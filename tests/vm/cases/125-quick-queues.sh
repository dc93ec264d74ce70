# SPDX-License-Identifier: GPL-2.0-only
# A process whose queues are full when they are made, and are destroyed at once, runs for
# at most a tenth of the time while it is held, by the GPU's own count. The holder knows
# of them, those that it could not suspend in time among them.
# timeout: 120
. /t/churn.sh

churn_start a --churn 1ns --churn-how quick
churn_hold
churn_ran 4 400
gpreempt-ctl status --json > "$W/status"
grep -E 'released|churn|unseen' "$W/status"
grep -q '"churn": true' "$W/status" || fail "the holder does not report it"
grep -q '"unseen_queues": [0-9]' "$W/status" || fail "no count of queues that it missed"
churn_end a
