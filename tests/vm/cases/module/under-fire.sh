# SPDX-License-Identifier: GPL-2.0-only
# All files are read while a GPU is removed and made again, and while processes
# are evicted, suspended, come and go. The kernel log must stay clean.
# race: readers while processes and GPUs come and go
# vgpu: gpus=2
# timeout: 120
# driver: any
. /t/lib.sh

T=$DEBUGFS/gpreempt
for _ in 1 2 3; do
	(while :; do cat "$T"/* "$T"/pid/*/* > /dev/null 2>&1; done) &
	started="$started $!"
done

# The driver lets a GPU go a little after the end of the last process.
unplug() {
	echo 1 2> /dev/null > "$VGPU/unplug"
}

step "a GPU is removed and made again between one process and the next"
for _ in 1 2 3 4 5; do
	vgpu-load --gpus all --count 5 --packet 100us > /dev/null 2>&1 || fail "a GPU that does not work"
	wait_for 15 unplug
	[ "$(awk 'NR > 2' "$T/nodes" | wc -l)" -eq 1 ] || fail "a GPU that is gone is shown"
	echo 1 > "$VGPU/plug" || fail "cannot make the GPU again"
	[ "$(awk 'NR > 2' "$T/nodes" | wc -l)" -eq 2 ] || fail "the new GPU is not shown"
done

step "evictions, suspends, births and ends at once"
start a --gpus 0 --queues 3 --sdma 1 --packet 1ms
p=$(pid a)
(while :; do vgpu-load --count 5 --packet 100us > /dev/null 2>&1; done) &
started="$started $!"
(while :; do echo "$p" > "$VGPU/evict"; sleep 0.3; done) 2> /dev/null &
started="$started $!"
suspended=0
while [ $suspended -lt 5 ]; do
	gpreempt-ctl suspend "$p" > /dev/null 2>&1 && gpreempt-ctl resume "$p" > /dev/null 2>&1 &&
		suspended=$((suspended + 1))
done
for q in $started; do
	[ "$q" = "$p" ] || kill -9 "$q"
done
wait_for 15 running "$p"
expect_progress a
stop a
grep -E 'broken|unread|_max_ns' "$T/stats"
grep -qx 'broken 0' "$T/stats" || fail "the driver's data contradicted itself"
