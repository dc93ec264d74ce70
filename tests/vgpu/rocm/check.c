// SPDX-License-Identifier: GPL-2.0-only
/* hsa-check [NAME...]: all checks, or those named; a line each. */
#include <string.h>

#include "check.h"
#include "queue.h"

#define QUEUE_SIZE 1024

static const struct {
	const char *name;
	int (*run)(struct check *c);
} checks[] = {
	/* clang-format off */
	{ "barrier-and",	check_barrier_and },
	{ "barrier-or",		check_barrier_or },
	{ "barrier-value",	check_barrier_value },
	{ "dispatch",		check_dispatch },
	{ "wait-interrupt",	check_wait_interrupt },
	{ "wait-polling",	check_wait_polling },
	{ "handler",		check_handler },
	{ "profiling",		check_profiling },
	{ "queues",		check_queues },
	{ "copy",		check_copy },
	{ "copy-rect",		check_copy_rect },
	{ "copy-peer",		check_copy_peer },
	{ "copy-after",		check_copy_after },
	{ "lock",		check_lock },
	{ "fill",		check_fill },
	{ "unserved",		check_unserved },
	{ "refused-ioctls",	check_refused_ioctls },
	/* clang-format on */
};

#define CHECKS (sizeof(checks) / sizeof(checks[0]))

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	printf("  queue %lu: %s\n", (unsigned long)queue->id, rocm_error(status));
	*(bool *)data = true;
}

static int open_all(struct check *c)
{
	TRY(hsa_init());
	TRY(rocm_find(&c->gpus));
	TRY(hsa_queue_create(c->gpus.gpu[0].agent, QUEUE_SIZE, HSA_QUEUE_TYPE_MULTI, on_error,
			     &c->error, UINT32_MAX, UINT32_MAX, &c->queue));
	TRY(rocm_host_alloc(&c->gpus, QUEUE_SIZE * sizeof(*c->kernargs), (void **)&c->kernargs));
	TRY(rocm_host_alloc(&c->gpus, 4096, (void **)&c->cell));
	return 0;
}

static int close_all(struct check *c)
{
	TRY(hsa_amd_memory_pool_free(c->kernargs));
	TRY(hsa_amd_memory_pool_free(c->cell));
	TRY(hsa_queue_destroy(c->queue));
	TRY(hsa_shut_down());
	memset(c, 0, sizeof(*c));
	return 0;
}

static bool wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc == 1;
}

int main(int argc, char **argv)
{
	static struct check c;
	int failed = 0, run = 0;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (open_all(&c))
		return 1;
	printf("%s, %u GPUs\n", c.gpus.gpu[0].name, c.gpus.count);
	for (i = 0; i < CHECKS; i++) {
		if (!wanted(checks[i].name, argc, argv))
			continue;
		run++;
		if (checks[i].run(&c) || c.error) {
			printf("WRONG %s\n", checks[i].name);
			failed++;
			break;
		}
		printf("ok %s\n", checks[i].name);
	}
	/* Do it twice: a leftover would show. */
	if (!failed && (close_all(&c) || open_all(&c) || close_all(&c)))
		failed++;
	printf("checks %d failed %d\n", run, failed);
	return failed || !run;
}
