# SPDX-License-Identifier: GPL-2.0-only
# Text of the size and shape that a host with eight MI308X prints while five
# queues are on its first GPU, for who does not have the captures of one:
# awk -v what=mqds|hqds -f parse-text.awk

function dump(offset, words, regs,    i) {
	for (i = 0; i < words; i++) {
		if (i % 8 == 0)
			printf "%s    %08x:", i ? "\n" : "", offset + 4 * i
		printf " %s", (i in regs) ? regs[i] : "00000000"
	}
	printf "\n"
}

# The address of a queue's MQD in an XCC. Numbers are decimal: not every awk
# knows others.
function address(queue, xcc) { return sprintf("01%02x%x000", queue, xcc) }

function mqds(    q, x, regs) {
	print "Process 94314 PASID 94314:"
	for (q = 0; q < 5; q++) {
		print "  Compute queue on device f7bc"
		for (x = 0; x < 4; x++) {
			regs[0] = "c0310800"
			regs[128] = address(q, x)
			dump(0, 512, regs)
		}
	}
}

function slot(gpu, xcc, pipe, queue,    regs, q) {
	printf " Inst %d,  CP Pipe %d, Queue %d\n", xcc, pipe, queue
	q = pipe * 6 + queue - 2
	if (gpu == 0 && q < 5) {
		regs[0] = address(q, xcc)
		regs[2] = "00000001"
	}
	dump(51476 + xcc * 786432, 56, regs)
}

function hqds(    gpu, xcc, p, q, none) {
	for (gpu = 0; gpu < 8; gpu++) {
		printf "Node %d, gpu_id %x:\n", gpu + 2, gpu ? 4096 + gpu : 63420
		for (xcc = 0; xcc < 4; xcc++) {
			printf "   Inst %d, HIQ on MEC 2 Pipe 0 Queue 0\n", xcc
			dump(51476 + xcc * 786432, 56, none)
			for (p = 0; p < 4; p++)
				for (q = 2; q < 8; q++)
					slot(gpu, xcc, p, q)
		}
		for (p = 0; p < 8; p++)
			for (q = 0; q < 8; q++) {
				printf "  SDMA Engine %d, RLC %d\n", p, q
				dump(20032 + q * 352, 44, none)
			}
	}
}

BEGIN { if (what == "mqds") mqds(); else hqds() }
