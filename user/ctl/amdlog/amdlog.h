/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_AMDLOG_H
#define CTL_AMDLOG_H

#include "lib/amdlog/amdlog.h"
#include "output/table.h"

/* A hardware queue; the members are the keys of JSON. */
struct amdlog_row {
	int64_t pid;
	int64_t hwq;
	int64_t swq;
	int64_t id;
	const char *priority;
	int64_t size;
	int64_t created;
	int64_t acquired;
	int64_t released;
	int64_t deleted;
	int64_t dispatches;
	int64_t barriers;
	int64_t first_rptr;
	int64_t first_wptr;
	int64_t last_rptr;
	int64_t last_wptr;
	int64_t backlog;
	int64_t first_us;
	int64_t last_us;
	int64_t line;
};

struct amdlog_process {
	int64_t pid;
	int64_t lines;
	int64_t kernels;
	int64_t dispatches;
	int64_t run_us;
	int64_t back_us;
};

/* "-" is stdin. 0, or the exit status after saying why not. */
int amdlog_read(const char *path, int64_t pid, struct gp_amdlog **out);
/* A log that is open, of one process or all (0). 0 or -errno. */
int amdlog_read_fd(int fd, int64_t pid, struct gp_amdlog **out);
struct json_object *amdlog_json(const struct gp_amdlog_data *data);

#endif
