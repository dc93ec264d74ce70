// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Take the queues of a process off the GPU for some seconds:
 *
 *	cc suspend.c $(pkg-config --cflags --libs gpreempt)
 *	./a.out PID SECONDS
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

static int suspend_for(struct gpreempt_session *s, uint64_t ns)
{
	struct gpreempt_outcome outcome;

	if (gpreempt_session_suspend(s, NULL, &outcome) < 0)
		return fail(gpreempt_session_error(s));
	printf("%zu of %zu queues in %.1f us\n", outcome.done, outcome.requested,
	       outcome.ioctl_ns / 1e3);
	/* Meanwhile this thread passes the signals of the process on. */
	if (gpreempt_session_wait(s, ns, NULL) < 0)
		return 1;
	return 0;
}

int main(int argc, char **argv)
{
	struct gpreempt_session *s;
	struct gpreempt_error err;
	struct gpreempt *g;
	int ret;

	if (argc != 3 || gpreempt_new(NULL, &g) < 0)
		return 2;
	if (gpreempt_session_open(g, atoi(argv[1]), &s, &err) < 0) {
		ret = fail(&err);
	} else {
		ret = suspend_for(s, strtoull(argv[2], NULL, 10) * 1000000000);
		/* All queues run again. */
		gpreempt_session_close(s);
	}
	gpreempt_free(g);
	return ret;
}
