# SPDX-License-Identifier: GPL-2.0-only
# A TARGET word that fails disturbs no other: while a second container has the name
# that guard looks for, processes come and go, and a stopped worker is replaced.
# timeout: 90
. /t/lib.sh
. /t/guard.sh

C=/sys/fs/cgroup
A=aaaaaaaaaaaa1111111111111111111111111111111111111111111111111111
B=bbbbbbbbbbbb2222222222222222222222222222222222222222222222222222

# container ID LABEL: its process is in a container called web
container() {
	mkdir -p "$C/docker-$1.scope" "/var/lib/docker/containers/$1"
	echo '{"Name":"/web"}' > "/var/lib/docker/containers/$1/config.v2.json"
	echo "$(pid "$2")" > "$C/docker-$1.scope/cgroup.procs"
}

on() { said "process $(pid "$1") is online$"; }
held() { wait_for 20 view_is "$(pid off)" suspended 1; }

ln -s "$(command -v vgpu-load)" /tmp/serving
start off --queues 2 --packet 1ms
start web --queues 1 --packet 2ms --rate 1
container $A web
PROGRAM=/tmp/serving start s1 --queues 1 --packet 5ms
guard --max-hold 60s --online container:web comm:serving --offline "$(pid off)" --verbose
wait_for 20 on web
wait_for 20 on s1
held

step "a second container of that name: neither is taken, both are named"
start web2 --queues 1 --packet 2ms --rate 1
container $B web2
wait_for 20 said "^--online container:web: that is the name of several containers"
says_guard "aaaaaaaaaaaa .process $(pid web)."
says_guard "bbbbbbbbbbbb .process $(pid web2)."
wait_for 20 said "process $(pid web) is not online any more"
on web2 && fail "one of the two was taken"

step "meanwhile all else goes on: a stopped worker is replaced"
worker=$(holder_of "$(pid off)")
kill -STOP "$worker"
wait_for 20 gone "$worker"
held

step "processes come and go"
PROGRAM=/tmp/serving start s2 --queues 1 --packet 5ms
wait_for 20 on s2
stop s1
wait_for 20 said "process $(pid s1) is not online any more"
stop s2
wait_for 20 said "process $(pid s2) is not online any more"
wait_for 20 running "$(pid off)"

step "the other container ends: the name is good again"
stop web2
again() { more_times "process $(pid web) is online$" 2; }
wait_for 20 again
[ "$(said_times '^--online container:web: ')" -eq 1 ] || fail "reported more than once"
end_guard
stop web
stop off
