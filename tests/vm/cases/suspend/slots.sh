# SPDX-License-Identifier: GPL-2.0-only
# When the slots of suspended queues become inactive: by a thread that looks at
# them while the driver waits for the hardware.
# vgpu: gpus=1 save_ns=20000000
# timeout: 90
. /t/lib.sh

start a --queues 2 --packet 100ms --depth 4
timeout $((60 * PACE)) gp-api slots 10 "$(pid a)" > "$W/slots" 2>&1 || fail "$(cat "$W/slots")"
cat "$W/slots"
[ "$(grep -c '^slots 2 of 2: ' "$W/slots")" -eq 10 ] || fail "not suspended each time"

# It takes the hardware 20 ms at least to save, it is over
# in time for the driver, give or take a look, and a look is shorter than that.
awk '{
		n++
		if ($8 < 20000 || $8 - $9 > $6 + 1000) bad = 1
		if ($9 < $8 / 2) sharp++
	}
	END { exit bad || n != 10 || !sharp }' "$W/slots" || fail "that cannot be"
wait_for 15 running "$(pid a)"
stop a
