# SPDX-License-Identifier: GPL-2.0-only
# Two threads that count without a lock lose more when they are switched at the times
# of a seed. The scheduler alone can make them lose one, too.
# timeout: 60
. /t/lib.sh

# lost SEED: of two threads that count without a lock
lost() {
	echo "$1" > "$VGPU/chaos"
	two-threads 100 > "$W/lost"
	echo "$(cat "$VGPU/chaos"): $(cat "$W/lost")"
	read -r _ n < "$W/lost"
	read -r _ _ _ stops _ switches < "$VGPU/chaos"
}

# From its second start on, it is in memory.
lost 0
seen=0 without=0
for seed in 1 2 3 4 5 6 7 8 9 10; do
	lost 0
	[ "$stops" -eq 0 ] || fail "threads were switched without a seed"
	without=$((without + n))
	lost $seed
	[ "$stops" -gt 0 ] && [ "$switches" -gt 0 ] || fail "no thread was switched"
	seen=$((seen + n))
done
[ $seen -gt $without ] || fail "no seed made the race happen: $seen lost, $without without"
