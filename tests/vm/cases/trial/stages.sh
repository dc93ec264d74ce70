# SPDX-License-Identifier: GPL-2.0-only
# The other stages: pause, others, schedule, jobs, endurance.
# timeout: 200
# vgpu: profile=gfx90a
. /t/trial.sh

trial 0 --yes --stages 4-8 --minutes 1
for name in pause others schedule jobs endurance; do
	page "^[0-9]	$name	done"
done
for mode in alone unprotected guarded; do
	page "^schedule, $mode load requests: n=[1-9]"
done
page '^holds	[1-9][0-9]*	[0-9]+	A pause does the same'
page '^holds	[1-9][0-9]*	[0-9]+	Another process on the GPU'
page '^holds	[1-9][0-9]*	[0-9]+	follow takes'
! grep -q '^does not hold' "$W/page" || fail "$(cat "$W/page")"
json-schema /t/data/schema-trial.json "$W/trial.json" || fail "schema"
as_before
