// SPDX-License-Identifier: GPL-2.0-only
#include "unit-amdlog.h"

static struct gp_amdlog *amdlog;
const struct gp_amdlog_data *log_data;
struct gp_amdlog_packet packets[AMDLOG_PACKETS];
size_t n_packets;

static void take_packet(void *unused, const struct gp_amdlog_packet *p)
{
	(void)unused;
	if (n_packets < ARRAY_SIZE(packets))
		packets[n_packets] = *p;
	n_packets++;
}

void amdlog_start(int64_t pid)
{
	n_packets = 0;
	amdlog = gp_amdlog_new(pid, take_packet, NULL);
}

void amdlog_setup(void)
{
	amdlog_start(GPREEMPT_UNKNOWN);
}

void amdlog_teardown(void)
{
	gp_amdlog_free(amdlog);
	amdlog = NULL;
}

void feed_log(const char *at, size_t len)
{
	/* A copy of its own, so that a read behind its end is caught. */
	char *copy = malloc(len ? len : 1);

	memcpy(copy, at, len);
	gp_amdlog_feed(amdlog, copy, len);
	free(copy);
}

void feed_text(const char *text)
{
	feed_log(text, strlen(text));
}

void end_log(void)
{
	gp_amdlog_end(amdlog);
	log_data = gp_amdlog_get(amdlog);
}

void read_log(const char *text)
{
	feed_text(text);
	end_log();
}

bool read_log_file(const char *path, size_t step)
{
	size_t len, at;
	char *all = unit_load(path, &len);

	if (!all)
		return false;
	for (at = 0; at < len; at += step)
		feed_log(all + at, len - at < step ? len - at : step);
	free(all);
	end_log();
	return true;
}
