# SPDX-License-Identifier: GPL-2.0-only
# A short trial: its stages are done, each claim that was tried holds, registers were not tried,
# its JSON is as the schema says, and nothing is left.
# tier: gate
# timeout: 150
# vgpu: profile=gfx90a
. /t/trial.sh

step "the plan"
gpreempt-ctl trial --dry-run --minutes 1 > "$W/page" || fail "dry run"
page '^stage 3, waves: .*asks first'
[ ! -e /var/lib/gpreempt/trial ] || fail "a dry run wrote a state"

step "stages 0 to 3"
trial 0 --yes --stages 0-3 --minutes 1 --snapshot "$W/snapshots"
for name in look view idle waves; do
	page "^[0-9]	$name	done"
done
page '^not tried	0	0	A wave has its registers'
page '^holds	[1-9][0-9]*	[0-9]+	A suspend takes all queues'
page '^holds	[1-9][0-9]*	[0-9]+	After a suspend the queues are off'
page '^holds	[1-9][0-9]*	[0-9]+	Each dispatch runs exactly once'
page '^holds	4	4	Nothing is left behind'
page '^registers: not tried'
page '^holds	4	4	The driver reports no failure'
grep -q '"kfd [1-9]' "$W/trial.json" || fail "no version of firmware"
lab 0 decode --json "$W/snapshots/gpu0-4-waves"
says '"adds_up": *true'
lab 0 decode "$W/snapshots/gpu0-look"
# The driver prints the registers themselves: another reader of the same hardware.
page "^holds	[1-9][0-9]*	[0-9]+	The view says the same as the driver's own text"
for load in '4 waves' full; do
	page "^view, $load looks: looks=[1-9][0-9]* busy=[1-9].* compared=[1-9][0-9]{2,} "
	page "^view, $load reads: n=[1-9][0-9]* .* register_reads=[1-9]"
done
! grep '[{]' "$W/page" || fail "an object is on the page"
page '^waves, half, 32 registers, 1 KiB: state_bytes=[1-9][0-9]{5,} limit_us='
page '^times are of the driver.s path on a simulated GPU'
! grep -q '^does not hold' "$W/page" || fail "$(cat "$W/page")"
json-schema /t/data/schema-trial.json "$W/trial.json" || fail "schema"
[ ! -e /var/lib/gpreempt/trial ] || fail "a state is left"
as_before
