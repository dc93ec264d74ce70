# SPDX-License-Identifier: GPL-2.0-only
# Signals sent to a held target arrive, each once, and it never stays stopped.
# tier: gate
# timeout: 120
. /t/lib.sh

start a --queues 2 --packet 5ms
p=$(pid a)
hold "$p"
i=0
while [ $i -lt 20 ]; do
	kill -USR1 "$p"
	i=$((i + 1))
	wait_for 15 grep -q "^signals $i\$" "$W/a.out"
done

step "stopped and continued by its user: it is stopped, and goes on"
kill -STOP "$p"
is_stopped() { read -r _ _ s _ < "/proc/$p/stat"; [ "$s" = T ] || [ "$s" = t ]; }
wait_for 15 is_stopped
kill -CONT "$p"
next_lines a 2

release_target "$p"
kill -USR1 "$p"
wait_for 15 grep -q '^signals 21$' "$W/a.out"
expect_progress a
stop a
[ "$(result a signals)" -eq 21 ] || fail "$(result a signals) of 21 signals arrived"
