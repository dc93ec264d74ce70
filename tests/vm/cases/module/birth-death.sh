# SPDX-License-Identifier: GPL-2.0-only
# A process's directory is there within 10 ms of its birth and gone within
# 10 ms of its end.
# timeout: 120
# driver: any
. /t/lib.sh

lifetime "$VIEW" 40 $((10 * SLOW)) || fail "not within 10 ms"
[ -d "$VIEW" ] && [ -z "$(ls "$VIEW")" ] || fail "directories are left: $(ls "$VIEW")"

step "many at once"
i=0
while [ $i -lt 20 ]; do
	lifetime "$VIEW" 3 $((1000 * SLOW)) > "$W/l$i" 2>&1 &
	i=$((i + 1))
done
wait
grep -L 'death_us' "$W"/l* | grep . && fail "a process was not seen"
[ -d "$VIEW" ] && [ -z "$(ls "$VIEW")" ] || fail "directories are left: $(ls "$VIEW")"
