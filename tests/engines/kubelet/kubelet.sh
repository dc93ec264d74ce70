# SPDX-License-Identifier: GPL-2.0-only
# A real kubelet on containerd, with a static pod that has the annotation: the plug-in of
# NRI gives its container the role, the slice of the pod is frozen and thawed, and the pod
# is deleted while it is frozen. Then the pod of the DaemonSet does what the services did.
# timeout: 900
. /t/lib.sh
. /t/engines.sh

manifests=/etc/kubelet/manifests

# static_pod NAME: with a vgpu-load of that name
static_pod() {
	cat > $manifests/"$1.yaml" <<-END
		apiVersion: v1
		kind: Pod
		metadata:
		  name: $1
		  namespace: batch
		  annotations:
		    gpreempt.io/role: offline
		spec:
		  hostNetwork: true
		  containers:
		  - name: main
		    image: localhost/load:1
		    imagePullPolicy: Never
		    command: ["/bin/sh", "-c", "$(load_in /out "$1" --queues 2 --packet 1ms)"]
		    securityContext:
		      privileged: true
		    volumeMounts:
		    - name: out
		      mountPath: /out
		  volumes:
		  - name: out
		    hostPath:
		      path: $W
	END
	wait_for 180 with_role
	read -r _ cgroup _ < "$W/roles"
	found "$1" "$cgroup"
	p=$(pid "$1")
	slice=${cgroup%/*}
	slice=${slice##*/}
	wait_for 30 follows "$p"
	echo "   $cgroup"
}

with_role() {
	gpreempt-ctl role > "$W/roles" && sed -i '/^#/d' "$W/roles" && grep -q '^offline' "$W/roles"
}
follows() { logged "$follower" "^following $1: "; }
no_slice() { ! find "$CG" -name "$slice" | grep -q .; }

step "containerd, the plug-in, one service that follows, and the kubelet"
cri_node
mkdir -p /etc/gpreempt $manifests
echo NAMESPACES=batch > /etc/gpreempt/nri.conf
follower=gpreempt-follow@role:offline.service
systemctl start gpreempt-nri $follower || fail "start: $?"
cat > /etc/kubelet/config.yaml <<-END
	apiVersion: kubelet.config.k8s.io/v1beta1
	kind: KubeletConfiguration
	staticPodPath: $manifests
	cgroupDriver: systemd
	failSwapOn: false
	makeIPTablesUtilChains: false
	evictionHard: {}
	authentication:
	  anonymous:
	    enabled: true
	  webhook:
	    enabled: false
	authorization:
	  mode: AlwaysAllow
END
systemd-run --quiet --unit=kubelet -p Delegate=yes -p "StandardError=append:$W/kubelet.err" \
	kubelet --config=/etc/kubelet/config.yaml --container-runtime=remote \
	--pod-infra-container-image=localhost/load:1 \
	--container-runtime-endpoint=unix:///run/containerd/containerd.sock \
	--hostname-override=node || fail "kubelet: $?"

step "a static pod with the annotation has the role"
static_pod train
ctl 0 list
says "^$p[[:space:]]+main[[:space:]]+[0-9a-f]+[[:space:]]+kubernetes[[:space:]].*[[:space:]]offline[[:space:]]"
ctl 0 metrics
says "process_id=\"$p\".*pod=\"train-node\".*namespace=\"batch\""

step "the slice of the pod is frozen and thawed: the queues follow"
for n in 1 2; do
	watch_freeze "$p" "$cgroup"
	systemctl freeze "$slice"
	wait_for 15 off "$p"
	off_in_time
	sleep 10
	off "$p" || fail "its queues run while its slice is frozen"
	systemctl thaw "$slice"
	wait_for 15 running "$p"
	expect_progress train
done

step "the pod is deleted: every packet once"
rm $manifests/train.yaml
ended_well train
wait_for 60 no_slice

step "another pod is deleted while it is frozen"
static_pod next
systemctl freeze "$slice"
wait_for 15 off "$p"
rm $manifests/next.yaml
wait_for 120 gone "$p"
wait_for 15 logged $follower "^ended $p: "
wait_for 120 no_slice

step "the pod of the DaemonSet does the same in place of the two services"
systemctl stop gpreempt-nri $follower
nothing_left
root=$W/gpreempt
/t/data/image-root "$root" || fail "image-root: $?"
image gpreempt "$root"
cp /t/data/gpreempt.json $manifests/
log_of() { cat /var/log/pods/gpreempt_gpreempt-node_*/"$1"/*.log 2> /dev/null; }
pod_logged() { log_of "$1" | grep -Eq -e "$2"; }
wait_for 120 pod_logged nri 'has accepted'
follows() { pod_logged follow "following $1: "; }
static_pod last
systemctl freeze "$slice"
wait_for 15 off "$p"
wait_for 15 pod_logged follow "suspended $p: it is frozen, 2 of 2 queues"
# All of the container at once, as the OOM killer does, with the guardians. The kubelet starts it
# again at once the first time, and then after 10 s.
kill_follower() {
	_c=$(pgrep -of 'gpreempt-ctl follow --stay') || fail "no follower"
	echo 1 > "/sys/fs/cgroup$(cut -d: -f3 "/proc/$_c/cgroup")/cgroup.kill"
}
suspended_again() { [ "$(log_of follow | grep -c "suspended $p: it is frozen")" -ge "$1" ]; }
kill_follower
wait_for 30 suspended_again 2
kill_follower
wait_for 9 running "$p"
# The kubelet has removed the oldest log by now.
wait_for 60 off "$p"
systemctl thaw "$slice"
wait_for 15 running "$p"
rm $manifests/last.yaml
ended_well last
rm $manifests/gpreempt.json
no_pod() { ! pgrep -x gpreempt-ctl > /dev/null; }
wait_for 120 no_pod

step "the end"
systemctl stop kubelet
nothing_left
