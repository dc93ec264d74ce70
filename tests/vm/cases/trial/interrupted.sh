# SPDX-License-Identifier: GPL-2.0-only
# Ctrl-C at 30 moments of stages that the seed decides, and a kill: nothing is held, no program is
# left. After Ctrl-C no stage counts as one that hung. After a kill the next run names it, and goes
# on.
# timeout: 400
# vgpu: profile=gfx90a
. /t/trial.sh

i=0
while [ $i -lt 30 ]; do
	draw 8
	stage=$((drawn + 1))
	draw 4000
	step "stage $stage: Ctrl-C after $drawn ms"
	gpreempt-ctl trial --yes --stages $stage --minutes 1 < /dev/null > "$W/page" 2>&1 &
	trial=$!
	started="$started $trial"
	sleep "$((drawn / 1000)).$(printf %03d $((drawn % 1000)))"
	kill -INT $trial 2> /dev/null
	wait_for 60 gone $trial
	as_before
	[ ! -e /var/lib/gpreempt/trial ] || fail "a state is left"
	i=$((i + 1))
done

step "killed in a stage: the file has the figures of those before it"
gpreempt-ctl trial --yes --stages 1-4 --minutes 2 --output "$W/killed.json" < /dev/null \
	> "$W/page" 2>&1 &
trial=$!
started="$started $trial"
in_waves() { grep -qx 3 /var/lib/gpreempt/trial; }
wait_for 60 in_waves
sleep 1
kill -KILL $trial
wait_for 60 gone $trial
as_before
json-schema /t/data/schema-trial.json "$W/killed.json" || fail "schema"
tr -d '\n\t ' < "$W/killed.json" > "$W/line"
grep -q '"name":"idle","result":"done".*"name":"waves","result":"interrupted"' "$W/line" ||
	fail "the file does not have what was found: $(cat "$W/killed.json")"
grep -q '"status":null' "$W/line" || fail "a killed trial has a status"
grep -q '"suspend_ioctl_us":{"n":[1-9]' "$W/line" || fail "no figures of stage idle"

step "the next run names that stage, and leaves it out"
trial 6 --yes --stages 0,3
page "^3	waves	hung before"
page '^0	look	done'
trial 0 --yes --stages 3 --minutes 1 --again
[ ! -e /var/lib/gpreempt/trial ] || fail "a state is left"
as_before
