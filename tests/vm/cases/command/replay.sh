# SPDX-License-Identifier: GPL-2.0-only
# A suspend and resume that was recorded says the same without the driver.
# timeout: 90
. /t/lib.sh

start a --queues 3 --packet 1ms
p=$(pid a)
# A queue comes while it is held: a signal, and an event of the driver's.
(wait_for 20 view_is "$p" suspended 1; kill -USR2 "$p") &
timeout $((30 * PACE)) gp-api record "$W/recording" "$p" > "$W/live" 2>&1 || fail "$(cat "$W/live")"
cat "$W/live"
stop a
wait_for 10 no_kfd_process
[ ! -d "/proc/$p" ] || fail "process $p is there still"
timeout $((30 * PACE)) gp-api replay "$W/recording" "$p" > "$W/replay" 2>&1 || {
	cut -c 1-80 "$W/recording" | grep -E '^(trap|ptrace|wait)'
	fail "$(cat "$W/replay")"
}
cmp "$W/live" "$W/replay" || fail "the replay says something else: $(cat "$W/replay")"
grep -q '^suspended 3 of 3' "$W/live" || fail "not all were suspended"
grep -q '^resumed 4 of 4' "$W/live" || fail "the new queue was not suspended"
[ "$(stat -c %a "$W/recording")" = 600 ] || fail "others may read it"

# The recording, for the fixture of a unit test (see docs/recording.md).
echo "recorded process $p"
echo "--- begin"
cat "$W/recording"
echo "--- end"
