# SPDX-License-Identifier: GPL-2.0-only
# Queues chosen by priority, by GPU and by id, for those that are there and for
# those that come; and released in the same way.
# vgpu: gpus=2
# timeout: 90
. /t/steps.sh

gpu() {
	printf '%x' "$(cat "$TOPOLOGY/$(gpu_nodes | sed -n "$1p")/gpu_id")"
}

start a --gpus all --queues 2 --packet 1ms --per-queue --priority 3
p=$(pid a)
first=$(gpu 1) second=$(gpu 2)
on_gpu() {
	awk -v gpu="0x$1" '$1 ~ /^[0-9]+$/ && $2 == gpu { print $1 }' "$VIEW/$p/queues"
}
echo "GPUs $first and $second, queues $(on_gpu "$first" | xargs) and $(on_gpu "$second" | xargs)"
# each_has N: queues on each of them, so that none of the loops below is empty
each_has() {
	[ "$(on_gpu "$first" | wc -l)" -eq "$1" ] && [ "$(on_gpu "$second" | wc -l)" -eq "$1" ]
}
each_has 2 || fail "not two queues on each"

step "by GPU"
ctl 0 suspend "$p" --gpu "$first"
says "^suspended $p: 2 queues"
for q in $(on_gpu "$first"); do expect_view "$p" suspended 1 "$q"; done
for q in $(on_gpu "$second"); do expect_view "$p" suspended 0 "$q"; done
step "new queues: only those on that GPU are caught"
kill -USR2 "$p"
wait_for 10 each_has 3
caught() { for q in $(on_gpu "$first"); do view_is "$p" suspended 1 "$q" || return 1; done; }
wait_for 5 caught
for q in $(on_gpu "$second"); do expect_view "$p" suspended 0 "$q"; done
step "the rest, and released by GPU: the holder stays for what is left"
ctl 0 suspend "$p" --gpu "$second"
expect_suspended "$p"
ctl 0 resume "$p" --gpu "$first"
says '3 queues .* still suspended'
for q in $(on_gpu "$first"); do expect_view "$p" suspended 0 "$q"; done
ctl 0 resume "$p" --queues "$(on_gpu "$second" | xargs | tr ' ' ,)"
expect_free a

step "by priority"
start b --queues 1 --packet 1ms --priority 10
q=$(pid b)
ctl 0 suspend comm:vgpu-load --priority '<=5'
says "^suspended $p: 6 queues"
says "^suspended $q: 0 queues"
expect_suspended "$p"
expect_view "$q" suspended 0
ctl 0 resume comm:vgpu-load
expect_free a
ctl 0 suspend "$p" --priority '>5'
expect_view "$p" suspended 0
ctl 0 resume "$p" --priority '>5'
wait_for 5 nothing_held

step "by all three: those that all parts mean"
one=$(on_gpu "$second" | head -n 1) other=$(on_gpu "$first" | head -n 1)
ctl 0 suspend "$p" --queues "$one,$other" --gpu "$second" --priority 3
says "^suspended $p: 1 queue,"
expect_view "$p" suspended 1 "$one"
expect_view "$p" suspended 0 "$other"
ctl 0 resume "$p"
# Of the higher priority, it leaves the other nothing of their GPU.
stop b
stop a
