# SPDX-License-Identifier: GPL-2.0-only
# 64 offline processes, and one more, which is reported; all of them make way. One of
# another user gets a place of theirs. All of them run when guard has ended.
# timeout: 400
. /t/lib.sh
. /t/guard.sh

N=64
mkdir /sys/fs/cgroup/many

# state VALUE: how many of them have no queue that is not in that state
state() {
	awk -v v="$1" 'FNR == 2 { for (i = 2; i <= NF; i++) if ($i == "suspended") c = i - 1 }
		FNR == 3 && $c == v { n++ } END { print n + 0 }' $files
}

all_are() { [ "$(state "$1")" -ge $N ]; }
all_ready() { [ "$(grep -l '^ready ' "$W"/many.* | wc -l)" -gt $N ]; }

step "they start"
i=0 pids='' files=''
while [ $i -le $N ]; do
	vgpu-load --queues 1 --packet 1ms --rate 1 > "$W/many.$i" 2>&1 &
	echo $! > /sys/fs/cgroup/many/cgroup.procs
	pids="$pids $!"
	files="$files $VIEW/$!/queues"
	i=$((i + 1))
done
started="$started $pids"
wait_for 60 all_ready
# They need not run for their queues to be suspended.
kill -STOP $pids
start on --queues 1 --packet 20ms --rate 5

step "64 of them are guarded"
guard --online "$(pid on)" --offline cgroup:/many --linger 60s --max-hold 10m --poll 20ms
t0=$(uptime_cs)
# How long it takes all of them is a matter of the host; one takes a moment.
n=0
while [ "$n" -lt $N ]; do
	wait_for 30 more_times 'is offline$' $((n + 1))
	n=$(said_times 'is offline$')
done
wait_for 30 said "has no place for 1 processes with queues and 0 without"
left_alone() { gpreempt-ctl status 2> /dev/null | grep -c '[[:space:]]no-place[[:space:]]'; }
[ "$(left_alone)" -eq 1 ] || fail "status: $(gpreempt-ctl status 2>&1 | tail -3)"
gpreempt-ctl doctor | grep -q "^warning[[:space:]]*places" || fail "doctor: $(gpreempt-ctl doctor)"
wait_for 30 all_are 1
# One that got no CPU for 2 s may just be replaced.
by_guard() { [ "$(gpreempt-ctl status 2> /dev/null | grep -c '[[:space:]]guard[[:space:]]')" -eq $N ]; }
wait_for 30 by_guard
wait_for 30 all_are 1

echo "all held after $(($(uptime_cs) - t0))0 ms"
step "another user's process gets one of the places"
chmod 0666 /dev/kfd /dev/dri/renderD*
as-user vgpu-load --queues 1 --packet 1ms --rate 1 > "$W/stranger" 2>&1 &
stranger=$!
started="$started $stranger"
echo $stranger > /sys/fs/cgroup/many/cgroup.procs
wait_for 60 said "^process $stranger is offline$"
[ "$(left_alone)" -eq 2 ] || fail "status: $(gpreempt-ctl status 2>&1 | tail -3)"
files="$files $VIEW/$stranger/queues"
pids="$pids $stranger"
wait_for 30 all_are 1
[ "$(awk -v v=1 'FNR == 2 { for (i = 2; i <= NF; i++) if ($i == "suspended") c = i - 1 }
	FNR == 3 { print $c }' "$VIEW/$stranger/queues")" = 1 ] || fail "the stranger's queue runs"

step "guard is killed: all run"
kill -KILL "$g"
wait_for 30 nothing_held
none_is_held() { [ "$(state 1)" -eq 0 ] && [ "$(state 0)" -gt $N ]; }
wait_for 20 none_is_held
for p in $pids; do
	not_traced "$p" || fail "$p is still traced"
done
stop on
