// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that embeds the library and holds a process through a holder.
 *
 *	gp-hold PID LEASE-MS extend	extends the lease each quarter of it
 *	gp-hold PID LEASE-MS wait	waits for its end
 *	gp-hold PID LEASE-MS detach	leaves it behind
 *	gp-hold PID LEASE-MS release	releases it at once
 *
 * LEASE-MS 0: no lease. A further argument: by a pause. Exit status: the class of the error.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpreempt/gpreempt.h>

static int fail(const struct gpreempt_error *err)
{
	char text[512];

	gpreempt_error_text(err, text, sizeof(text));
	fprintf(stderr, "gp-hold: %s\n", text);
	gpreempt_error_next(err, text, sizeof(text));
	fprintf(stderr, "gp-hold: %s\n", text);
	return gpreempt_error_class(err);
}

/* Wait until the hold has ended by itself. */
static int watch(struct gpreempt_hold *hold, uint64_t lease_ns, int extend)
{
	struct pollfd end = { .fd = gpreempt_hold_fd(hold), .events = POLLIN };
	int ret, timeout = extend ? (int)(lease_ns / 4000000) : -1;

	while (!poll(&end, 1, timeout)) {
		ret = gpreempt_hold_extend(hold, lease_ns);
		if (ret) {
			printf("not extended: %s\n", strerror(-ret));
			return 1;
		}
	}
	puts("ended");
	return 0;
}

static int act(struct gpreempt_hold *hold, uint64_t lease_ns, const char *what)
{
	if (!strcmp(what, "detach"))
		return gpreempt_hold_detach(hold) != 0;
	if (!strcmp(what, "release"))
		return gpreempt_hold_release(hold) != 0;
	return watch(hold, lease_ns, !strcmp(what, "extend"));
}

int main(int argc, char **argv)
{
	struct gpreempt_hold_options options = { .size = sizeof(options) };
	struct gpreempt_hold_status status;
	struct gpreempt_error err;
	struct gpreempt_hold *hold;
	struct gpreempt *g;
	int ret;

	if (argc < 4 || gpreempt_new(NULL, &g))
		return 2;
	if (argc > 4)
		options.how = GPREEMPT_HOW_PAUSE;
	setlinebuf(stdout);
	options.lease_ns = strtoull(argv[2], NULL, 10) * 1000000;
	if (!options.lease_ns)
		options.lease_ns = GPREEMPT_HOLD_NO_LEASE;
	if (gpreempt_hold(g, atoi(argv[1]), NULL, &options, &status, &hold, &err))
		return fail(&err);
	gpreempt_free(g);
	printf("%s %llu queues, holder %d, verdict %d\n", status.paused ? "paused" : "held",
	       (unsigned long long)status.queues, status.holder, status.verdict);
	ret = act(hold, options.lease_ns, argv[3]);
	gpreempt_hold_close(hold);
	return ret;
}
