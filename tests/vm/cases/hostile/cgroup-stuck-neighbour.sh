# SPDX-License-Identifier: GPL-2.0-only
# A neighbour in the tenant's cgroup waits for a file that does not answer, which no freeze
# ends: the cgroup is never "frozen", and its GPU process, which is, is off the GPU.
# timeout: 200
. /t/cgroup.sh
. /t/hostile.sh

not_frozen() {
	grep -q 'frozen 0' $T/cgroup.events || fail "the neighbour is frozen"
}

start a --queues 2 --packet 1ms
p=$(pid a)
tenant a
silent_files
silent_again
as-user cat "$file" > /dev/null 2>&1 &
neighbour=$!
started="$started $neighbour"
echo $neighbour > $T/z/cgroup.procs
wait_for 20 grep -q waits "$W/server"

for how in debug pause; do
	step "follow by $how"
	follow --how $how
	wait_for 20 said "^following $p"
	freeze 1
	off "$p"
	not_frozen
	freeze 0
	runs a
	end_follow
done

step "guard"
guard --online role:online --offline role:offline --follow --how pause --verbose
wait_for 30 said "process $p is offline"
freeze 1
off "$p"
not_frozen
freeze 0
runs a
end_guard
stop a
