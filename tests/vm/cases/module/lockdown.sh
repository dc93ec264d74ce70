# SPDX-License-Identifier: GPL-2.0-only
# Lockdown, and hosts that take only signed modules: what works, what the kernel
# refuses, and in which words. The level is raised while the guest runs, as the
# virtual GPU is not signed either.
# timeout: 90
# driver: any
. /t/lib.sh

T=$DEBUGFS/gpreempt
security=/sys/kernel/security

lock_down() {
	step "lockdown: $1"
	echo "$1" > $security/lockdown || fail "no lockdown in this kernel"
}

# refused ERROR LOG: the kernel does it, before any code of the module runs
refused() {
	dmesg -c > /dev/null
	insmod /lib/modules/gpreempt.ko 2> "$W/err" && fail "it loads"
	cat "$W/err"
	dmesg | grep -Ei "$2" || fail "the log does not say '$2'"
	grep -qi "$1" "$W/err" || fail "the error is not '$1'"
}

start a --queues 2 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
mount -t securityfs none $security || fail "no securityfs"

for level in integrity confidentiality; do
	lock_down $level
	for f in "$T"/version "$T"/processes "$T"/nodes "$T"/stats "$VIEW/$p"/*; do
		[ -n "$(cat "$f")" ] || fail "$f cannot be read"
	done
	# What could be written cannot be opened.
	cat "$VGPU/0/unmap_ns" > /dev/null 2> "$W/err" && fail "a file of mode 0644 can be read"
	grep -qi 'not permitted' "$W/err" || fail "unmap_ns: $(cat "$W/err")"
	hold "$p"
	release_target "$p"
done
stop a

step "gpreempt.ko, which is not signed"
unload
refused 'not permitted' 'lockdown: .*unsigned module loading is restricted'
echo 1 > /sys/module/module/parameters/sig_enforce
refused 'key was rejected' 'unsigned module is rejected'
