# SPDX-License-Identifier: GPL-2.0-only
# 2,000 descriptors, 200 threads and a timer of 1 kHz with a handler: besides the driver's
# ioctls the process is traced for less than 100 us, where nothing else gets the guest's one
# CPU meanwhile (the lower quartile). A signal that comes while it is traced stops its first
# thread until then, which is hardly ever seen. With 50,000 descriptors it is found in time.
# timeout: 240
. /t/pause.sh
. /t/trace.sh
. /t/hostile.sh

N=20
T=$TRACING/instances/test

# Of each helper: from the end of PTRACE_SEIZE to its exit, without its ioctls.
traced_us() {
	awk '{
		sub(/:$/, "", $4); t = $4 * 1e6; pid = $1; sub(/.*-/, "", pid)
	}
	/sys_ptrace ->/ { seized[pid] = t; driver[pid] = 0 }
	/sys_ioctl\(/ { from[pid] = t }
	/sys_ioctl ->/ { driver[pid] += t - from[pid] }
	/sched_process_exit/ && pid in seized {
		printf "%.0f\n", t - seized[pid] - driver[pid]
		delete seized[pid]
	}' "$T/trace"
}

start a --queues 2 --packet 1ms --crowd 2000
p=$(pid a)
wait_for 15 running "$p"

mkdir $T
echo 4096 > $T/buffer_size_kb
for e in syscalls/sys_exit_ptrace syscalls/sys_enter_ioctl syscalls/sys_exit_ioctl sched/sched_process_exit; do
	echo 1 > $T/events/$e/enable
done

step "traced for little more than the ioctls"
for _ in $(seq $N); do
	gp-pause pause "$p" > "$W/gp" && gp-pause unpause "$p" > "$W/gp" || fail "$(cat "$W/gp")"
done
echo 0 > $T/tracing_on
traced_us | sort -n > "$W/traced"
echo "times from a virtual GPU: of $(wc -l < "$W/traced") helpers, quartile" \
	"$(sed -n $((N / 2))p "$W/traced") us, median $(sed -n ${N}p "$W/traced") us, most $(tail -n 1 "$W/traced") us"
[ "$(wc -l < "$W/traced")" -ge $((2 * N)) ] || fail "not all helpers were seen"
[ "$(sed -n $((N / 2))p "$W/traced")" -lt 100 ] || fail "it was traced for too long"
rmdir $T

step "hardly ever seen stopped"
gp 0 cycle "$p" $N
awk '{ exit !($2 == '$N' && $4 > 1000 && $6 * 100 < $4) }' "$W/gp" ||
	fail "seen stopped too often"
expect_progress a
stop a

step "50,000 descriptors: found in time, and others do not wait"
start other --packet 1ms
start b --packet 1ms --crowd 50000
p=$(pid b)
ctl 0 suspend "$p" --how pause
expect_no_progress b
others_go_on other
ctl 0 resume "$p"
expect_progress b
stop b
stop other
