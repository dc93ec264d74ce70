# SPDX-License-Identifier: GPL-2.0-only
# More offline processes than the GPU has places for (13 VMIDs): those without work make room for the
# others, and come back at their next packet, each of which runs once. One that works never does.
# timeout: 240
. /t/lib.sh
. /t/guard.sh

parks() { said_times '"event":"suspend".*"reason":"park"'; }
enough() { [ "$(parks)" -ge 6 ]; }

all=$(seq 19)
start busy --queues 1 --packet 5ms
for i in $all; do
	start "r$i" --queues 1 --packet 1ms --rate 4
done

step "all work now and then"
guard --online comm:serve --offline comm:vgpu-load --json
wait_for 60 more_times '"process [0-9]+ is offline"' 20
sleep 2
for i in $all; do
	expect_progress "r$i"
done

step "those that rest make room"
for i in $all; do
	kill -STOP "$(pid "r$i")"
done
wait_for 60 enough
said "\"event\":\"suspend\",.*\"pid\":$(pid busy),.*\"park\"" && fail "parked one that works"
expect_progress busy

step "each comes back with its next packet"
for i in $all; do
	kill -CONT "$(pid "r$i")"
done
for i in $all; do
	expect_progress "r$i"
done
end_guard
echo "parked $(parks) times"
for i in $all; do
	stop "r$i"
done
stop busy
