/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AGENT_HOW_H
#define AGENT_HOW_H

/* --how: by which route a process goes off the GPU. */
enum how {
	HOW_AUTO,  /* the first if it is possible, or else the second */
	HOW_DEBUG, /* a debug session: a part of it, and a holder */
	HOW_PAUSE, /* a pause: all of it, and no holder */
	HOWS,
};

#endif
