// SPDX-License-Identifier: GPL-2.0-only
/* The guest's verdict on a job, or ours when the guest cannot give one. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vmrun.h"

/* Reads a byte at a time: the lines are few and short. */
int verdict_line(struct vm *vm, char *line, size_t size, long long until_ms)
{
	struct pollfd p = { .fd = vm->port[WIRE_VERDICT], .events = POLLIN };
	long long left;
	size_t n = 0;

	while (n < size - 1) {
		left = until_ms - now_ms();
		if (left <= 0 || poll(&p, 1, left) == 0)
			return -ETIMEDOUT;
		if (read(p.fd, line + n, 1) != 1)
			return -EPIPE;
		if (line[n] == '\n')
			break;
		n++;
	}
	line[n] = '\0';
	return 0;
}

void verdict_parse(const char *line, struct outcome *o)
{
	memset(o, 0, sizeof(*o));
	if (sscanf(line, "exit %d", &o->number) == 1) {
		o->verdict = V_EXIT;
	} else if (sscanf(line, "signal %d", &o->number) == 1) {
		o->verdict = V_SIGNAL;
	} else if (!strcmp(line, "timeout")) {
		o->verdict = V_TIMEOUT;
	} else {
		o->verdict = V_FAILED;
		snprintf(o->text, sizeof(o->text), "%s",
			 strncmp(line, "failed ", 7) ? line : line + 7);
	}
}

/* Find the line of the console that best explains why a guest is gone. */
static bool find_panic(const char *dir, char *text, size_t size)
{
	char path[PATH_MAX + 16], *line = NULL;
	bool found = false;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/serial.log", dir);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (getline(&line, &room, f) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (strstr(line, "Kernel panic")) {
			snprintf(text, size, "%s", line);
			found = true;
		}
	}
	free(line);
	fclose(f);
	return found;
}

void verdict_lost(struct vm *vm, struct outcome *o, const char *what)
{
	char panic[256];
	int status = 0, i;

	o->verdict = V_LOST;
	/* The sockets close a moment before the process has ended. */
	for (i = 0; i < 100 && !vm_died(vm, &status); i++)
		usleep(10000);
	if (find_panic(vm->dir, panic, sizeof(panic)))
		snprintf(o->text, sizeof(o->text), "the guest panicked: %s", panic);
	else if (vm->pid)
		snprintf(o->text, sizeof(o->text), "%s", what);
	else if (WIFSIGNALED(status))
		snprintf(o->text, sizeof(o->text), "QEMU was killed by signal %d",
			 WTERMSIG(status));
	else
		snprintf(o->text, sizeof(o->text),
			 "the machine ended by itself (QEMU's exit status %d)",
			 WEXITSTATUS(status));
}
