# SPDX-License-Identifier: GPL-2.0-only
# All that a target can be, on real cgroups and namespaces; --wait.
# timeout: 90
. /t/lib.sh

id=c0ffee5eed0123456789abcdef0123456789abcdef0123456789abcdef012345
root=/sys/fs/cgroup
[ -e $root/cgroup.procs ] || { mkdir -p $root; mount -t cgroup2 none $root; }
[ -e $root/cgroup.procs ] || skip "no cgroup v2 in this guest"
scope=$root/system.slice/docker-$id.scope
mkdir -p "$scope" /var/lib/docker/containers/$id
echo '{"ID":"x","HostConfig":{"Name":"/no"},"Name":"/train"}' \
	> /var/lib/docker/containers/$id/config.v2.json

# one TARGET: it names the process in the container, and only that.
one() {
	gpreempt-ctl list "$1" > "$W/list" 2> "$W/err" || fail "$1: $(cat "$W/err")"
	[ "$(sed -n '2,$p' "$W/list" | cut -f 1)" = "$p" ] || fail "$1: $(cat "$W/list")"
}

step "a container with a PID namespace"
(echo 0 > "$scope/cgroup.procs" && exec unshare -p -f vgpu-load --packet 1ms) \
	> "$W/in.out" 2> "$W/in.err" &
started="$started $!"
start b --packet 1ms --queues 2
wait_for 30 grep -q '^ready ' "$W/in.out"
for p in /sys/class/kfd/kfd/proc/*; do
	p=${p##*/}
	[ "$p" = "$(pid b)" ] || break
done
[ "$p" != "$(pid b)" ] || fail "no process"
started="$started $p"
gpreempt-ctl > "$W/ctl"
cat "$W/ctl"
awk -F '\t' -v pid="$p" -v id="$id" '$1 == pid && $2 == "train" && $3 == id && $4 == "docker" &&
	$5 == 1 { ok = 1 } END { exit !ok }' "$W/ctl" || fail "container, engine or PID there"
one "$p"
one container:train
one container:$id
one container:c0ffee5eed01
one container:c0f
one cgroup:/system.slice
one cgroup:system.slice/docker-$id.scope
one "cgroup:$scope"
one 'cmd:^vgpu-load --packet 1ms$'
ctl 5 list container:other
says_what_to_do 'names no GPU process'
ctl 5 list cgroup:/system.slice/dock

step "suspend by its name"
ctl 0 suspend container:train --for 30s
says "^suspended $p: 1 queue,"
ctl 0 resume cgroup:/system.slice
says "^resumed $p"

step "root's Podman by name, a user's by its id, as the error explains"
target=$p
p=$(pid b)
pod=5eed$(echo "$id" | cut -c 5-)
# in_slice SLICE: b is in Podman's container there
in_slice() {
	mkdir -p "$root/$1/libpod-$pod.scope"
	echo "$p" > "$root/$1/libpod-$pod.scope/cgroup.procs"
}
storage=/var/lib/containers/storage/overlay-containers
mkdir -p $storage
echo "[{\"id\":\"$id\",\"names\":[\"no\"]},{\"id\":\"$pod\",\"names\":[\"serve\"]}]" \
	> $storage/containers.json
in_slice machine.slice
one container:serve
chown 1000 $storage/containers.json
ctl 5 list container:serve
chown 0 $storage/containers.json
in_slice user.slice/user-1000.slice
ctl 5 list container:serve
says "podman inspect -f '..\.Id..' NAME"
one "container:$pod"
p=$target

step "--wait: for a process, and for its queues"
gpreempt-ctl queues 'cmd:--packet 2ms$' --wait 30s > "$W/late" 2>&1 &
w=$!
sleep 0.3
alive $w || fail "it did not wait: $(cat "$W/late")"
start c --packet 2ms
wait $w || fail "--wait: status $?: $(cat "$W/late")"
grep -q "^$(pid c)	0	" "$W/late" || fail "not its queue: $(cat "$W/late")"
ctl 5 queues comm:none --wait 200ms
says_what_to_do 'comm:none names no GPU process'
ctl 5 queues "$(pid b)" --queues 9 --wait 200ms
says_what_to_do 'no such queue yet'
kill -9 "$p"
stop b
stop c
