# SPDX-License-Identifier: GPL-2.0-only
# A GPU that another process uses, no consent, no runtime, a damaged state, a full disk, another
# trial, no GPU.
# vgpu: profile=gfx90a gpus=2
# timeout: 120
. /t/trial.sh

step "another process has queues on that GPU"
start a --packet 1ms
trial 7 --yes --stages 0
grep -q "process $(pid a) uses this GPU" "$W/trial.err" || fail "no reason"
trial 0 --yes --stages 0 --gpu 1
trial 0 --yes --stages 0 --shared
stop a

step "no terminal, and no --yes"
trial 0 --stages 0,2
page '^2	idle	left out.*--yes'

step "no runtime"
mkdir "$W/no"
mount --bind "$W/no" /rocm13
trial 6 --yes --stages 0-2 --minutes 1
page '^0	look	done'
page '^2	idle	not possible here'
umount /rocm13

step "a state that is none of ours"
echo x > /var/lib/gpreempt/trial
trial 1 --yes --stages 0
grep -q damaged "$W/trial.err" || fail "no reason"
rm /var/lib/gpreempt/trial

step "a disk without room"
mount -t tmpfs -o size=4k,nr_inodes=3 none /var/lib/gpreempt
echo fill > /var/lib/gpreempt/fill
trial 1 --yes --stages 0
umount /var/lib/gpreempt

step "wrong words"
trial 2 --stages 9
trial 2 --minutes 0

step "no GPU"
as_before
unload
rmmod vgpu
trial 3 --yes
grep -q 'make demo' "$W/trial.err" || fail "no way to the demo"
