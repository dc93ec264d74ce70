// SPDX-License-Identifier: GPL-2.0-only
/*
 * PM4 packet by packet, in a queue of our own. Packets are as AMD's kfdtest (PM4Packet.cpp) makes
 * them for gfx 9. One line a check; exit 0 when all are right. It waits for SIGUSR1 in the middle
 * of an indirect buffer.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/kfd_ioctl.h>

#include "../../vgpu/load/process.h"

#define PACKET(op, dwords) (3u << 30 | (dwords - 2) << 16 | (op) << 8 | 1u << 1)
#define PADDING		   (2u << 30)
#define SHORT_NOP	   0xffff1002u

enum {
	NOP = 0x10,
	WRITE_DATA = 0x37,
	WAIT_REG_MEM = 0x3c,
	INDIRECT_BUFFER = 0x3f,
	RELEASE_MEM = 0x49,
	DATA_32 = 1u << 29,
	DATA_64 = 2u << 29,
	CLOCK = 3u << 29,
	WAIT_EQUAL = 3 | 1 << 4,
};

/* Where packets are put: the ring, or an indirect buffer. */
struct packets {
	uint32_t *dwords;
	uint64_t at, size;
};

static struct load_process proc;
static struct load_queue *queue;
static struct load_buffer memory;
static struct packets ring;
static uint32_t *cells; /* 0: fence */
static uint32_t fences;
static int failed;

int ioctl(int fd, unsigned long request, ...);

/* The load's queues are of AQL; the one that is made here is of PM4. */
int ioctl(int fd, unsigned long request, ...)
{
	struct kfd_ioctl_create_queue_args *create;
	va_list list;

	va_start(list, request);
	create = va_arg(list, void *);
	va_end(list);
	if (request == AMDKFD_IOC_CREATE_QUEUE)
		create->queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE;
	return (int)syscall(SYS_ioctl, fd, request, create);
}

static void put(struct packets *p, uint32_t dword)
{
	p->dwords[p->at++ % p->size] = dword;
}

static void put_address(struct packets *p, const void *address)
{
	put(p, (uint32_t)(uintptr_t)address);
	put(p, (uint32_t)((uintptr_t)address >> 32));
}

/* Words that count up from a value, to a cell and those behind it. */
static void put_write(struct packets *p, uint32_t *to, uint32_t value, uint32_t count)
{
	put(p, PACKET(WRITE_DATA, 4 + count));
	put(p, 5 << 8 | 1 << 20);
	put_address(p, to);
	while (count--)
		put(p, value++);
}

static void put_release(struct packets *p, const void *to, uint32_t what, uint64_t value)
{
	put(p, PACKET(RELEASE_MEM, 8));
	put(p, 0x14 | 5 << 8);
	put(p, what);
	put_address(p, to);
	put(p, (uint32_t)value);
	put(p, (uint32_t)(value >> 32));
	put(p, 0);
}

static void ring_bell(void)
{
	__atomic_store_n((uint64_t *)queue->wptr, ring.at, __ATOMIC_RELEASE);
	*queue->doorbell = ring.at;
}

/* Ring, and wait for a fence behind all that was put. False: it never came. */
static bool run(void)
{
	volatile uint32_t *fence = cells, *rptr = queue->rptr;
	int ms;

	put_release(&ring, cells, DATA_32, ++fences);
	ring_bell();
	for (ms = 0; ms < 5000 && (*fence != fences || *rptr != ring.at % ring.size); ms++)
		usleep(1000);
	return *fence == fences && *rptr == ring.at % ring.size;
}

static void check(const char *what, bool right)
{
	printf("%s %s\n", right ? "right" : "WRONG", what);
	failed += !right;
}

static void check_write(uint32_t count)
{
	bool right;
	uint32_t i;

	memset(cells + 64, 0xff, (count + 2) * 4);
	put_write(&ring, cells + 65, 1000, count);
	right = run() && cells[64] == ~0u && cells[65 + count] == ~0u;
	for (i = 0; i < count; i++)
		right &= cells[65 + i] == 1000 + i;
	check("WRITE_DATA", right);
}

static void check_release(void)
{
	uint64_t *wide = (uint64_t *)(cells + 2);

	put_release(&ring, wide, DATA_64, 0x123456789abcdefULL);
	put_release(&ring, wide + 1, CLOCK, 0);
	check("RELEASE_MEM", run() && *wide == 0x123456789abcdefULL && wide[1]);
}

/* Through the whole ring, in steps that do not divide it. */
static void check_nops(void)
{
	bool right = true;
	uint64_t n;
	uint32_t i;

	for (n = 0; n < ring.size && right; n += 900) {
		put(&ring, PADDING);
		put(&ring, SHORT_NOP);
		put(&ring, PACKET(NOP, 898));
		for (i = 0; i < 897; i++)
			put(&ring, 0xdeadbeef);
		right = run();
	}
	check("NOP", right);
}

/* Preempted in the middle of a buffer, what was done is not done again, and the rest is. */
static void check_buffer(void)
{
	struct packets buffer = { cells + 4096, 0, 4096 };
	uint32_t *first = cells + 16, *word = cells + 17, *last = cells + 18;
	sigset_t set;
	int sig, ms;

	put_write(&buffer, first, 1, 1);
	put(&buffer, PACKET(WAIT_REG_MEM, 7));
	put(&buffer, WAIT_EQUAL);
	put_address(&buffer, word);
	put(&buffer, 2);
	put(&buffer, ~0u);
	put(&buffer, 4);
	put_write(&buffer, last, 3, 1);
	put(&ring, PACKET(INDIRECT_BUFFER, 4));
	put_address(&ring, buffer.dwords);
	put(&ring, (uint32_t)buffer.at | 1 << 23);
	ring_bell();
	for (ms = 0; ms < 5000 && __atomic_load_n(first, __ATOMIC_ACQUIRE) != 1; ms++)
		usleep(1000);
	*first = 7;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	puts("waits");
	fflush(stdout);
	sigwait(&set, &sig);
	check("WAIT_REG_MEM", !*last);
	*word = 2;
	check("INDIRECT_BUFFER", run() && *first == 7 && *last == 3);
}

static int start(void)
{
	const char *what;
	int ret = load_process_with_queue(&proc, LOAD_COMPUTE, 65536, &memory, &what);

	if (ret) {
		fprintf(stderr, "pm4-check: %s: %s\n", what, strerror(-ret));
		return 1;
	}
	queue = &proc.queues[0];
	cells = memory.cpu;
	ring = (struct packets){ queue->ring_mem.cpu, 0, queue->ring_mem.size / 4 };
	return 0;
}

int main(void)
{
	const char *what;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (start())
		return 1;
	check_write(1);
	check_write(3);
	check_write(1000);
	check_release();
	check_nops();
	check_buffer();
	load_buffer_free(proc.kfd, &memory);
	return load_process_close(&proc, &what) || failed;
}
