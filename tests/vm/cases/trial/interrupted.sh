# SPDX-License-Identifier: GPL-2.0-only
# Ctrl-C at moments that the seed decides, and a kill: nothing is held, no program is left. After
# Ctrl-C no stage counts as one that hung; after a kill the next run names it and goes on.
# timeout: 300
# vgpu: profile=gfx90a
. /t/trial.sh

interrupt() {
	gpreempt-ctl trial --yes --stages 1-4 --minutes 2 < /dev/null > "$W/page" 2>&1 &
	_trial=$!
	started="$started $_trial"
	sleep "$2"
	kill "-$1" $_trial 2> /dev/null
	wait_for 60 gone $_trial
	as_before
}

i=0
while [ $i -lt 8 ]; do
	draw 12000
	step "Ctrl-C after $drawn ms"
	interrupt INT "$((drawn / 1000)).$(printf %03d $((drawn % 1000)))"
	[ ! -e /var/lib/gpreempt/trial ] || fail "a state is left"
	i=$((i + 1))
done

step "killed in a stage"
interrupt KILL 3
n=$(grep -x '[1-4]' /var/lib/gpreempt/trial) || fail "the state does not name the stage"
trial 6 --yes --stages "0,$n"
page "^$n	[a-z]+	hung before"
page '^0	look	done'
trial 0 --yes --stages "$n" --minutes 1 --again
[ ! -e /var/lib/gpreempt/trial ] || fail "a state is left"
as_before
