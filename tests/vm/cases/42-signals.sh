# SPDX-License-Identifier: GPL-2.0-only
# Signals sent to a held target arrive, each once, and it never stays stopped.
# timeout: 60
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)
hold "$p"
i=0
while [ $i -lt 20 ]; do
	kill -USR1 "$p"
	sleep 0.05
	i=$((i + 1))
done
next_lines a 2

step "stopped and continued by its user: it is stopped, and goes on"
kill -STOP "$p"
is_stopped() { read -r _ _ s _ < "/proc/$p/stat"; [ "$s" = T ] || [ "$s" = t ]; }
wait_for 2 is_stopped
kill -CONT "$p"
next_lines a 2

let_go "$p"
kill -USR1 "$p"
expect_progress a
stop a
[ "$(result a signals)" -eq 21 ] || fail "$(result a signals) of 21 signals arrived"
