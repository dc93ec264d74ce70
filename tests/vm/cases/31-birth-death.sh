# SPDX-License-Identifier: GPL-2.0-only
# A process's directory is there within 10 ms of its birth and gone within
# 10 ms of its end.
# timeout: 60
. /t/lib.sh

# The emulated CPUs may be away for longer than that when the host is busy, so
# there are three attempts; a module that is too slow fails them all.
lifetime "$VIEW" 60 10 || lifetime "$VIEW" 60 10 || lifetime "$VIEW" 60 10 ||
	fail "not within 10 ms"
[ -z "$(ls "$VIEW")" ] || fail "directories are left: $(ls "$VIEW")"

step "many at once"
i=0
while [ $i -lt 20 ]; do
	lifetime "$VIEW" 3 1000 > "$W/l$i" 2>&1 &
	i=$((i + 1))
done
wait
grep -L 'death_us' "$W"/l* | grep . && fail "a process was not seen"
[ -z "$(ls "$VIEW")" ] || fail "directories are left: $(ls "$VIEW")"
