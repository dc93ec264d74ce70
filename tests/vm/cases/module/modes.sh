# SPDX-License-Identifier: GPL-2.0-only
# Who may read the files: root with CAP_PERFMON, CAP_SYS_PTRACE or CAP_SYS_ADMIN.
# Where debugfs is mounted for all, others may not, nor root in a container.
# timeout: 90
# driver: any
. /t/lib.sh

T=$DEBUGFS/gpreempt
SYS_PTRACE=19 SYS_ADMIN=21 PERFMON=38 DAC_OVERRIDE=1

start a --queues 1 --packet 1ms
p=$(pid a)
wait_for 15 in_view "$p"
chmod 755 "$DEBUGFS" || fail "debugfs can't be opened to all"
files="$T/version $T/processes $T/nodes $T/stats $VIEW/$p/queues $VIEW/$p/hqds $VIEW/$p/gpus"
for f in $files; do
	[ "$(stat -c %a "$f")" = 400 ] || fail "$f has mode $(stat -c %a "$f")"
	as-user cat "$f" > /dev/null 2> "$W/err" && fail "an ordinary user can read $f"
	grep -qi 'permission denied' "$W/err" || fail "$f: $(cat "$W/err")"
	for cap in none $DAC_OVERRIDE; do
		with-cap $cap cat "$f" > /dev/null 2> "$W/err" && fail "root with $cap reads $f"
		grep -qi 'not permitted' "$W/err" || fail "$f: $(cat "$W/err")"
	done
	for cap in $SYS_PTRACE $SYS_ADMIN $PERFMON; do
		with-cap $cap cat "$f" > "$W/out" || fail "root with $cap can't read $f"
		[ -s "$W/out" ] || fail "$f is empty"
	done
done
chmod 700 "$DEBUGFS"
stop a
