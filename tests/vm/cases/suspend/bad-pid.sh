# SPDX-License-Identifier: GPL-2.0-only
# No such PID; a PID that is no GPU process: status 5 and what to do.
# timeout: 90
. /t/lib.sh

sleep 100 &
other=$!
started="$started $other"
for p in 999999 $other 1; do
	for command in queues suspend resume "preempt --count 1"; do
		# shellcheck disable=SC2086
		set -- $command
		name=$1
		shift
		[ "$name" = resume ] && continue
		step "$name $p"
		ctl 5 "$name" "$p" "$@"
		says_what_to_do "$p"
	done
done
for p in 0 -1 abc 99999999999999999999 ''; do
	step "suspend '$p'"
	ctl 2 suspend "$p"
done
ctl 2 nonsense
alive "$other" || fail "the innocent process died"
