# SPDX-License-Identifier: GPL-2.0-only
# A process that makes and destroys queues all the time, followed: from its stop to
# its SIGCONT the GPU does not work for it, by its own count.
# timeout: 90
. /t/churn.sh

churn_start a --churn 10ms
setsid gpreempt-ctl follow --how debug "$p" > "$W/follow" 2>&1 &
f=$!
started="$started $f"
wait_for 30 grep -q '^following ' "$W/follow"
kill -STOP "$p"
wait_for 30 view_is "$p" suspended 1 0
churn_ran 3 100
kill -CONT "$p"
wait_for 30 view_is "$p" suspended 0 0
expect_progress a
kill -TERM "$f"
wait "$f"
churn_end a
