// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "lib/backend/recording.h"

/* A cell holds no space; what could confuse is \ and three octal digits. */
static void put_cell(FILE *f, const char *bytes, size_t len)
{
	size_t i;

	fputc(' ', f);
	if (!len)
		fputc('-', f);
	for (i = 0; i < len; i++) {
		unsigned char c = bytes[i];

		if (c <= ' ' || c >= 0x7f || c == '\\' ||
		    (c == '-' && len == 1))
			fprintf(f, "\\%03o", c);
		else
			fputc(c, f);
	}
}

int gp_record_write(FILE *f, const struct gp_record *record)
{
	fprintf(f, "%s %d", record->call, record->pid);
	put_cell(f, record->key, record->key ? strlen(record->key) : 0);
	fprintf(f, " %" PRId64 " %" PRIu64 " %" PRIu64, record->ret, record->ns,
		record->value);
	put_cell(f, record->data, record->len);
	fputc('\n', f);
	return ferror(f) ? -EIO : 0;
}

static int octal(const char *at)
{
	int i, value = 0;

	for (i = 0; i < 3; i++) {
		if (at[i] < '0' || at[i] > '7')
			return -EINVAL;
		value = value * 8 + at[i] - '0';
	}
	return value < 256 ? value : -EINVAL;
}

/* In a buffer of its own, with a zero behind it. */
static int get_cell(const char *cell, char **out, size_t *len)
{
	char *bytes = calloc(1, strlen(cell) + 1);
	size_t n = 0;

	if (!bytes)
		return -ENOMEM;
	if (!strcmp(cell, "-"))
		cell = "";
	for (; *cell; cell++) {
		int value = (unsigned char)*cell;

		if (*cell == '\\') {
			value = octal(cell + 1);
			cell += 3;
		}
		if (value < 0) {
			free(bytes);
			return -EINVAL;
		}
		bytes[n++] = value;
	}
	*out = bytes;
	*len = n;
	return 0;
}

static int get_number(const char *cell, int64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)cell[*cell == '-']))
		return -EINVAL;
	errno = 0;
	*out = strtoll(cell, &end, 10);
	return *end || errno ? -EINVAL : 0;
}

int gp_record_parse(char *line, struct gp_record *record)
{
	enum { CALL, PID, KEY, RET, NS, VALUE, DATA, CELLS };
	char *cells[CELLS], *rest = NULL;
	int64_t numbers[CELLS];
	size_t i, len;
	int ret;

	for (i = 0; i < CELLS; i++) {
		cells[i] = strtok_r(i ? NULL : line, " ", &rest);
		if (!cells[i])
			return -EINVAL;
		if (i == PID || i == RET || i == NS || i == VALUE) {
			ret = get_number(cells[i], &numbers[i]);
			if (ret)
				return ret;
		}
	}
	*record = (struct gp_record){
		.pid = numbers[PID],
		.ret = numbers[RET],
		.ns = numbers[NS],
		.value = numbers[VALUE],
	};
	if (strlen(cells[CALL]) >= sizeof(record->call))
		return -EINVAL;
	strcpy(record->call, cells[CALL]);
	ret = get_cell(cells[KEY], &record->key, &len);
	if (!ret)
		ret = get_cell(cells[DATA], &record->data, &record->len);
	if (ret)
		gp_record_free(record);
	return ret;
}

void gp_record_free(struct gp_record *record)
{
	free(record->key);
	free(record->data);
	record->key = NULL;
	record->data = NULL;
}

bool gp_record_in_order(const struct gp_record *record)
{
	return !strncmp(record->call, "trap:", 5) ||
	       !strncmp(record->call, "ptrace:", 7) ||
	       !strncmp(record->call, "pause:", 6) ||
	       !strcmp(record->call, "wait");
}

const char *gp_trap_call(const struct kfd_ioctl_dbg_trap_args *args)
{
	switch (args->op) {
	case KFD_IOC_DBG_TRAP_ENABLE:
		return "trap:enable";
	case KFD_IOC_DBG_TRAP_DISABLE:
		return "trap:disable";
	case KFD_IOC_DBG_TRAP_SUSPEND_QUEUES:
		return "trap:suspend";
	case KFD_IOC_DBG_TRAP_RESUME_QUEUES:
		return "trap:resume";
	case KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT:
		/* Without acknowledging it only asks for a session. */
		return args->queue_snapshot.exception_mask ? "trap:snapshot" :
							     "trap:probe";
	case KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT:
		return "trap:query";
	case KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO:
		return "trap:info";
	case KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT:
		return "trap:answer";
	case KFD_IOC_DBG_TRAP_SET_EXCEPTIONS_ENABLED:
		return NULL;
	default:
		return "trap:other";
	}
}

void *gp_trap_buffer(const struct kfd_ioctl_dbg_trap_args *args, size_t *len)
{
	uint64_t at = 0;

	*len = 0;
	switch (args->op) {
	case KFD_IOC_DBG_TRAP_ENABLE:
		at = args->enable.rinfo_ptr;
		*len = args->enable.rinfo_size;
		break;
	case KFD_IOC_DBG_TRAP_SUSPEND_QUEUES:
		at = args->suspend_queues.queue_array_ptr;
		*len = args->suspend_queues.num_queues * sizeof(uint32_t);
		break;
	case KFD_IOC_DBG_TRAP_RESUME_QUEUES:
		at = args->resume_queues.queue_array_ptr;
		*len = args->resume_queues.num_queues * sizeof(uint32_t);
		break;
	case KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT:
		at = args->queue_snapshot.snapshot_buf_ptr;
		*len = (size_t)args->queue_snapshot.num_queues *
		       args->queue_snapshot.entry_size;
		break;
	case KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO:
		at = args->query_exception_info.info_ptr;
		*len = args->query_exception_info.info_size;
		break;
	}
	return (void *)(uintptr_t)at;
}

uint64_t gp_trap_value(const struct kfd_ioctl_dbg_trap_args *args)
{
	switch (args->op) {
	case KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT:
		return args->queue_snapshot.num_queues;
	case KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT:
		return args->query_debug_event.exception_mask;
	default:
		return 0;
	}
}

void gp_trap_set_value(struct kfd_ioctl_dbg_trap_args *args, uint64_t value)
{
	if (args->op == KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT)
		args->queue_snapshot.num_queues = value;
	else if (args->op == KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT)
		args->query_debug_event.exception_mask = value;
}

const char *gp_ptrace_call(int request)
{
	switch ((unsigned int)request) {
	case PTRACE_SEIZE:
		return "ptrace:seize";
	case PTRACE_INTERRUPT:
		return "ptrace:interrupt";
	case PTRACE_LISTEN:
		return "ptrace:listen";
	case PTRACE_DETACH:
		return "ptrace:detach";
	default:
		return "ptrace:cont";
	}
}

const char *gp_pause_call(const struct kfd_ioctl_criu_args *args)
{
	return args->op == KFD_CRIU_OP_UNPAUSE ? "pause:off" : "pause:on";
}
