# SPDX-License-Identifier: GPL-2.0-only
# gpreempt.ko is loaded and unloaded while its files are read and GPU
# processes come and go. The kernel log must stay clean.
# race: readers while the module is loaded and unloaded
# timeout: 180
# driver: any
. /t/lib.sh

start a --queues 4 --packet 1ms
readers=
for _ in 1 2; do
	(while :; do cat "$VIEW"/*/queues "$DEBUGFS/gpreempt/version" > /dev/null 2>&1; done) &
	readers="$readers $!"
done
(while :; do vgpu-load --count 5 --packet 100us > /dev/null 2>&1; done) &
readers="$readers $!"
started="$started $readers"

for round in 1 2 3 4 5 6 7 8 9 10; do
	unload
	[ ! -e "$DEBUGFS/gpreempt" ] || fail "the directory is left after rmmod"
	insmod /lib/modules/gpreempt.ko || fail "insmod: round $round"
	[ -d "$VIEW/$(pid a)" ] || fail "a process that was there before is not seen"
done

for r in $readers; do
	kill -9 "$r"
done
wait_for 15 running "$(pid a)"
stop a
