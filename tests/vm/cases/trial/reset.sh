# SPDX-License-Identifier: GPL-2.0-only
# A preemption fails in a stage, and the driver resets the queue: that stage failed, the claim about
# the driver does not hold, nothing is held, and the next trial is as if it had not been.
# vgpu: profile=gfx90a
# allow-log: fence wait|hws_hang|HIQ|[Rr]eset|hang|evict|[Ff]ailed|preempt
# timeout: 200
. /t/trial.sh

break_in 2 fail_preempt --stages 2-3 --minutes 2
[ $status -eq 1 ] || fail "ended with $status"
page '^2	idle	failed'
page '^does not hold	[12]	[01]	The driver reports no failure of the GPU'
json-schema /t/data/schema-trial.json "$W/trial.json" || fail "schema"
grep -q '"event": *"preemption-failed"' "$W/trial.json" || fail "the file has no such event"
[ "$(counter 0 queue_resets)" -gt 0 ] || fail "no queue was reset"
[ ! -e /var/lib/gpreempt/trial ] || fail "a state is left"
as_before

step "the next one"
trial 0 --yes --stages 2 --minutes 1
page '^2	idle	done'
page '^holds	1	1	The driver reports no failure of the GPU'
as_before
