# SPDX-License-Identifier: GPL-2.0-only
# The GPU hangs in a stage: the trial ends, in bounded time, with that stage as failed, and nothing
# is held. The host serves the next one.
# vgpu: profile=gfx90a
# allow-log: fence wait|hws_hang|HIQ|[Rr]eset|hang|evict|Failed|preempt
# timeout: 240
. /t/trial.sh

break_in 2 fail_fence --stages 2-3 --minutes 2
[ $status -eq 1 ] || fail "ended with $status"
page '^2	idle	failed'
page '^does not hold	[12]	[01]	The driver reports no failure of the GPU'
! grep -q 'wrong wave' "$W/page" || fail "a hang is no wrong register"
switch 0 fail_fence 0
were_reset() { [ "$(counter 0 gpu_resets)" -gt 0 ]; }
wait_for 20 were_reset
as_before
[ ! -e /var/lib/gpreempt/trial ] || fail "a state is left"

step "the next one"
trial 0 --yes --stages 2 --minutes 1
page '^2	idle	done'
as_before

step "a GPU that hangs before a queue is there"
switch 0 fail_fence 1
trial 1 --yes --stages 2 --minutes 1
page '^2	idle	failed'
switch 0 fail_fence 0
as_before
