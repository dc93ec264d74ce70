# SPDX-License-Identifier: GPL-2.0-only
# A process that shows another queue than the one that it destroys, and one whose
# queues with work are destroyed and made again all the time: each is bounded to a
# second in any ten, by the GPU's own count, and status reports what ran.
# timeout: 120
. /t/churn.sh

for how in lie busy; do
	churn_start a --churn 5ms --churn-how $how
	churn_hold
	churn_ran 5 1000
	churn_end a
done
