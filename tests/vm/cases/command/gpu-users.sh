# SPDX-License-Identifier: GPL-2.0-only
# Who uses a GPU, for scripts: list --gpu ID --quiet, with a holder, which uses none, and as
# an ordinary user. Who keeps /dev/kfd open: doctor --partition, also of a process that
# has ended, of which another one has the descriptor. Of a killed one the queues execute on
# (NVIDIA/Megatron-LM#3684), up to Linux 7.2: list, doctor and metrics show it.
# vgpu: gpus=2
# timeout: 90
# driver: any
. /t/peer.sh

tab=$(printf '\t')

gpu() {
	printf '%x' "$(cat "$TOPOLOGY/$(gpu_nodes | sed -n "$1p")/gpu_id")"
}

first=$(gpu 1) second=$(gpu 2)

# prints_nothing STATUS ARGS...
prints_nothing() {
	ctl "$@"
	[ ! -s "$W/ctl" ] || fail "it prints something: $(cat "$W/ctl")"
}

step "no user"
prints_nothing 0 list --gpu "$first" --quiet
ctl 0 doctor --partition "$first"
says "no process keeps KFD from repartitioning GPU [0-9] \(.*0x$first\)"
ctl 5 list --gpu fffffff0 --quiet
says_what_to_do 'no GPU fffffff0'

step "a process on the first GPU"
start a --gpus 0 --queues 1 --packet 1ms
p=$(pid a)
prints_nothing 7 list --gpu "$first" --quiet
prints_nothing 0 list --gpu "$second" --quiet
prints_nothing 7 list --gpu "$first,$second" --quiet
ctl 0 list --gpu "$second"
grep -q "^$p$tab" "$W/ctl" && fail "list has a process that does not use the GPU"
ctl 0 list --gpu "$first"
says "^$p$tab"
as-user gpreempt-ctl list --gpu "$first" --quiet > "$W/ctl" 2>&1
[ $? -eq 7 ] || fail "an ordinary user gets another answer: $(cat "$W/ctl")"

step "and its holder"
hold "$p"
h=$(holder_of "$p")
prints_nothing 0 list --gpu "$second" --quiet
prints_nothing 7 list "$p" --gpu "$first" --quiet
for gpu in "$first" "$second"; do
	ctl 7 doctor --partition "$gpu"
	says "^$p$tab.*${tab}process$tab.*end the process"
	says "^$h$tab.*${tab}holder$tab"
done
release_target "$p"
stop a
wait_for 15 no_kfd_process
prints_nothing 0 list --quiet

step "a descriptor that a child has"
sh -c 'exec 9<> /dev/kfd; sleep 300 & echo $$ $!' > "$W/pids"
read -r parent child < "$W/pids"
started="$started $child"
wait_for 5 gone "$parent"
ctl 7 doctor --partition "$first"
says "^$child${tab}maybe${tab}descriptor$tab"
says "^$parent$tab.*${tab}ended$tab"
prints_nothing 0 list --gpu "$first" --quiet
ctl 7 doctor --partition "$first" --json
says '"status": 7'
as-user gpreempt-ctl doctor --partition "$first" > "$W/ctl" 2>&1
[ $? -eq 7 ] || fail "an ordinary user gets another answer: $(cat "$W/ctl")"
says "cannot read the descriptors of [0-9]+ processes"
kill "$child"
wait_for 15 no_kfd_process
ctl 0 doctor --partition "$first"
as-user gpreempt-ctl doctor --partition "$first" > "$W/ctl" 2>&1
[ $? -eq 4 ] || fail "an ordinary user cannot know it: $(cat "$W/ctl")"

step "a killed process whose queue executes"
start b --gpus 0 --queues 1 --packet 60s --count 2 --depth 2
p=$(pid b)
wait_for 5 running "$p"
peer_start "$p"
peer_does keep
kill -9 "$p"
wait "$p"
ctl 0 list -o pid,state,kept_by
says "^$p${tab}ended${tab}$peer \(peer\)"
queue_left() { ls "/sys/class/kfd/kfd/proc/$p/queues/"[0-9]* > /dev/null 2>&1; }
if queue_left; then
	prints_nothing 7 list --gpu "$first" --quiet
	busy() {
		awk -v p="$p" '$1 == p { print int($2 / 1e6) }' "$VGPU/0/busy"
	}
	before=$(busy)
	ctl 0 metrics --for 1s
	says '^gpreempt_gpu_busy_ratio.* NaN$'
	[ "$(busy)" -gt "$before" ] || fail "it does not execute: $before ms"
	gpreempt-ctl doctor > "$W/ctl"
	says "^warning${tab}ended-processes${tab}process $p has ended, .*${tab}end one of $peer \(peer\)"
	says "^note${tab}unowned-slots${tab}GPU 0 .*: 1 of [0-9]+ slots hold queues of no process of KFD"
else
	# Linux 7.3 ends them with the process: kfd_process_notifier_release_internal().
	prints_nothing 0 list --gpu "$first" --quiet
	gpreempt-ctl doctor > "$W/ctl"
	! grep -q unowned-slots "$W/ctl" || fail "slots without an owner: $(cat "$W/ctl")"
fi
kill "$peer"
wait_for 15 no_kfd_process
gpreempt-ctl doctor > "$W/ctl"
! grep -q unowned-slots "$W/ctl" || fail "slots without an owner: $(cat "$W/ctl")"
