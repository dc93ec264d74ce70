# SPDX-License-Identifier: GPL-2.0-only
# Four targets on two GPUs are preempted at the same time, each by a session of
# its own, while a fifth process comes and goes.
# race: four sessions at once
# vgpu: gpus=2
# timeout: 180
. /t/lib.sh

for n in 1 2 3 4; do
	start "p$n" --gpus all --queues 2 --packet 500us
done
(while :; do vgpu-load --gpus all --count 5 --packet 100us > /dev/null 2>&1; done) &
churn=$!
started="$started $churn"
jobs=
for n in 1 2 3 4; do
	gpreempt-ctl preempt "$(pid p$n)" --count 15 --hold 3ms --interval 5ms > "$W/c$n" 2>&1 &
	jobs="$jobs $!"
done
for j in $jobs; do
	wait "$j" || fail "a preempt failed: $(cat "$W"/c?)"
done
kill -9 $churn
for n in 1 2 3 4; do
	grep '^suspend_ioctl_us' "$W/c$n"
	grep -q '^cycles 15 succeeded 15' "$W/c$n" || fail "not all cycles succeeded"
	expect_progress "p$n"
	stop "p$n"
done
