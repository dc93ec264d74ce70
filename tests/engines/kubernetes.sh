# SPDX-License-Identifier: GPL-2.0-only
# Pods of containerd, made by its CRI: the plug-in of NRI gives a pod with the annotation
# its role, in a listed namespace only; one service follows all that have it, and list
# shows who they are. Without the plug-in, and with one that is stopped, pods start; it
# comes back after a restart of containerd and its own, and finds what it missed.
# timeout: 600
. /t/lib.sh
. /t/engines.sh

OFFLINE=gpreempt.io/role=offline
nri=gpreempt-nri.service

# pod NAME NAMESPACE [ANNOTATION...]: with a vgpu-load of that name; $took is in ms
pod() {
	_name=$1 _ns=$2
	shift 2
	slice=kubepods-burstable-pod_$_name.slice
	python3 /t/data/cri start "$_name" "$_ns" "$slice" "$W" \
		"$(load_in /out "$_name" --queues 2 --packet 1ms)" "$@" > "$W/cri" ||
		fail "cri start: $?"
	read -r pod_id container_id took < "$W/cri"
	eval "ids_of_$_name='$pod_id $container_id'"
	cgroup=/kubepods.slice/kubepods-burstable.slice/$slice/cri-containerd-$container_id.scope
	echo "   $_name: started in $took ms"
}

# pod_runs NAME NAMESPACE [ANNOTATION...]: and its process is found
pod_runs() {
	pod "$@"
	found "$1" "$cgroup"
}

# role_is ROLE CGROUP: by the attribute; ROLE empty: it has none
role_is() {
	gpreempt-ctl role > "$W/roles"
	[ "$(awk -v c="$2" '$2 == c { print $1 }' "$W/roles")" = "$1" ]
}

# end NAME: as a kubelet does it; then its last line is there
end() {
	eval "python3 /t/data/cri remove \$ids_of_$1" || fail "cri remove: $?"
	ended_well "$1"
}

accepted() { journalctl -q -o cat -u $nri | grep -c 'has accepted'; }
accepted_more() { [ "$(accepted)" -gt "$1" ]; }

step "containerd with NRI, the plug-in, and one service that follows"
cri_node
mkdir -p /etc/gpreempt
echo NAMESPACES=batch,serving > /etc/gpreempt/nri.conf
systemctl start gpreempt-nri || fail "start: $(systemctl status $nri)"
wait_for 20 accepted_more 0
systemctl start gpreempt-follow@role:offline || fail "start: $?"

step "a pod with the annotation in a listed namespace has the role; others have none"
pod_runs train batch $OFFLINE
train=$cgroup with=$took
role_is offline "$train" || fail "no role: $(cat "$W/roles")"
pod_runs other default $OFFLINE
role_is "" "$cgroup" || fail "it has a role in a namespace that is not listed"
pod_runs plain batch
role_is "" "$cgroup" || fail "it has a role without the annotation"

step "list shows container, engine and role, and metrics also pod and namespace"
p=$(pid train)
ctl 0 list
says "^$p[[:space:]]+main[[:space:]]+[0-9a-f]+[[:space:]]+kubernetes[[:space:]].*[[:space:]]offline[[:space:]]"
ctl 0 metrics
says "process_id=\"$p\".*pod=\"train\".*namespace=\"batch\""

step "the slice of the pod is frozen and thawed: the service follows, of that pod alone"
follower=gpreempt-follow@role:offline.service
wait_for 30 logged $follower "^following $p: "
for n in 1 2; do
	watch_freeze "$p" "$train"
	systemctl freeze kubepods-burstable-pod_train.slice
	wait_for 15 off "$p"
	off_in_time
	expect_progress other
	systemctl thaw kubepods-burstable-pod_train.slice
	wait_for 15 running "$p"
	expect_progress train
done
! logged $follower "$(pid other)" || fail "it follows a pod without a role"

step "the plug-in is ended by a signal: pods start, and get their role when it is back"
n=$(accepted)
systemctl stop gpreempt-nri
pod_runs killed batch $OFFLINE
killed=$cgroup without=$took
role_is "" "$killed" || fail "it has a role"
systemctl start gpreempt-nri
wait_for 20 accepted_more "$n"
wait_for 20 role_is offline "$killed"
n=$(accepted)
systemctl kill -s KILL gpreempt-nri
wait_for 30 accepted_more "$n"

step "the plug-in is stopped: the runtime waits for it once, for as long as NRI says"
systemctl kill -s STOP gpreempt-nri
pod first batch $OFFLINE
now_cs
t=$_cs first=$cgroup stopped=$took
found first "$first"
t=$((t - $(awk '{ print $22 }' "/proc/$(pid first)/stat")))
between "$t" 150 1000 "hundredths of a second that it ran for when the answer came"
pod_runs second batch $OFFLINE
second=$cgroup after=$took
role_is "" "$second" || fail "it has a role"
between "$stopped" 0 $((with + 4000 * PACE)) "ms for the first pod"
between "$after" 0 $((with + 1500 * PACE)) "ms for the second pod"
n=$(accepted)
systemctl kill -s CONT gpreempt-nri
wait_for 20 accepted_more "$n"
wait_for 20 role_is offline "$first"
wait_for 20 role_is offline "$second"
echo "   ms to start: $with with the plug-in, $without without, $stopped and $after with a stopped one"

step "containerd restarts: the plug-in connects again"
n=$(accepted)
systemctl restart containerd
wait_for 30 accepted_more "$n"
pod_runs late serving gpreempt.io/role=online
role_is online "$cgroup" || fail "no role: $(cat "$W/roles")"

step "the end: every packet once"
wait_for 30 logged $follower "^following $(pid second): "
for l in train other plain killed first second late; do
	end $l
done
systemctl stop gpreempt-nri $follower
nothing_left
