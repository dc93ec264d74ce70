/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the runner on the host and PID 1 in the guest say to each other.
 *
 * Each port is a virtio-serial port with a name. The runner describes a job on
 * the command port, one "word value" a line:
 *
 *	time SECONDS		wall clock
 *	timeout SECONDS		after which the guest gives the job up
 *	vgpu PARAMETERS		load vgpu.ko with them
 *	gpreempt		load gpreempt.ko
 *	merge			standard error goes where standard output goes
 *	leaks			at its end, what kmemleak finds goes to the log
 *	slow N			SLOW=N in its environment, for limits of time
 *	tty ROWS COLUMNS	run on a terminal; input comes on the output port
 *	term NAME		its type
 *	run LENGTH		the last line; LENGTH bytes for sh -c follow
 *
 * While a job runs: "resize ROWS COLUMNS".
 *
 * The guest answers on the verdict port, one line each: "ready" when it waits
 * for a job, "accepted" when it has read one, and at the end "sent OUTPUT ERROR
 * LOG" and one of "exit N", "signal N", "timeout", "failed SENTENCE". What is
 * written to one port may arrive after what was written later to another, so
 * "sent" says how many bytes there are to wait for.
 */
#ifndef VM_WIRE_H
#define VM_WIRE_H

enum wire_port {
	WIRE_COMMAND,
	WIRE_OUTPUT,
	WIRE_ERROR,
	WIRE_VERDICT,
	WIRE_LOG, /* kernel log since the job came */
	WIRE_PORTS
};

#define WIRE_PORT_NAMES                                        \
	{                                                      \
		"command", "output", "error", "verdict", "log" \
	}

#endif
