# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What all processes' usage costs of a GPU of 8 XCCs, as an MI300X, on which no wave is in flight.
# vgpu: gpus=1 xccs=8
# timeout: 60
. /t/lib.sh

start a --gpus 0 --queues 2 --packet 10us --rate 1 --report 0
wait_for 5 running "$(pid a)"
idle=1000
for _ in 1 2 3 4 5; do
	before=$(counter 0 reg_reads)
	cat "$DEBUGFS/gpreempt/usage" > /dev/null
	reads=$(($(counter 0 reg_reads) - before))
	[ "$reads" -ge $idle ] || idle=$reads
done
echo "idle8_usage_register_reads $idle"
