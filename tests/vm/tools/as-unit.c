// SPDX-License-Identifier: GPL-2.0-only
/*
 * as-unit CAPABILITY... -- COMMAND...: runs it with what systemd leaves to the units of
 * gpreempt: of root's rights only those capabilities, no new ones, the units' own filter of
 * system calls, and nothing that can be written but /run, /dev and /proc without /proc/sys.
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	int number;
} known[] = {
	{ "CAP_SYS_ADMIN", CAP_SYS_ADMIN },
	{ "CAP_SYS_PTRACE", CAP_SYS_PTRACE },
	{ "CAP_CHECKPOINT_RESTORE", CAP_CHECKPOINT_RESTORE },
	{ "CAP_SYS_NICE", CAP_SYS_NICE },
	{ "CAP_IPC_LOCK", CAP_IPC_LOCK },
	{ "CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH },
};

static int number_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			return known[i].number;
	return -1;
}

static int read_only(const char *path)
{
	/* A mount of its own, where it is none. */
	return mount(path, path, NULL, MS_BIND | MS_REC, NULL) ||
	       mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL);
}

static int close_files(void)
{
	static const char *const paths[] = {
		"/etc", "/lib", "/root", "/sys/fs/cgroup", "/sys/kernel/debug", "/proc/sys",
	};
	size_t i;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
		return -1;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!access(paths[i], F_OK) && read_only(paths[i]))
			return -1;
	return 0;
}

/* Filter as SystemCallFilter= with SystemCallErrorNumber=EPERM does. */
static int filter_calls(void)
{
	static struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
#define X(number)                                          \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
#include "unit-filter.h"
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	unsigned long long kept = 0;
	int i, n;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		n = number_of(argv[i]);
		if (n < 0) {
			fprintf(stderr, "as-unit: what is %s?\n", argv[i]);
			return 2;
		}
		kept |= 1ULL << n;
	}
	if (i + 1 >= argc) {
		fprintf(stderr, "usage: as-unit CAPABILITY... -- COMMAND...\n");
		return 2;
	}
	if (close_files()) {
		perror("as-unit: files");
		return 1;
	}
	for (n = 0; n <= CAP_LAST_CAP; n++)
		if (!(kept & 1ULL << n) && prctl(PR_CAPBSET_READ, n) == 1 &&
		    prctl(PR_CAPBSET_DROP, n)) {
			perror("as-unit: capabilities");
			return 1;
		}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || filter_calls()) {
		perror("as-unit");
		return 1;
	}
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 127;
}
