# SPDX-License-Identifier: GPL-2.0-only
# A process makes and destroys queues all the time, also while its session ends: the
# kernel does not crash, and nothing happens to the process.
# race: queues are made while a session ends
# timeout: 120
. /t/churn.sh

churn_start a --churn 1ms
for i in $(seq 30); do
	churn_hold
	gpreempt-ctl resume "$p" || fail "resume $i"
done
expect_progress a
churn_end a
