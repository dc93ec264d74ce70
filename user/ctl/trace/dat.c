// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace for trace-cmd and KernelShark: the pages as the kernel had them,
 * behind what describes them. trace-cmd.dat.v6(5) has the format.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ctl/trace/trace.h"
#include "ctl/trace/libs.h"

enum {
	OPTION_END = 0,
	OPTION_CLOCK = 4,
	OPTION_UNAME = 5,
};

static const union {
	uint16_t number;
	uint8_t first;
} order = { 0x0001 };

static void put_u16(FILE *f, uint16_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

static void put_u32(FILE *f, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

static void put_u64(FILE *f, uint64_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

static void put_text(FILE *f, const char *text)
{
	fwrite(text, strlen(text) + 1, 1, f);
}

/* A file of the tracing directory, behind its length; 0 bytes without it. */
static void put_file(FILE *f, const char *path)
{
	int size = 0;
	char *text = tracefs.instance_file_read(NULL, path, &size);

	put_u64(f, text ? size : 0);
	if (text)
		fwrite(text, size, 1, f);
	free(text);
}

static void put_option(FILE *f, uint16_t id, const char *text)
{
	put_u16(f, id);
	put_u32(f, strlen(text) + 1);
	put_text(f, text);
}

/* Our own events; no others are in the pages. */
static void put_formats(FILE *f, const struct trace_kernel *k)
{
	char path[160], **events = tracefs.system_events(NULL, k->name);
	int i, n = tracefs.list_size(events);

	put_u32(f, 0); /* formats of the function tracers */
	put_u32(f, 1);
	put_text(f, k->name);
	put_u32(f, n > 0 ? n : 0);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "events/%s/%s/format", k->name, events[i]);
		put_file(f, path);
	}
	tracefs.list_free(events);
}

static void put_head(FILE *f, const struct trace_kernel *k)
{
	static const char magic[] = "\027\010\104tracing6";
	struct utsname host;

	fwrite(magic, sizeof(magic), 1, f);
	fputc(!order.first, f); /* 1: big-endian */
	fputc(sizeof(long), f);
	put_u32(f, k->page_size);
	put_text(f, "header_page");
	put_file(f, "events/header_page");
	put_text(f, "header_event");
	put_file(f, "events/header_event");
	put_formats(f, k);
	put_u32(f, 0); /* addresses of the kernel are not told */
	put_u32(f, 0); /* nor does it print into this buffer */
	put_u64(f, k->comms ? strlen(k->comms) : 0);
	fputs(k->comms ? k->comms : "", f);
	put_u32(f, k->cpus);
	put_text(f, "options  ");
	put_option(f, OPTION_CLOCK, "[mono]");
	if (!uname(&host))
		put_option(f, OPTION_UNAME, host.release);
	put_u16(f, OPTION_END);
	put_text(f, "flyrecord");
}

static size_t count_pages(const struct trace_kernel *k, unsigned int cpu)
{
	size_t i, n = 0;

	for (i = 0; i < k->n_pages; i++)
		n += k->pages[i].cpu == cpu;
	return n;
}

static int put_pages(FILE *f, const struct trace_kernel *k, unsigned int cpu)
{
	char *page = malloc(k->page_size);
	int ret = page ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < k->n_pages && !ret; i++) {
		if (k->pages[i].cpu != cpu)
			continue;
		if (pread(k->spool, page, k->page_size, k->pages[i].offset) !=
		    (ssize_t)k->page_size)
			ret = -EIO;
		else if (!fwrite(page, k->page_size, 1, f))
			ret = -errno;
	}
	free(page);
	return ret;
}

/* Where the pages of each CPU are, from the next whole page on. */
static void put_places(FILE *f, const struct trace_kernel *k)
{
	uint64_t at = ftell(f) + k->cpus * 2 * sizeof(uint64_t);
	unsigned int cpu;

	at = (at + k->page_size - 1) / k->page_size * k->page_size;
	for (cpu = 0; cpu < k->cpus; cpu++) {
		uint64_t size = count_pages(k, cpu) * k->page_size;

		put_u64(f, at);
		put_u64(f, size);
		at += size;
	}
	while (ftell(f) % (long)k->page_size)
		fputc(0, f);
}

int trace_write_dat(const struct trace_kernel *k, const char *path)
{
	FILE *f = fopen(path, "we");
	unsigned int cpu;
	int ret = 0;

	if (!f)
		return -errno;
	put_head(f, k);
	put_places(f, k);
	for (cpu = 0; cpu < k->cpus && !ret; cpu++)
		ret = put_pages(f, k, cpu);
	if (ferror(f) && !ret)
		ret = -EIO;
	if (fclose(f) && !ret)
		ret = -errno;
	return ret;
}
