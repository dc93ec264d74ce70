# SPDX-License-Identifier: GPL-2.0-only
# What is not paused, and what is not undone: a traced target, no room for the
# journal, a damaged entry, a process that another program paused, entries of
# another process or boot.
# timeout: 120
# driver: any
. /t/steps.sh

start a --queues 2 --packet 1ms
p=$(pid a)
entry=/run/gpreempt/$p.pause

expect_untouched() {
	expect_progress a
	[ -z "$(ls /run/gpreempt)" ] || fail "left behind: $(ls /run/gpreempt)"
}

step "a debugger traces it"
debugger "$p" > "$W/debugger" 2>&1 &
d=$!
wait_for 15 grep -q attached "$W/debugger"
for way in '' '--for 5s'; do
	# shellcheck disable=SC2086
	ctl 7 suspend "$p" --how pause $way
	says_what_to_do "traced by process $d"
done
kill -9 $d
wait $d
wait_for 5 not_traced "$p"
expect_untouched

step "no room in /run/gpreempt"
mount -t tmpfs -o size=8k,mode=700 none /run/gpreempt
dd if=/dev/zero of=/run/gpreempt/fill bs=4k count=4 2> /dev/null
for way in '' '--for 5s'; do
	# shellcheck disable=SC2086
	ctl 1 suspend "$p" --how pause $way
	says_what_to_do 'make room in /run/gpreempt'
done
# Room for the lock, and none for the entry.
rm /run/gpreempt/fill
dd if=/dev/zero of=/run/gpreempt/fill bs=4k count=1 2> /dev/null
ctl 1 suspend "$p" --how pause
says_what_to_do 'noting its pause in /run/gpreempt failed: No space'
wait_for 15 test ! -e "/run/gpreempt/$p.lock"
[ "$(ls /run/gpreempt)" = fill ] || fail "left behind: $(ls /run/gpreempt)"
umount /run/gpreempt
expect_untouched

step "an entry that is damaged is never acted upon"
leave_paused "$p"
cp -p "$entry" "$W/good"
echo garbage > "$entry"
ctl 1 repair
says_what_to_do "$p.pause is damaged"
ctl 1 resume "$p"
says_what_to_do "$p.pause is damaged"
ctl 1 suspend "$p" --how pause
says_what_to_do "$p.pause is damaged"
expect_no_progress a
ln -sf "$W/good" "$entry"
ctl 1 repair
says_what_to_do "$p.pause is damaged"
rm "$entry"

step "paused, but not by us: left as it is"
ctl 7 suspend "$p" --how pause
says_what_to_do 'paused by another program'
expect_no_progress a
[ ! -e "$entry" ] || fail "it is in the journal"
ctl 0 status
says "^${p}[[:space:]].*other"
says 'paused by another program'
ctl 7 resume "$p"
says_what_to_do 'paused by another program'
expect_no_progress a
cp -p "$W/good" "$entry"
ctl 0 resume "$p"
expect_untouched

step "an entry of an earlier process with that number is removed"
leave_paused "$p"
start=$(awk '{ print $22 }' "/proc/$p/stat")
cp -p "$entry" "$W/good"
ctl 0 resume "$p"
other=$(echo "$start" | tr 0123456789 1234567891)
sed "s/start=$start/start=$other/" "$W/good" > "$W/other"
install -m 600 "$W/other" "$entry" 2> /dev/null || { cp "$W/other" "$entry"; chmod 600 "$entry"; }
ctl 0 repair --dry-run
says "^${p}[[:space:]]+stale[[:space:]]+nothing"
ctl 0 repair
says "^${p}[[:space:]]+stale[[:space:]]+removed"
expect_untouched

step "and one of an earlier boot"
sed 's/boot=......../boot=00000000/' "$W/good" > "$entry"
chmod 600 "$entry"
ctl 0 repair
says "^${p}[[:space:]]+stale[[:space:]]+removed"
expect_untouched

step "what is paused ends as any other"
leave_paused "$p"
kill -9 "$p"
wait "$p"
wait_for 5 test ! -e "/sys/class/kfd/kfd/proc/$p"
ctl 0 repair
says "^${p}[[:space:]]+stale[[:space:]]+removed"
expect_nothing_left "$p"
