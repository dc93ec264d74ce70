# SPDX-License-Identifier: GPL-2.0-only
# A GPU that does not answer any more, and text that is not as the view: no claim about either
# holds, the trial ends in bounded time, and nothing is held.
# vgpu: profile=gfx90a
# allow-log: .
# timeout: 240
. /t/trial.sh

step "one register of the text has another value, as gpreempt-lab says"
real=$(command -v gpreempt-lab)
cp "$real" "$W/gpreempt-lab"
cat > "$W/liar" <<-END
	#!/bin/sh
	"$W/gpreempt-lab" "\$@" | sed 's/"agree": *[0-9]*/"agree": 3/; s/"differs": *null/"differs": "vmid 0x8"/'
END
chmod +x "$W/liar"
mount --bind "$W/liar" "$real"
trial 1 --yes --stages 1 --minutes 1
page "^does not hold	[1-9][0-9]*	[1-9][0-9]*	The view says the same as the driver's own text"
page '^view, full looks: .* differs=vmid 0x8'
umount "$real"

step "the registers read as ones"
break_in 1 dead --stages 1-2 --minutes 2
[ $status -ne 0 ] || fail "a trial of a dead GPU is a success"
page '^1	view	not possible here	[0-9.]+	no slots were read: the hardware is "lost"'
! grep -q '^holds.*driver.s own text' "$W/page" || fail "the text of a dead GPU agrees"
! grep -q '^holds.*After a suspend the queues are off' "$W/page" || fail "off, by ones"
switch 0 dead 0
[ ! -e /var/lib/gpreempt/trial ] || fail "a state is left"
nothing_held
