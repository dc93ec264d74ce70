/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Agreement between vgpu.ko and the engine that executes waves in QEMU's process. One page of
 * guest memory has a request; a store of ENGINE_CALL to its first word, by the instruction
 * "movl $ENGINE_CALL, (%rdi)", makes the engine serve it. When the next instruction begins, the
 * word has the reply. Without an engine that is ENGINE_CALL itself.
 */
#ifndef VGPU_ENGINE_H
#define VGPU_ENGINE_H

#define ENGINE_CALL 0x65766177u /* "wave", little endian */

#define ENGINE_WAVES	   64  /* waves of a dispatch in flight, at most */
#define ENGINE_STATE_WORDS 256 /* words for a dispatch that is saved */
#define ENGINE_STACK_WORDS 128 /* words of all control stacks together */
#define ENGINE_XCCS	   8
#define ENGINE_PACKET	   64 /* bytes of an AQL packet */
#define ENGINE_USER	   16 /* SGPRs that registers of a PM4 queue give to waves */

/* Requests */
enum engine_op {
	ENGINE_PROBE,	/* is there an engine? */
	ENGINE_START,	/* begin the dispatch of the packet */
	ENGINE_RUN,	/* execute so many instructions at most */
	ENGINE_SAVE,	/* have the handler save all waves, then forget the dispatch */
	ENGINE_RESTORE, /* begin a dispatch with waves that were saved */
	ENGINE_DROP,	/* forget the dispatch */
	ENGINE_GO_ON,	/* the page that was wanted is in the request */
};

/* Replies */
enum engine_reply {
	ENGINE_OK,
	ENGINE_WANTS_PAGE, /* the request is not over: it needs the page at want */
	ENGINE_OVER,	   /* all waves have ended */
	ENGINE_NO_CODE,	   /* START: there is no kernel at the address in the packet */
	ENGINE_FAULT,	   /* why says what is wrong; the dispatch is forgotten */
};

/* The save area of one XCC, as CP has it in the MQD */
struct engine_area {
	unsigned long long base;
	unsigned int size;   /* bytes, with the control stack */
	unsigned int stack;  /* bytes of the control stack: waves begin behind it */
	unsigned int used;   /* bytes of waves that were saved */
	unsigned int words;  /* words of its control stack */
	unsigned int number; /* number of the first workgroup of the XCC, which has every n-th */
};

/**
 * struct engine_launch - what a dispatch is made of
 * @packet: of AQL; for PM4 with the sizes of grid and workgroup alone
 * @packet_at: its address
 * @entry: PM4: address of the code, and the registers below; 0: the packet names a kernel
 * @rsrc: COMPUTE_PGM_RSRC1 to 3
 * @user: COMPUTE_USER_DATA_0 and on
 */
struct engine_launch {
	unsigned char packet[ENGINE_PACKET];
	unsigned long long packet_at, entry;
	unsigned int rsrc[3], user[ENGINE_USER], spare;
};

/**
 * struct engine_request - what vgpu.ko asks of the engine
 * @call: ENGINE_CALL is stored here; then the reply
 * @op: enum engine_op
 * @dispatch: the number that the dispatch has from START or RESTORE on
 * @space: number of the address space: addresses of different ones are not mixed up
 * @mapped: it changes with each mapping that goes away
 * @want, @page: a page of that space, and its guest-physical address; 0: nothing is there
 * @tba, @tma: of the handler, as MAP_PROCESS has them
 * @lds_base: aperture of LDS in flat addresses
 * @budget, @done: instructions of waves
 * @clock_ns, @price_ns: GPU time at the first of them, and what each takes
 * @xccs: of @area
 * @words: of @state, which RESTORE needs
 * @stack: SAVE: the control stacks, as AMD's debugger library reads them, one after the other
 * @target: the GPU's name as compilers have it
 */
struct engine_request {
	unsigned int call, op;
	unsigned long long dispatch, space, mapped, want, page, tba, tma, lds_base;
	unsigned long long budget, done, clock_ns, price_ns;
	unsigned int xccs, words;
	struct engine_area area[ENGINE_XCCS];
	struct engine_launch launch;
	unsigned int state[ENGINE_STATE_WORDS], stack[ENGINE_STACK_WORDS];
	char target[8], why[128];
};

#endif
