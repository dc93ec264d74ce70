// SPDX-License-Identifier: GPL-2.0-only
/*
 * SDMA packet by packet, in a queue of our own: what ROCr sends only in part.
 * Each check writes packets, rings, waits for a fence and compares memory.
 * One line a check; exit 0 when all are right.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../vgpu/load/process.h"

#define SIZE	    65536u
#define RING_DWORDS 16384u
#define PAD_BYTE    0x5a

enum {
	COPY = 1,
	WRITE = 2,
	FENCE = 5,
	POLL = 8,
	ATOMIC_ADD64 = 10 | 0x2f << 25,
	FILL = 11,
	TIMESTAMP = 13 | 2 << 8,
	WINDOW = 1 | 4 << 8
};

static struct load_process proc;
static struct load_queue *queue;
static struct load_buffer memory; /* source, destination, cells */
static uint8_t *src, *dst;
static uint64_t *cells;
static uint64_t at; /* dwords written */
static uint32_t fences;
static int failed;

static void put(uint32_t dword)
{
	uint32_t *ring = queue->ring_mem.cpu;

	ring[at++ % RING_DWORDS] = dword;
}

static void put64(uint64_t qword)
{
	put((uint32_t)qword);
	put((uint32_t)(qword >> 32));
}

static void put_address(const void *p)
{
	put64((uintptr_t)p);
}

/* Ring, and wait for a fence behind all that was put; false: it never came */
static bool run(void)
{
	volatile uint32_t *fence = (void *)&cells[0];
	int ms;

	put(FENCE);
	put_address((void *)fence);
	put(++fences);
	__atomic_store_n((uint64_t *)queue->wptr, at * 4, __ATOMIC_RELEASE);
	*queue->doorbell = at * 4;
	for (ms = 0; ms < 2000 && *fence != fences; ms++)
		usleep(1000);
	return *fence == fences;
}

static void check(const char *what, bool right)
{
	printf("%s %s\n", right ? "right" : "WRONG", what);
	failed += !right;
}

static void fresh(void)
{
	size_t i;

	for (i = 0; i < SIZE; i++)
		src[i] = (uint8_t)(i * 7 + i / 256);
	memset(dst, PAD_BYTE, SIZE);
}

/* Are the bytes around [from, from + len) of dst untouched? */
static bool only(size_t from, size_t len)
{
	size_t i;

	for (i = 0; i < SIZE; i++)
		if ((i < from || i >= from + len) && dst[i] != PAD_BYTE)
			return false;
	return true;
}

static void check_copy(size_t from, size_t to, uint32_t len)
{
	char what[64];

	fresh();
	put(COPY);
	put(len - 1);
	put(0);
	put_address(src + from);
	put_address(dst + to);
	snprintf(what, sizeof(what), "copy of %u bytes from %zu to %zu", len, from, to);
	check(what, run() && !memcmp(src + from, dst + to, len) && only(to, len));
}

/* 3 lines of 5 words out of lines of 16 words, to lines of 8 */
static void check_window(void)
{
	bool right = true;
	uint32_t y;

	fresh();
	put(WINDOW | 2u << 29);
	put_address(src);
	put(2 | 1 << 16); /* source x 2, y 1 */
	put(15u << 13);	  /* pitch 16 */
	put(0);
	put_address(dst);
	put(1 | 2 << 16); /* destination x 1, y 2 */
	put(7u << 13);	  /* pitch 8 */
	put(0);
	put(4 | 2 << 16);
	put(0);
	right = run();
	for (y = 0; y < 3; y++)
		right = right &&
			!memcmp(dst + ((y + 2) * 8 + 1) * 4, src + ((y + 1) * 16 + 2) * 4, 20);
	check("copy of a window", right && dst[(2 * 8 + 6) * 4] == PAD_BYTE);
}

static void check_fill(void)
{
	uint32_t word = 0xc0ffee11, i;
	bool right;

	fresh();
	put(FILL | 2u << 30);
	put_address(dst + 4096);
	put(word);
	put(4000 - 1);
	right = run();
	for (i = 0; i < 4000; i += 4)
		right = right && !memcmp(dst + 4096 + i, &word, 4);
	check("fill of 4000 bytes", right && only(4096, 4000));
}

/* The count is one less, as AMD's kfdtest (SDMAWriteDataPacket) has it from gfx 9 on. */
static void check_write(size_t to, uint32_t dwords)
{
	bool right = true;
	char what[64];
	uint32_t i, word;

	fresh();
	/* A packet whose fourth word, an address, would be a large count. */
	put(COPY);
	put(0);
	put(0);
	put_address(src);
	put_address(dst + to);
	put(WRITE);
	put_address(dst + to);
	put(dwords - 1);
	for (i = 0; i < dwords; i++)
		put(0x02020202 + i);
	right = run();
	for (i = 0; i < dwords; i++) {
		word = 0x02020202 + i;
		right = right && !memcmp(dst + to + i * 4, &word, 4);
	}
	snprintf(what, sizeof(what), "write of %u words", dwords);
	check(what, right && only(to, dwords * 4));
}

static void check_atomic(void)
{
	cells[2] = 40;
	put(ATOMIC_ADD64);
	put_address(&cells[2]);
	put64(2);
	put64(0);
	put(0);
	check("atomic add", run() && cells[2] == 42);
}

/* 100 MHz: a copy of 64 KiB takes 1 us and 3 us for its bytes in the model */
static void check_timestamp(void)
{
	bool ran;

	fresh();
	put(TIMESTAMP);
	put_address(&cells[4]);
	put(COPY);
	put(SIZE - 1);
	put(0);
	put_address(src);
	put_address(dst);
	put(TIMESTAMP);
	put_address(&cells[5]);
	ran = run();
	printf("copy of 64 KiB: %llu ticks of 10 ns\n", (unsigned long long)(cells[5] - cells[4]));
	check("timestamps", ran && cells[5] - cells[4] >= 300 && cells[5] - cells[4] < 2000);
}

/* Memory poll: the queue waits until the word is there, no longer */
static void check_poll(void)
{
	volatile uint32_t *word = (void *)&cells[6], *after = (void *)&cells[7];
	bool early;

	*word = 1;
	*after = 0;
	put(POLL | 3u << 28 | 1u << 31);
	put_address((void *)word);
	put(2);
	put(0xffffffff);
	put(0);
	put(FENCE);
	put_address((void *)after);
	put(9);
	__atomic_store_n((uint64_t *)queue->wptr, at * 4, __ATOMIC_RELEASE);
	*queue->doorbell = at * 4;
	usleep(50000);
	early = *after;
	*word = 2;
	check("poll of memory", !early && run() && *after == 9);
}

static int start(void)
{
	const char *what;
	int ret = load_process_with_queue(&proc, LOAD_SDMA, 2 * SIZE + 4096, &memory, &what);

	if (ret) {
		fprintf(stderr, "sdma-check: %s: %s\n", what, strerror(-ret));
		return 1;
	}
	queue = &proc.queues[0];
	src = memory.cpu;
	dst = src + SIZE;
	cells = (void *)(dst + SIZE);
	return 0;
}

int main(void)
{
	const char *what;

	if (start())
		return 1;
	check_copy(0, 0, SIZE);
	check_copy(1, 3, 1);
	check_copy(4095, 4097, 4099);
	check_window();
	check_fill();
	check_write(64, 1);
	check_write(8192, 2);
	check_write(4, 1000);
	check_atomic();
	check_timestamp();
	check_poll();
	load_buffer_free(proc.kfd, &memory);
	return load_process_close(&proc, &what) || failed;
}
