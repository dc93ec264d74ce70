# SPDX-License-Identifier: GPL-2.0-only
# The code of a kernel is executed, on four XCCs: each wave of the witness keeps its registers and
# LDS, while it is preempted by AMD's trap handler, too, and one bit that is wrong in what was saved
# is found, with its lane and register.
# waves: run
# tier: gate
# timeout: 120
. /t/load.sh
needs_engine

step "each wave is right"
ends 0 --count 3 --waves 40 --registers 128 --lds 4
said '"state":"ready",.*"waves":40,.*"code":"runs",'
said '"lost":0,"right":160,"wrong":0,"unrun":0,'
[ "$(counter 0 saves)" -eq 0 ] || fail "something was saved"

# Fewer instructions in the same time.
echo 400 > $VGPU/0/instruction_ns

step "preempted in the middle of waves"
load --waves 8 --registers 64 --time 2ms
said '"state":"ready",.*"code":"runs",'
ctl 0 preempt $load --count 200 --hold 1ms --interval 3ms
says '^cycles 200 succeeded 200'
[ "$(counter 0 saves)" -ge 100 ] || fail "no waves were saved"
[ "$(counter 0 saves)" -eq "$(counter 0 restores)" ] || fail "not all were restored"
load_ends 0
said '"state":"done",.*"lost":0,"right":[1-9][0-9]*,"wrong":0,"unrun":0,'

# Before its first round and after its last one a wave does not look at its registers: then only
# its hash is wrong, and the next load tries again.
step "a wrong bit in what was saved: of VGPR 100, lane 7, bit 3"
n=0
until grep -Eq '"first_wrong":"wave 0 lane 7 VGPR [0-9]+ bits 0x8,' "$W/load"; do
	n=$((n + 1))
	[ $n -le 5 ] || fail "none of five wrong bits was found: $(cat "$W/load")"
	load --waves 1 --registers 256 --time 20ms
	echo $(((100 * 64 + 7) * 32 + 3 + 1)) > $VGPU/0/flip_saved
	hold $load
	release_target $load
	sleep 0.1
	kill -TERM $load
	wait $load
	status=$?
done
[ $status -eq 1 ] || fail "a load with a wrong register ended with $status"

step "ended while its waves are saved"
load --waves 8
hold $load
kill -KILL $load
wait_for 20 no_kfd_process
ends 0 --count 2 --waves 1
said '"right":[1-9][0-9]*,"wrong":0,"unrun":0,'
[ "$(counter 0 code_faults)" -eq 0 ] || fail "a dispatch ended because of its code"
