// SPDX-License-Identifier: GPL-2.0-only
#include "fake/ring-buffer.h"
#include "fake/tracefs.h"
#include "unit-trace.h"

#define PAGE   4096
#define HEAD   16 /* bytes at the start of a page: its time and its length */
#define MISSED (1UL << 31)

static unsigned char pages[8][PAGE];
static size_t n_pages, used;

int fake_pages_open(void)
{
	int fds[2];
	size_t i;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	for (i = 0; i < n_pages; i++)
		ck_assert_int_eq(write(fds[1], pages[i], PAGE), PAGE);
	n_pages = 0;
	close(fds[1]);
	return fds[0];
}

int fake_event_id(const char *symbol, bool leave)
{
	return 1000 + 2 * trace_function(symbol) + leave;
}

void fake_page(uint64_t ns, bool missed)
{
	unsigned long commit = missed ? MISSED : 0;

	ck_assert_uint_lt(n_pages, ARRAY_SIZE(pages));
	memset(pages[n_pages], 0, PAGE);
	memcpy(pages[n_pages], &ns, sizeof(ns));
	memcpy(pages[n_pages] + 8, &commit, sizeof(commit));
	n_pages++;
	used = 0;
}

void fake_event(uint64_t delta_ns, int tid, const char *symbol, bool leave, uint32_t a, uint32_t b)
{
	struct {
		uint32_t head;
		uint16_t type;
		uint8_t flags, count;
		int32_t pid;
		uint32_t ip[2], a, b, comm;
		char name[8];
	} event = {
		.type = fake_event_id(symbol, leave),
		.pid = tid,
		.a = a,
		.b = b,
		.comm = 8 << 16 | 28,
		.name = "wor\033ker",
	};
	unsigned char *page = pages[n_pages - 1];
	unsigned long commit;

	event.head = (sizeof(event) - 4) / 4 | (uint32_t)delta_ns << 5;
	memcpy(page + HEAD + used, &event, sizeof(event));
	used += sizeof(event);
	memcpy(&commit, page + 8, sizeof(commit));
	commit = (commit & MISSED) | used;
	memcpy(page + 8, &commit, sizeof(commit));
}
