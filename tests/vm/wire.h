/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Protocol between the runner on the host and PID 1 in the guest.
 *
 * The runner describes a job in an item of QEMU's fw_cfg device, one "word value" a line:
 *
 *	env NAME VALUE		in its environment: SLOW, PACE, SEED
 *	timeout SECONDS		after which the guest gives the job up
 *	vgpu PARAMETERS		load vgpu.ko with them
 *	gpreempt		load gpreempt.ko
 *	merge			standard error goes where standard output goes
 *	leaks			at its end, what kmemleak finds goes to the log
 *	tty ROWS COLUMNS	run on a terminal; input comes on the output port
 *	file LENGTH PATH	LENGTH bytes of a file follow
 *	run			the last line; what follows is for sh -c
 *
 * A guest that is to be saved once more gets an item before it, of which it only loads
 * the modules.
 *
 * Each port is a virtio-serial port with a name. While a job runs, "resize ROWS COLUMNS"
 * may come on the command port.
 *
 * The guest answers on the verdict port, one line each: "ready" when it waits for an item,
 * "accepted" when it has read a job, and at the end "sent OUTPUT ERROR LOG after MS" and one of
 * "exit N", "signal N", "timeout", "failed SENTENCE". What is written to one port may arrive
 * after what was written later to another, so "sent" says how many bytes there are to wait for.
 */
#ifndef VM_WIRE_H
#define VM_WIRE_H

#define WIRE_ITEM_PREPARE "opt/gpreempt/prepare"
#define WIRE_ITEM_JOB	  "opt/gpreempt/job"

enum wire_port {
	WIRE_COMMAND,
	WIRE_OUTPUT,
	WIRE_ERROR,
	WIRE_VERDICT,
	WIRE_LOG, /* kernel log since the boot */
	WIRE_PORTS
};

#define WIRE_PORT_NAMES                                        \
	{                                                      \
		"command", "output", "error", "verdict", "log" \
	}

#endif
