# SPDX-License-Identifier: GPL-2.0-only
# A process of an ordinary user ends normally while it is suspended: by guard with what
# its unit leaves it of root's rights, and by a holder. What its threads wait in, the
# kernel shows to that user and to CAP_DAC_READ_SEARCH only; a queue that is being
# destroyed and not resumed would keep the process until the hold is over.
# with: command/as-unit
# timeout: 90
. /t/lib.sh
. /t/guard.sh

# As in the units; check-units compares those with command/as-unit.
CAPS=$(sed -n 's/^CAPS="\(.*\)"$/\1/p' /t/cases/command/as-unit.sh)
[ -n "$CAPS" ] || fail "which capabilities do the units have?"

printf '#!/bin/sh\nexec as-user vgpu-load "$@"\n' > "$W/load"
chmod 755 "$W" "$W/load"
chmod 666 /dev/kfd /dev/dri/renderD*
PROGRAM=$W/load

ends() {
	kill -TERM "$p"
	wait_for 15 gone "$p"
	wait "$p"
	[ $? -eq 3 ] || fail "its status: $(cat "$W/a.out" "$W/a.err")"
	[ "$(result a lost)$(result a doubled)$(result a disordered)" = 000 ] || fail "packets"
}

step "guard as in its unit"
start a --queues 2 --packet 1ms --drain 0
p=$(pid a)
[ "$(stat -c %u "/proc/$p")" != 0 ] || fail "it is root's"
# shellcheck disable=SC2086 # several words
setsid as-unit $CAPS -- gpreempt-ctl guard --verbose --max-hold 60s --online comm:none \
	--offline "$p" > "$W/guard" 2>&1 &
g=$!
started="$started $g"
wait_for 20 said "process $p is offline"
ctl 0 guard begin
wait_for 15 view_is "$p" suspended 1
ends
# It may see that there is no queue any more before the process is gone: "0 of 0 queues".
! said "^resumed .*, [1-9][0-9]* of |the poller was not run" || fail "guard resumed it: $(cat "$W/guard")"
ctl 0 guard end
end_guard

step "a holder"
start a --queues 2 --packet 1ms --drain 0
p=$(pid a)
hold "$p"
ends
wait_for 15 nothing_held
