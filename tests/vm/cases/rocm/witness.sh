# SPDX-License-Identifier: GPL-2.0-only
# gpreempt-load, whose kernel clang has built for this kind of GPU: each dispatch counts once, also
# while it is preempted, and it reports that no code of the kernel ran here. Requests at random
# times. What it cannot have is refused.
# vgpu: profile=gfx90a
# timeout: 60
. /t/load.sh

# 104 units of 4 SIMDs, each with 512 registers a lane; 64 KiB of LDS in a unit.
step "all waves that fit, by registers and by LDS; and a part of them"
ends 0 --count 20 --registers 256 --lds 8
said '^[{]"state":"ready","gfx":"gfx90a","ring":"0x[0-9a-f]+","waves":832,.*"lds_bytes":8192,'
said '"state":"done",.*"code":"does not run","submitted":21,"completed":21,"lost":0,"right":0,"wrong":0,"unrun":17472,'
ends 0 --count 2 --registers 256 --lds 16
said '"state":"ready",.*"waves":416,'
ends 0 --count 2 --lds 64 --part 4
said '"state":"ready",.*"waves":26,'

step "requests"
ends 0 --count 20 --rate 200 --gamma 2 --memory 8
said '"state":"done",.*"requests":[{]"n":2[01],"p50":[0-9.]+,'

step "preempted"
load --waves 1 --time 2ms
ctl 0 preempt $load --count 20 --hold 1ms --interval 5ms
says '^cycles 20 succeeded 20'
load_ends 0
said '"state":"done",.*"lost":0,"right":0,"wrong":0,'

step "what it cannot have"
ROCR_VISIBLE_DEVICES=1
export ROCR_VISIBLE_DEVICES
ends 3
unset ROCR_VISIBLE_DEVICES
ends 2 --lds 65
ends 2 --time 11s
ends 2 --count x
ends 2 more
ends 3 --registers 48
