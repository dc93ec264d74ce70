// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that logs which queues are its own, and what gpreempt.ko has cost:
 *
 *	cc observe.c $(pkg-config --cflags --libs gpreempt)
 *	./a.out
 */
#include <stdio.h>
#include <stdlib.h>

#include <gpreempt/gpreempt.h>

static int fail(const struct gpreempt_error *err)
{
	char text[512];

	gpreempt_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return gpreempt_error_class(err);
}

static int print_queues(struct gpreempt *g)
{
	struct gpreempt_view *view;
	struct gpreempt_error err;
	size_t i;

	if (gpreempt_self_queues(g, &view, &err))
		return fail(&err);
	for (i = 0; i < view->count; i++)
		printf("queue %lld on GPU 0x%llx\n", (long long)view->queues[i].qid,
		       (unsigned long long)view->queues[i].gpu_id);
	gpreempt_list_free(view);
	return 0;
}

/* For root: the module's files are its own. */
static int print_cost(struct gpreempt *g)
{
	struct gpreempt_facts *facts;
	struct gpreempt_error err;
	size_t i;

	if (gpreempt_module_stats(g, &facts, &err))
		return fail(&err);
	for (i = 0; i < facts->count; i++)
		printf("%s %s\n", facts->facts[i].key, facts->facts[i].value);
	gpreempt_list_free(facts);
	return 0;
}

int main(void)
{
	struct gpreempt *g;
	int status;

	if (gpreempt_new(NULL, &g) < 0)
		return EXIT_FAILURE;
	/* A program that uses ROCm has queues by now. */
	status = print_queues(g);
	if (!status)
		status = print_cost(g);
	gpreempt_free(g);
	return status;
}
