# SPDX-License-Identifier: GPL-2.0-only
# What a read of 5 compute queues on one of 8 GPUs costs: registers at most
# 1/200 of kfd/hqds, cold and warm; time at most 1/50 of kfd/mqds and kfd/hqds.
# vgpu: gpus=8 xccs=4
# timeout: 120
. /t/lib.sh

start a --gpus 3 --queues 5 --packet 1ms --rate 50
p=$(pid a)
wait_for 15 running "$p"
unload
insmod /lib/modules/gpreempt.ko || fail "cannot load the module again"
wait_for 15 in_view "$p"
cold=$(reads_of "$VIEW/$p/queues")
[ "$(cat "$VIEW/$p/queues" | wc -l)" -eq 7 ] || fail "not 5 queues"
warm=$(reads_of "$VIEW/$p/queues")
said=$(awk '$1 == "registers" { print $2 }' "$DEBUGFS/gpreempt/stats")
hqds=$(reads_of "$DEBUGFS/kfd/hqds")
echo "registers: cold $cold, warm $warm, kfd/hqds $hqds"
[ $((cold * 200)) -le "$hqds" ] || fail "cold: more than 1/200"
[ $((warm * 200)) -le "$hqds" ] || fail "warm: more than 1/200"
# The module's own count is at most, and not far off.
between "$said" $((cold + 2 * warm)) $(((cold + 2 * warm) * 3 / 2)) "registers of stats"

view=$(view-bench 21 "$VIEW/$p/queues" | cut -d' ' -f2)
kfd=$(view-bench 1 "$DEBUGFS/kfd/mqds" "$DEBUGFS/kfd/hqds" | cut -d' ' -f2)
echo "time: $view ns, kfd/mqds and kfd/hqds $kfd ns"
[ $((view * 50)) -le "$kfd" ] || fail "time: more than 1/50"
stop a

# One walk over KFD's table for all processes (and two of the module's own in between).
walks() { awk '$1 == "table_taken" { print $2 }' "$DEBUGFS/gpreempt/stats"; }
for n in 1 2 3 4; do
	start "p$n" --gpus 3 --rate 1
done
wait_for 15 in_view "$(pid p4)"
walks=$(walks)
cat "$DEBUGFS/gpreempt/processes" > /dev/null
between $(($(walks) - walks)) 1 3 "walks over the table for 4 processes"
walks=$(walks)
cat "$DEBUGFS/gpreempt/usage" > /dev/null
between $(($(walks) - walks)) 1 3 "walks over the table for their usage"
for n in 1 2 3 4; do
	stop "p$n"
done
