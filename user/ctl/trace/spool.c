// SPDX-License-Identifier: GPL-2.0-only
/* The pages of the kernel's ring buffer, kept in a file until the end. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ctl/trace/trace.h"
#include "ctl/trace/libs.h"
#include "shared/array.h"
#include "shared/macro.h"

/* Two descriptors a CPU do not fit below the usual limit on a large host. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int open_cpu(struct trace_kernel *k, unsigned int cpu)
{
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	return tracefs.instance_file_open(k->instance, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

int trace_spool_open(struct trace_kernel *k)
{
	FILE *file = tmpfile();
	unsigned int cpu, opened = 0;

	k->spool = file ? dup(fileno(file)) : -1;
	if (file)
		fclose(file);
	if (k->spool < 0)
		return -errno;
	fcntl(k->spool, F_SETFD, FD_CLOEXEC);
	raise_limit();
	k->cpus = sysconf(_SC_NPROCESSORS_CONF);
	k->page_size = getpagesize();
	k->fds = calloc(k->cpus, sizeof(*k->fds));
	if (!k->fds)
		return -ENOMEM;
	for (cpu = 0; cpu < k->cpus; cpu++) {
		k->fds[cpu] = open_cpu(k, cpu);
		opened += k->fds[cpu] >= 0;
	}
	return opened ? 0 : -errno;
}

void trace_spool_close(struct trace_kernel *k)
{
	unsigned int cpu;

	for (cpu = 0; k->fds && cpu < k->cpus; cpu++)
		if (k->fds[cpu] >= 0)
			close(k->fds[cpu]);
	free(k->fds);
	k->fds = NULL;
	if (k->spool >= 0)
		close(k->spool);
	k->spool = -1;
	free(k->pages);
	k->pages = NULL;
	k->n_pages = 0;
}

static bool keep(struct trace_kernel *k, unsigned int cpu, const void *page)
{
	off_t offset = k->n_pages * k->page_size;
	struct trace_page *next;

	if (pwrite(k->spool, page, k->page_size, offset) != (ssize_t)k->page_size)
		return false;
	next = shr_must(shr_array_add(&k->pages, &k->n_pages, sizeof(*next)));
	*next = (struct trace_page){ cpu, offset };
	return true;
}

void trace_spool_drain(struct trace_kernel *k)
{
	char *page = shr_must(calloc(1, k->page_size));
	unsigned int cpu;

	for (cpu = 0; cpu < k->cpus; cpu++)
		while (k->fds[cpu] >= 0 && !k->full && read(k->fds[cpu], page, k->page_size) > 0)
			k->full = !keep(k, cpu, page);
	free(page);
}
