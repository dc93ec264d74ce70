# SPDX-License-Identifier: GPL-2.0-only
# A process that makes queues and destroys them all the time stays suspended: the
# queue that has work does not run, by the GPU's own count.
# timeout: 120
. /t/churn.sh

for every in 20ms 5ms; do
	churn_start a --churn "$every"
	churn_hold
	churn_ran 4 100
	churn_end a
done
