# SPDX-License-Identifier: GPL-2.0-only
# A host with GPU processes and no reader: queue lists are read ahead once in ten
# seconds, not each second; by the module's own counter, whose file is no reader.
# vgpu: gpus=1
# timeout: 120
# driver: any
. /t/lib.sh

refreshes() {
	awk '$1 == "refreshes" { print $2; seen = 1 } END { if (!seen) print "no figure" }' \
		"$DEBUGFS/gpreempt/stats"
}

start a --queues 1 --packet 1ms --rate 20
wait_for 15 in_view "$(pid a)"

step "while files are read"
n=$(refreshes)
for _ in 1 2 3 4; do
	cat "$VIEW/$(pid a)/queues" > /dev/null
	sleep 1
done
n=$(($(refreshes) - n))
echo "$n in 4 s"
[ "$n" -ge 3 ] || fail "not each second"

step "10 s after the last read"
# Seconds of the guest, whose timers are late together when it is hardly run.
sleep 10.5
n=$(refreshes)
sleep 6
n=$(($(refreshes) - n))
echo "$n in 6 s"
[ "$n" -le 1 ] || fail "more than once in ten seconds"
stop a
